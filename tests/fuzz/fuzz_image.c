/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The first byte chooses. Even: the rest is a saved image, hostile. Odd: the rest is a row of events, cut at a place;
 * a saved and loaded first part with the rest behind it gives what the whole row gives, and its ELF can be written.
 */
#include "codecs/base/bytes.h"
#include "codecs/image/collect.h"
#include "codecs/image/elf_write.h"
#include "tests/lib/fuzz.h"

#define EVENT_BYTES 8u
#define EVENTS_MAX 512u

static void save(const struct hf_image *image, struct hf_sink *sink)
{
	MUST(hf_sink_init_memory(sink, 0) == 0);
	hf_image_save(image, sink);
	MUST(sink->err == 0);
}

static size_t size_of(const struct hf_sink *sink)
{
	return (size_t)(sink->p - sink->start);
}

static struct hf_image *reload(const struct hf_image *image)
{
	struct hf_image *copy;
	struct hf_sink sink;

	save(image, &sink);
	MUST(hf_image_load(sink.start, size_of(&sink), &copy) == 0);
	hf_sink_fini_memory(&sink);
	return copy;
}

static void check_same(const struct hf_image *a, const struct hf_image *b)
{
	struct hf_sink left, right;

	save(a, &left);
	save(b, &right);
	MUST(size_of(&left) == size_of(&right) && memcmp(left.start, right.start, size_of(&left)) == 0);
	hf_sink_fini_memory(&left);
	hf_sink_fini_memory(&right);
}

/* The ELF of an image that does not refuse: as long as it was said to be, and a range of it the same bytes. */
static void check_elf(const struct hf_image *image)
{
	struct hf_sink whole, part;
	struct hf_elf *elf;
	char reason[256];
	uint64_t from, n;
	int err = hf_elf_new(image, NULL, 0, NULL, &elf);

	MUST((err == HF_ERR_UNSUPPORTED) == hf_image_refuses(image, reason, sizeof reason));
	if (err || hf_elf_size(elf) > 1 << 20) {
		hf_elf_free(elf);
		return;
	}
	from = hf_elf_size(elf) / 3;
	n = hf_elf_size(elf) / 2;
	MUST(hf_sink_init_memory(&whole, 0) == 0 && hf_sink_init_memory(&part, 0) == 0);
	MUST(hf_elf_write(elf, 0, UINT64_MAX, &whole) == 0 && size_of(&whole) == hf_elf_size(elf));
	MUST(hf_elf_write(elf, from, n, &part) == 0 && size_of(&part) == n);
	MUST(memcmp(whole.start + from, part.start, n) == 0);
	hf_sink_fini_memory(&whole);
	hf_sink_fini_memory(&part);
	hf_elf_free(elf);
}

static void try_blob(const uint8_t *data, size_t size)
{
	struct hf_image *image, *copy;

	if (hf_image_load(data, size, &image))
		return;
	copy = reload(image);
	check_same(image, copy);
	check_elf(image);
	hf_image_free(copy);
	hf_image_free(image);
}

/* kind and flags, size and isa, address, opcode: small numbers, so that they meet. */
static struct hf_event event_of(const uint8_t *p)
{
	struct hf_event ev = {.kind = p[0] % HF_EVENT_KINDS, .flags = p[1] & 15};

	if (p[0] >= 128)
		ev.kind = HF_EVENT_INSN;
	if (hf_event_is_instruction(&ev)) {
		ev.insn.pc = (uint64_t)(int64_t)(int8_t)p[2] * 1022 + p[3];
		ev.insn.opcode = (p[4] & 1u) << 20 | p[5];
		ev.insn.size = p[6] < 250 ? (p[6] & 1 ? 2 : 4) : p[6];
		ev.insn.isa = p[7] < 250 ? HF_ISA_RV64 : p[7] & 7;
	} else if (ev.kind == HF_EVENT_TRAP) {
		ev.trap.cause = p[2];
	} else if (ev.kind == HF_EVENT_CONTEXT) {
		ev.size = p[2];
		ev.context.pid = p[3];
		ev.context.asid = p[4];
	}
	return ev;
}

static void try_events(const uint8_t *data, size_t size)
{
	struct hf_event ev[EVENTS_MAX];
	struct hf_image *whole, *left, *resumed;
	size_t n = 0, cut;

	if (size < 1)
		return;
	for (const uint8_t *p = data + 1; n < EVENTS_MAX && (size_t)(data + size - p) >= EVENT_BYTES; p += EVENT_BYTES)
		ev[n++] = event_of(p);
	cut = data[0] % (n + 1);
	MUST(hf_image_new(&whole) == 0 && hf_image_new(&left) == 0);
	MUST(hf_image_put(whole, ev, n) == 0);
	MUST(hf_image_put(left, ev, cut) == 0);
	resumed = reload(left);
	MUST(hf_image_put(resumed, ev + cut, n - cut) == 0);
	check_same(whole, resumed);
	check_elf(whole);
	hf_image_free(whole);
	hf_image_free(left);
	hf_image_free(resumed);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (size < 1)
		return 0;
	if (data[0] % 2)
		try_events(data + 1, size - 1);
	else
		try_blob(data + 1, size - 1);
	return 0;
}
