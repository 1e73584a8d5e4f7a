/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Any bytes as what a client sends to hartfs serve. What is taken for a request keeps to the limits, and is read the same
 * after it was written again.
 */
#include "mountd/sql/messages.h"
#include "tests/lib/fuzz.h"

#include <string.h>

static void check(const struct hf_request *request)
{
	MUST(request->rows >= 1 && request->rows <= HF_PROTOCOL_ROWS);
	MUST(!(request->columns >> HF_PROTOCOL_COLUMNS) && !(request->ranged >> HF_PROTOCOL_COLUMNS));
	MUST(!(request->flags & ~HF_OPEN_FLAGS));
	for (unsigned i = 0; i < HF_PROTOCOL_COLUMNS; i++)
		MUST(!request->among[i].numbers || (request->among[i].count && request->among[i].count <= HF_PROTOCOL_AMONG));
}

static void check_text(const char *a, const char *b)
{
	MUST(!a == !b && (!a || strcmp(a, b) == 0));
}

static void check_same(const struct hf_request *a, const struct hf_request *b)
{
	MUST(a->message == b->message && a->cursor == b->cursor && a->rows == b->rows && a->table == b->table);
	MUST(a->columns == b->columns && a->flags == b->flags && a->ranged == b->ranged);
	for (unsigned i = 0; i < HF_PROTOCOL_COLUMNS; i++) {
		MUST(a->range[i].first == b->range[i].first && a->range[i].last == b->range[i].last);
		check_text(a->equal[i], b->equal[i]);
		MUST(!a->among[i].numbers == !b->among[i].numbers && a->among[i].count == b->among[i].count);
		MUST(!a->among[i].numbers ||
		     memcmp(a->among[i].numbers, b->among[i].numbers, 8 * (size_t)a->among[i].count) == 0);
	}
}

/* The first byte is the message, the others are what follows its head. */
int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	struct hf_out out = {.most = HF_REQUEST_MOST + HF_MESSAGE_HEAD};
	struct hf_request request, again;
	struct hf_head head;

	if (!n || n > HF_REQUEST_MOST || !hf_request_read(bytes[0], bytes + 1, n - 1, &request))
		return 0;
	check(&request);
	hf_request_write(&out, &request);
	MUST(!out.failed && out.n >= HF_MESSAGE_HEAD);
	head = hf_head_read(out.p);
	MUST(head.message == (uint32_t)request.message);
	MUST(hf_request_read(head.message, out.p + HF_MESSAGE_HEAD, out.n - HF_MESSAGE_HEAD, &again));
	check_same(&request, &again);
	hf_out_free(&out);
	return 0;
}
