/* SPDX-License-Identifier: Apache-2.0 */
#include "mountd/serve.h"
#include "mountd/sql/messages.h"

#include <assert.h>
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

static_assert((int)HF_COL_TEXT == (int)HF_COLUMN_TEXT && (int)HF_COL_HIDDEN == (int)HF_COLUMN_HIDDEN &&
		      (int)HF_COL_ANY == (int)HF_COLUMN_ANY && (int)HF_COL_ASKED == (int)HF_COLUMN_ASKED &&
		      (int)HF_COL_LISTED == (int)HF_COLUMN_LISTED && (int)HF_COL_ORDER == (int)HF_COLUMN_ORDER &&
		      (int)HF_COL_NEEDED == (int)HF_COLUMN_NEEDED && (int)HF_COL_AMONG == (int)HF_COLUMN_AMONG,
	      "the same bits");
static_assert((int)HF_TAB_HART == (int)HF_TABLE_HART && (int)HF_TAB_ORDERED == (int)HF_TABLE_ORDERED &&
		      (int)HF_TAB_SUMMED == (int)HF_TABLE_SUMMED && (int)HF_TAB_RARE == (int)HF_TABLE_RARE,
	      "the same bits");
static_assert((int)HF_CELL_NULL == (int)HF_VALUE_NULL && (int)HF_CELL_NUMBER == (int)HF_VALUE_NUMBER &&
		      (int)HF_CELL_TEXT == (int)HF_VALUE_TEXT,
	      "the same numbers");
static_assert(HF_PROTOCOL_COLUMNS == HF_ROWS_COLUMNS, "as many columns");

/* Milliseconds: so often a look is taken whether the client cancels; and so long rows are collected that come slowly. */
enum { LOOK_MS = 5, COLLECT_MS = 20 };
/* Bytes of rows after which an answer is sent. */
#define ENOUGH (256u << 10)

struct cursor {
	uint8_t *request; /* owned; texts of ask are in it */
	struct hf_rows_ask ask;
	int64_t *numbers; /* owned, the same */
	struct hf_rows *rows;
	int err; /* that comes after the rows that were sent */
	char why[1024];
};

struct server {
	int fd;
	const char *capture;
	struct hf_rows_session *session;
	struct hf_out out;
	uint8_t *in;
	bool cancelled, gone;
	int64_t looked_ms;
	struct cursor *cursor[HF_PROTOCOL_CURSORS];
	struct hf_row row;
};

static int64_t now_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (int64_t)ts.tv_sec * 1000 + ts.tv_nsec / 1000000;
}

/* ---- messages ---- */

/* False: nobody is there any more, or it is no head. */
static bool receive(struct server *s, void *buf, size_t size)
{
	size_t got = 0;

	while (got < size) {
		const ssize_t n = read(s->fd, (uint8_t *)buf + got, size - got);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return false;
		got += (size_t)n;
	}
	return true;
}

/* Whether the client cancels what is under way, or hung up: what it sends is looked at, and taken only if it is that. */
static bool is_unwanted(void *ctx)
{
	struct server *s = ctx;
	uint8_t head[HF_MESSAGE_HEAD];
	struct iovec iov = {head, sizeof head};
	struct msghdr msg = {.msg_iov = &iov, .msg_iovlen = 1};
	const int64_t now = now_ms();
	ssize_t n;

	if (s->cancelled || s->gone)
		return true;
	if (now - s->looked_ms < LOOK_MS)
		return false;
	s->looked_ms = now;
	n = recvmsg(s->fd, &msg, MSG_PEEK | MSG_DONTWAIT);
	if (n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR))
		s->gone = true;
	if (n == sizeof head && hf_head_read(head).message == HF_MESSAGE_CANCEL && !hf_head_read(head).size)
		s->cancelled = receive(s, head, sizeof head);
	return s->cancelled || s->gone;
}

static bool fail(struct server *s, uint32_t failure, const char *text)
{
	hf_failed_write(&s->out, failure, text);
	return hf_out_send(&s->out, s->fd);
}

static bool fail_with(struct server *s, int err, const char *why)
{
	const uint32_t failure = err == HF_ERR_CANCELLED ? HF_FAILURE_CANCELLED
				 : err == HF_ERR_UNSUPPORTED || err == HF_ERR_NOT_FOUND || err == HF_ERR_LIMIT
					 ? HF_FAILURE_ASKED
					 : HF_FAILURE_READING;
	const struct hf_diag diag = {.code = err, .offset = HF_NOWHERE};
	char text[HF_DIAG_SIZE];

	hf_diag_format(&diag, text, sizeof text);
	return fail(s, failure, *why ? why : text);
}

