/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Any values of the keys zcmp, zcmt and jvt, and a program with a jump table anywhere: a jump goes where a plain look into
 * the bytes says; what the description written of it says is the same again. Input: a byte, the word length and whether
 * the program itself has a table; where the program lies (8 bytes); up to three lines of text, the values; the program.
 */
#include "codecs/base/bytes.h"
#include "codecs/base/errors.h"
#include "codecs/isa/riscv.h"
#include "codecs/setup/code_size.h"
#include "tests/lib/fuzz.h"

#include <string.h>

enum { WIDE = 1, OWN = 2 };

struct input {
	uint8_t mode;
	uint64_t base;
	char values[3][64];
	const uint8_t *code;
	size_t size;
};

static const char *const keys[] = {"zcmp", "zcmt", "jvt"};

static void read_input(struct input *in, const uint8_t *bytes, size_t n)
{
	*in = (struct input){.mode = bytes[0], .base = hf_get64(bytes + 1)};
	bytes += 9;
	n -= 9;
	for (size_t i = 0; i < 3; i++) {
		const uint8_t *end = memchr(bytes, '\n', n);
		const size_t size = end ? (size_t)(end - bytes) : n;

		memcpy(in->values[i], bytes, size < 63 ? size : 63);
		bytes += size + !!end;
		n -= size + !!end;
	}
	in->code = bytes;
	in->size = n;
}

/* An empty line: the key is not there. */
static void describe(const struct input *in, struct hf_setup *setup, struct hf_setup_value *value)
{
	for (size_t i = 0; i < 3; i++)
		if (*in->values[i])
			value[setup->value_count++] = (struct hf_setup_value){
				.hart = HF_SETUP_ANY, .key = (char *)keys[i], .value = (char *)in->values[i],
				.file = "capture.ini", .line = (uint32_t)i + 1};
	setup->values = value;
}

static bool look_up(const struct input *in, uint64_t jvt, unsigned xlen, unsigned index, uint64_t *ret_target)
{
	const unsigned size = xlen / 8;
	uint64_t at = jvt + index * size;

	if (size == 4)
		at &= UINT32_MAX;
	if (at < in->base || at - in->base > in->size || in->size - (at - in->base) < size)
		return false;
	*ret_target = 0;
	memcpy(ret_target, in->code + (at - in->base), size);
	*ret_target &= ~UINT64_C(1);
	return *ret_target;
}

static void check_targets(const struct input *in, const struct hf_code_size *code_size, const struct hf_program *program)
{
	const unsigned xlen = in->mode & WIDE ? 64 : 32;
	uint64_t jvt = 0, want, target;
	const bool has = hf_code_size_table(code_size, program, &jvt);

	MUST(has == ((code_size->extensions & HF_RISCV_ZCMT) && (code_size->has_jvt || program->has_jvt)));
	for (unsigned i = 0; i < HF_CODE_SIZE_ENTRIES; i++) {
		const bool found = hf_code_size_target(code_size, program, xlen, i, &target);

		MUST(found == (has && look_up(in, jvt, xlen, i, &want)));
		MUST(!found || target == want);
	}
}

/* The lines "key = value" that are written say the same. */
static void check_written(const struct hf_code_size *code_size)
{
	struct hf_setup setup = {.format = "ntrace"};
	struct hf_setup_value value[3];
	struct hf_code_size again;
	struct hf_sink sink;
	char *line, *rest;

	MUST(hf_sink_init_memory(&sink, 4096) == 0);
	hf_code_size_write(code_size, &sink);
	hf_sink_write(&sink, "", 1);
	for (line = strtok_r((char *)sink.start, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
		char *equals = strstr(line, " = ");

		MUST(equals && setup.value_count < 3);
		*equals = '\0';
		value[setup.value_count++] = (struct hf_setup_value){
			.hart = HF_SETUP_ANY, .key = line, .value = equals + 3, .file = "again", .line = 1};
	}
	setup.values = value;
	MUST(hf_code_size_read(&setup, 0, &again, NULL) == 0);
	MUST(again.extensions == code_size->extensions && again.has_jvt == code_size->has_jvt);
	MUST(again.jvt == code_size->jvt);
	hf_sink_fini_memory(&sink);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	struct hf_setup_image image = {
		.hart = HF_SETUP_ANY, .spaces = HF_MEMORY_ANY, .context = HF_SETUP_NO_CONTEXT};
	struct hf_setup setup = {.format = "ntrace", .images = &image, .image_count = 1};
	struct hf_setup_error error = {0};
	struct hf_code_size code_size;
	struct hf_setup_value value[3];
	struct hf_src *src;
	struct input in;
	int err;

	if (n < 10 || n > 8192)
		return 0;
	read_input(&in, bytes, n);
	describe(&in, &setup, value);
	MUST(hf_src_memory_new(in.code, in.size, &src) == 0);
	err = hf_program_add_raw(&image.program, src, in.base, NULL);
	hf_src_free(src);
	if (!err && in.mode & OWN) {
		image.program.extensions = HF_RISCV_ZCMT;
		image.program.has_jvt = true;
		image.program.jvt = in.base + (in.mode >> 2) * 64;
	}
	if (!err) {
		err = hf_code_size_read(&setup, 0, &code_size, &error);
		MUST(err == 0 || err == HF_ERR_SETUP_VALUE);
		if (!err) {
			MUST(!(code_size.jvt & 63));
			check_targets(&in, &code_size, &image.program);
			check_written(&code_size);
		}
	}
	hf_program_fini(&image.program);
	return 0;
}
