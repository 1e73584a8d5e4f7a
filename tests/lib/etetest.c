/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/lib/etetest.h"

#include "codecs/base/bytes.h"
#include "codecs/ete/stream.h"
#include "codecs/setup/read.h"
#include "tests/lib/check.h"

#include <fcntl.h>

extern const struct hf_codec hf_codec_ete;

static int open_in(void *ctx, const char *name, struct hf_src **ret_src, struct hf_diag *diag)
{
	char path[4096];
	int fd;

	snprintf(path, sizeof path, "%s/%s", (const char *)ctx, name);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	return fd < 0 ? HF_ERR_NOT_FOUND : hf_src_file_new(fd, ret_src, diag);
}

void ete_open(struct ete_capture *c, const char *dir)
{
	struct hf_setup_opener opener = {.ctx = (void *)dir, .open = open_in, .codecs = hf_codecs};
	struct hf_setup_error error = {.line = 0};
	struct hf_diag diag = {.code = 0};

	c->bytes = NULL;
	if (hf_setup_read_snapshot(&opener, "snapshot.ini", &c->setup, &error) ||
	    hf_setup_load(c->setup, &opener, &c->src, &error)) {
		fprintf(stderr, "%s: %s:%u: %s\n", dir, error.file, error.line, error.text);
		exit(1);
	}
	if (hf_stream_open(&hf_codec_ete, c->src, c->setup, &c->stream, &diag)) {
		fprintf(stderr, "%s: %s\n", dir, hf_err_name(diag.code));
		exit(1);
	}
}

void ete_close(struct ete_capture *c)
{
	hf_stream_close(c->stream);
	hf_src_free(c->src);
	hf_setup_free(c->setup);
	free(c->bytes);
}

void ete_keep_first_part(struct ete_capture *c)
{
	for (size_t i = 1; i < c->setup->part_count; i++) {
		free((char *)c->setup->parts[i].name);
		free((char *)c->setup->parts[i].framing);
	}
	c->setup->part_count = 1;
	((struct hf_ete_stream *)c->stream)->part_count = 1;
}

struct hf_event *ete_events(const struct ete_capture *c, uint32_t hart, size_t batch, size_t *ret_n)
{
	struct hf_event *all = NULL;
	struct hf_dec *dec;
	size_t n = 0, cap = 0, got;
	int err;

	CHECK_EQ(hf_dec_new(c->stream, c->src, hart, &dec), 0);
	do {
		if (cap - n < batch) {
			cap = 2 * cap + batch + 4096;
			all = realloc(all, cap * sizeof *all);
			CHECK(all);
		}
		err = hf_dec_next(dec, all + n, batch, &got);
		n += got;
	} while (!err);
	CHECK_EQ(err, HF_NOTE_END);
	hf_dec_free(dec);
	*ret_n = n;
	return all;
}

/* ---- captures made of text ---- */

#define PAGE 4096u

static void add_registers(struct hf_setup *setup, uint32_t hart, const char *registers)
{
	char name[64];
	int used, value;

	for (; sscanf(registers, " %63[^=]=%n", name, &used) == 1; registers += value) {
		char text[64];

		registers += used;
		CHECK(sscanf(registers, "%63s%n", text, &value) == 1);
		CHECK_EQ(hf_setup_add_value(setup, hart, name, text, "test", 1), 0);
	}
}

static void add_page(struct hf_program *program, uint64_t address, const uint8_t *page)
{
	struct hf_src *src;

	CHECK_EQ(hf_src_memory_new(page, PAGE, &src), 0);
	CHECK_EQ(hf_program_add_raw(program, src, address, NULL), 0);
	hf_src_free(src);
}

/* Addresses ascend. */
static void add_code(struct hf_program *program, const char *code)
{
	unsigned long long address, at = 1;
	uint8_t page[PAGE];
	unsigned opcode;
	int used;

	for (; sscanf(code, " %llx:%x%n", &address, &opcode, &used) == 2; code += used) {
		if ((address & ~(PAGE - 1ull)) != at) {
			if (at != 1)
				add_page(program, at, page);
			at = address & ~(PAGE - 1ull);
			for (unsigned i = 0; i < PAGE; i += 4)
				hf_put32(page + i, 0xd503201f);
		}
		hf_put32(page + (address - at), opcode);
	}
	if (at != 1)
		add_page(program, at, page);
}

static struct hf_src *make_trace(const char *trace, uint8_t **ret_bytes)
{
	uint8_t *bytes = calloc(1, 16 * strlen(trace) + 16);
	struct hf_src *src;
	size_t n = 0;
	char word[16];
	int used;

	CHECK(bytes);
	for (; sscanf(trace, " %15s%n", word, &used) == 1; trace += used) {
		if (strcmp(word, "SYNC") == 0) {
			n += 11;
			bytes[n++] = 0x80;
		} else {
			bytes[n++] = (uint8_t)strtoul(word, NULL, 16);
		}
	}
	CHECK_EQ(hf_src_memory_new(bytes, n, &src), 0);
	*ret_bytes = bytes;
	return src;
}