/* ---- cursors ---- */

static void close_cursor(struct server *s, uint32_t number)
{
	struct cursor *cursor = number < HF_PROTOCOL_CURSORS ? s->cursor[number] : NULL;

	if (!cursor)
		return;
	if (cursor->rows)
		hf_rows_close(cursor->rows);
	free(cursor->numbers);
	free(cursor->request);
	free(cursor);
	s->cursor[number] = NULL;
}

static void put_row(struct server *s, const struct cursor *cursor)
{
	const struct hf_row *row = &s->row;

	hf_out_u64(&s->out, (uint64_t)row->id);
	for (uint32_t bits = cursor->ask.columns; bits; bits &= bits - 1) {
		const struct hf_value *value = &row->value[__builtin_ctz(bits)];

		hf_out_u8(&s->out, (uint8_t)value->type);
		if (value->type == HF_VALUE_NUMBER)
			hf_out_u64(&s->out, (uint64_t)value->number);
		else if (value->type == HF_VALUE_TEXT)
			hf_out_text(&s->out, value->text, value->size);
	}
}

/* Rows, at most so many, until there is enough of them, or they come slowly. */
static int collect(struct server *s, struct cursor *cursor, uint32_t most, uint32_t *ret_n)
{
	const int64_t until = now_ms() + COLLECT_MS;
	int err = 0;

	*ret_n = 0;
	while (*ret_n < most && s->out.n < ENOUGH) {
		err = hf_rows_next(cursor->rows, &s->row);
		if (err == HF_NOTE_MORE && *ret_n && now_ms() >= until)
			return 0;
		if (err == HF_NOTE_MORE)
			continue;
		if (err)
			return err;
		put_row(s, cursor);
		++*ret_n;
	}
	return err == HF_NOTE_MORE ? 0 : err;
}

static bool answer(struct server *s, uint32_t number, uint32_t most)
{
	struct cursor *cursor = s->cursor[number];
	uint32_t n = 0;
	bool sent;

	hf_out_begin(&s->out, HF_MESSAGE_ROWS);
	hf_out_u32(&s->out, number);
	hf_out_u32(&s->out, 0);
	hf_out_u32(&s->out, 0);
	if (!cursor->err)
		cursor->err = collect(s, cursor, most, &n);
	if (cursor->err && cursor->err != HF_NOTE_END && !n) {
		sent = fail_with(s, cursor->err, cursor->why);
		close_cursor(s, number);
		return sent;
	}
	hf_out_set_u32(&s->out, HF_MESSAGE_HEAD + 4, cursor->err == HF_NOTE_END ? HF_ROWS_END : 0);
	hf_out_set_u32(&s->out, HF_MESSAGE_HEAD + 8, n);
	sent = s->out.failed ? fail_with(s, HF_ERR_NOMEM, "") : hf_out_send(&s->out, s->fd);
	if (cursor->err == HF_NOTE_END || s->out.failed)
		close_cursor(s, number);
	return sent;
}

/* ---- requests ---- */

static void take_conditions(struct server *s, const struct hf_request *request, struct hf_rows_ask *ask)
{
	ask->columns = request->columns;
	ask->reverse = request->flags & HF_OPEN_REVERSE;
	ask->one_hart = request->flags & HF_OPEN_ONE_HART;
	ask->ranged = request->ranged;
	for (unsigned i = 0; i < HF_PROTOCOL_COLUMNS; i++) {
		ask->range[i].first = request->range[i].first;
		ask->range[i].last = request->range[i].last;
		ask->equal[i] = request->equal[i];
	}
	if (!ask->equal[0])
		ask->equal[0] = s->capture;
	ask->stop = is_unwanted;
	ask->ctx = s;
}

static int by_number(const void *a, const void *b)
{
	const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return (x > y) - (x < y);
}

/* Numbers of conditions, in their order. */
static int take_numbers(const struct hf_request *request, struct cursor *cursor)
{
	size_t count = 0, n = 0;

	for (unsigned i = 0; i < HF_PROTOCOL_COLUMNS; i++)
		count += request->among[i].count;
	cursor->numbers = calloc(count + 1, sizeof *cursor->numbers);
	if (!cursor->numbers)
		return HF_ERR_NOMEM;
	for (unsigned i = 0; i < HF_PROTOCOL_COLUMNS; i++) {
		if (!request->among[i].numbers)
			continue;
		cursor->ask.among[i] = (struct hf_rows_among){cursor->numbers + n, request->among[i].count};
		for (uint32_t k = 0; k < request->among[i].count; k++)
			cursor->numbers[n + k] = hf_request_among(request, i, k);
		qsort(cursor->numbers + n, request->among[i].count, sizeof *cursor->numbers, by_number);
		n += request->among[i].count;
	}
	return 0;
}

/* Columns that the table does not have. */
static bool is_of_table(const struct hf_rows_ask *ask)
{
	size_t count;
	uint32_t used = ask->columns | ask->ranged;

	hf_table_columns(ask->table, &count);
	for (unsigned i = 0; i < HF_PROTOCOL_COLUMNS; i++)
		used |= ask->equal[i] || ask->among[i].number ? 1u << i : 0;
	return !(used >> count);
}

/* bytes are the request's, and the cursor's from here on. */
static bool open_cursor(struct server *s, const struct hf_request *request, uint8_t *bytes)
{
	struct cursor *cursor = calloc(1, sizeof *cursor);
	uint32_t number = 0;
	int err = cursor ? 0 : HF_ERR_NOMEM;

	while (number < HF_PROTOCOL_CURSORS && s->cursor[number])
		number++;
	if (err || number == HF_PROTOCOL_CURSORS) {
		free(cursor);
		free(bytes);
		return err ? fail_with(s, err, "") : fail(s, HF_FAILURE_ASKED, "too many tables are being read");
	}
	s->cursor[number] = cursor;
	cursor->request = bytes;
	cursor->ask.table = hf_table_at(request->table);
	take_conditions(s, request, &cursor->ask);
	err = take_numbers(request, cursor);
	if (err) {
		close_cursor(s, number);
		return fail_with(s, err, "");
	}
	if (!cursor->ask.table || !is_of_table(&cursor->ask)) {
		close_cursor(s, number);
		return fail(s, HF_FAILURE_PROTOCOL, "there is no such table, or column of it");
	}
	err = hf_rows_open(s->session, &cursor->ask, &cursor->rows, cursor->why, sizeof cursor->why);
	if (!err)
		return answer(s, number, request->rows);
	fail_with(s, err, cursor->why);
	close_cursor(s, number);
	return true;
}

/* False: the client goes wrong, or is gone. */
static bool serve_one(struct server *s, const struct hf_head *head)
{
	uint8_t *bytes = head->size <= HF_REQUEST_MOST ? malloc(head->size + 1) : NULL;
	struct hf_request request;

	if (!bytes || !receive(s, bytes, head->size) ||
	    !hf_request_read(head->message, bytes, head->size, &request)) {
		free(bytes);
		fail(s, HF_FAILURE_PROTOCOL, "this is no request");
		return false;
	}
	s->cancelled = false;
	if (request.message == HF_MESSAGE_OPEN)
		return open_cursor(s, &request, bytes);
	free(bytes);
	/* One that comes too late has nothing to cancel. */
	if (request.message == HF_MESSAGE_CANCEL)
		return true;
	if (request.cursor >= HF_PROTOCOL_CURSORS || !s->cursor[request.cursor])
		return request.message == HF_MESSAGE_CLOSE || fail(s, HF_FAILURE_PROTOCOL, "there is no such cursor");
	if (request.message == HF_MESSAGE_NEXT)
		return answer(s, request.cursor, request.rows);
	close_cursor(s, request.cursor);
	return true;
}

static bool say_hello(struct server *s)
{
	size_t tables = 0, count;

	while (hf_table_at(tables))
		tables++;
	hf_schema_begin(&s->out, (uint32_t)tables);
	for (size_t i = 0; i < tables; i++) {
		const struct hf_table *table = hf_table_at(i);
		const struct hf_column *columns = hf_table_columns(table, &count);

		hf_schema_add_table(&s->out, hf_table_name(table), hf_table_flags(table), (uint32_t)count);
		for (size_t k = 0; k < count; k++)
			hf_schema_add_column(&s->out, columns[k].name, columns[k].flags);
	}
	return hf_out_send(&s->out, s->fd);
}

bool hf_serve(struct hf_fs *fs, int fd, const char *capture)
{
	struct server *s = calloc(1, sizeof *s);
	uint8_t bytes[HF_MESSAGE_HEAD];
	struct hf_head head;
	bool well;

	if (!s)
		return false;
	s->fd = fd;
	s->capture = capture;
	s->out.most = HF_REPLY_MOST + HF_MESSAGE_HEAD;
	well = !hf_rows_session_new(fs, &s->session) && say_hello(s);
	while (well && receive(s, bytes, sizeof bytes)) {
		head = hf_head_read(bytes);
		well = serve_one(s, &head);
	}
	for (uint32_t i = 0; i < HF_PROTOCOL_CURSORS; i++)
		close_cursor(s, i);
	hf_rows_session_free(s->session);
	hf_out_free(&s->out);
	free(s);
	return well;
}