void ete_make(struct ete_capture *c, const char *registers, const char *code, const char *framing, const char *trace)
{
	ete_make_of(c, &hf_codec_ete, registers, code, framing, trace);
}

void ete_make_of(struct ete_capture *c, const struct hf_codec *codec, const char *registers, const char *code,
		 const char *framing, const char *trace)
{
	struct hf_setup *setup = calloc(1, sizeof *setup);

	CHECK(setup);
	setup->format = strdup(codec->name);
	setup->images = calloc(1, sizeof *setup->images);
	CHECK(setup->images);
	setup->image_count = 1;
	setup->images[0] = (struct hf_setup_image){
		.hart = HF_SETUP_ANY, .spaces = HF_MEMORY_ANY, .context = HF_SETUP_NO_CONTEXT};
	add_registers(setup, codec == &hf_codec_ete ? 1 : HF_SETUP_ANY, registers);
	add_code(&setup->images[0].program, code);
	c->setup = setup;
	c->src = make_trace(trace, &c->bytes);
	CHECK_EQ(hf_setup_add_part(setup, 1, "trace", framing), 0);
	setup->parts[0].size = c->src->size;
	CHECK_EQ(hf_stream_open(codec, c->src, setup, &c->stream, NULL), 0);
}

static int word_of(const struct hf_event *ev, char *t, size_t n)
{
	const char *err = ev->kind == HF_EVENT_GAP || ev->kind == HF_EVENT_DOUBT || ev->kind == HF_EVENT_NOTE ?
				  hf_err_name(-(int)ev->code) : "";

	switch (ev->kind) {
	case HF_EVENT_INSN:
		return ev->flags & HF_EVF_TAKEN ?
			       snprintf(t, n, "%" PRIx64 ">%" PRIx64 " ", ev->insn.pc, ev->insn.target) :
			       snprintf(t, n, "%" PRIx64 " ", ev->insn.pc);
	case HF_EVENT_ATTEMPT: return snprintf(t, n, "?%" PRIx64 " ", ev->insn.pc);
	case HF_EVENT_TRAP:
		return ev->flags & HF_EVF_HANDLER ?
			       snprintf(t, n, "%s%" PRIx64 ">%" PRIx64 " ", ev->flags & HF_EVF_ASYNC ? "!!" : "!",
					ev->trap.cause, ev->trap.handler) :
			       snprintf(t, n, "%s%" PRIx64 " ", ev->flags & HF_EVF_ASYNC ? "!!" : "!", ev->trap.cause);
	case HF_EVENT_GAP: return snprintf(t, n, "gap:%s ", err);
	case HF_EVENT_DOUBT: return snprintf(t, n, "doubt:%s ", err);
	case HF_EVENT_NOTE: return snprintf(t, n, "note:%s ", err);
	case HF_EVENT_DISCONTINUITY: return snprintf(t, n, "jump ");
	case HF_EVENT_TRAP_RETURN:
		return ev->flags & HF_EVF_HANDLER ? snprintf(t, n, "return>%" PRIx64 " ", ev->trap.handler) :
						    snprintf(t, n, "return ");
	case HF_EVENT_CONTEXT:
		if (ev->context.mode == HF_MODE_THREAD || ev->context.mode == HF_MODE_HANDLER)
			return snprintf(t, n, "%s%s ", hf_mode_name(ev->context.mode),
					ev->fields & HF_CONTEXT_STATE && !(ev->state & HF_STATE_SECURE) ? "-ns" : "");
		return snprintf(t, n, "el%u ", ev->context.mode - HF_MODE_EL0);
	case HF_EVENT_TIMESTAMP:
		return ev->flags & HF_EVF_BACK ?
			       snprintf(t, n, "time:%" PRIx64 "-%" PRIu64 " ", ev->time.value, ev->time.back) :
			       snprintf(t, n, "time:%" PRIx64 " ", ev->time.value);
	case HF_EVENT_CYCLES: return snprintf(t, n, "cycles:%" PRIu64 " ", ev->time.value);
	case HF_EVENT_MARKER:
		return snprintf(t, n, "mark:%" PRIu64 ".%" PRIu64 " ", ev->marker.type, ev->marker.number);
	default: return snprintf(t, n, "kind%u ", ev->kind);
	}
}

const char *ete_words(const struct ete_capture *c)
{
	static char text[1 << 18];
	size_t n, used = 0;
	struct hf_event *ev = ete_events(c, 1, 7, &n);

	text[0] = '\0';
	for (size_t i = 0; i < n; i++) {
		used += (size_t)word_of(&ev[i], text + used, sizeof text - used);
		CHECK(used < sizeof text - 128);
	}
	if (used)
		text[used - 1] = '\0';
	free(ev);
	return text;
}

const char *ete_corpus(void)
{
	static char path[4096];
	const char *corpus = getenv("HARTFS_CORPUS");

	if (!corpus || !*corpus) {
		fprintf(stderr, "SKIPPED: HARTFS_CORPUS is not set\n");
		exit(77);
	}
	snprintf(path, sizeof path, "%s/ete", corpus);
	return path;
}
