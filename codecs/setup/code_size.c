/* SPDX-License-Identifier: Apache-2.0 */
#include "codecs/setup/code_size.h"

#include "codecs/base/bytes.h"
#include "codecs/codec.h"
#include "codecs/isa/riscv.h"

/* Bits of csr jvt below the base: its mode, of which only 0 is a table (Unprivileged, Zcmt). */
#define JVT_MODE 63

/* What the programs of that hart have, all contexts together. */
static uint32_t of_programs(const struct hf_setup *setup, uint32_t hart)
{
	uint32_t ret = 0;

	for (size_t i = 0; setup && i < setup->image_count; i++)
		if (hf_setup_runs(setup, hart, &setup->images[i]))
			ret |= setup->images[i].program.extensions;
	return ret;
}

static int read_flag(const struct hf_setup *setup, uint32_t hart, const char *key, uint32_t extension,
		     struct hf_code_size *code_size, struct hf_setup_error *error)
{
	uint64_t v;
	int err = hf_setup_number(setup, hart, key, 0, 1, (code_size->extensions & extension) != 0, &v, error);

	code_size->extensions = (code_size->extensions & ~extension) | (v ? extension : 0);
	return err;
}

int hf_code_size_read(const struct hf_setup *setup, uint32_t hart, struct hf_code_size *ret_code_size,
		      struct hf_setup_error *error)
{
	const struct hf_setup_value *jvt = hf_setup_get(setup, hart, "jvt");
	struct hf_code_size c = {.extensions = of_programs(setup, hart), .has_jvt = jvt};
	int err = read_flag(setup, hart, "zcmp", HF_RISCV_ZCMP, &c, error);

	if (!err)
		err = read_flag(setup, hart, "zcmt", HF_RISCV_ZCMT, &c, error);
	if (!err)
		err = hf_setup_number(setup, hart, "jvt", 0, UINT64_MAX, 0, &c.jvt, error);
	if (!err && (c.jvt & JVT_MODE))
		err = hf_setup_refuse(error, jvt, "a multiple of %d", JVT_MODE + 1);
	*ret_code_size = c;
	return err;
}

bool hf_code_size_table(const struct hf_code_size *code_size, const struct hf_program *program, uint64_t *ret_jvt)
{
	if (!(code_size->extensions & HF_RISCV_ZCMT) || !program || (!code_size->has_jvt && !program->has_jvt))
		return false;
	*ret_jvt = code_size->has_jvt ? code_size->jvt : program->jvt;
	return true;
}

uint32_t hf_code_size_extensions(const struct hf_stream *stream, uint32_t hart)
{
	struct hf_code_size code_size;
	uint32_t own;

	if (!stream)
		return 0;
	own = stream->info.extensions;
	own &= ~(hf_setup_get(stream->setup, hart, "zcmp") ? HF_RISCV_ZCMP : 0u);
	own &= ~(hf_setup_get(stream->setup, hart, "zcmt") ? HF_RISCV_ZCMT : 0u);
	hf_code_size_read(stream->setup, hart, &code_size, NULL); /* it was checked when the stream was opened */
	return code_size.extensions | own;
}

const struct hf_program *hf_code_size_of_view(const struct hf_stream *stream, uint32_t hart,
					      struct hf_code_size *ret_code_size)
{
	const struct hf_setup *setup = stream ? stream->setup : NULL;
	const struct hf_program *program = hf_setup_program(setup, hart, HF_SETUP_NO_CONTEXT, HF_MEMORY_ANY);

	hf_code_size_read(setup, hart, ret_code_size, NULL);
	ret_code_size->extensions = hf_code_size_extensions(stream, hart);
	ret_code_size->has_jvt = hf_code_size_table(ret_code_size, program, &ret_code_size->jvt);
	return ret_code_size->has_jvt ? program : NULL;
}

bool hf_code_size_target(const struct hf_code_size *code_size, const struct hf_program *program, unsigned xlen,
			 unsigned index, uint64_t *ret_target)
{
	const unsigned size = (xlen & HF_RISCV_XLEN) / 8;
	const uint8_t *p;
	uint64_t jvt, at, n, target;

	if (!hf_code_size_table(code_size, program, &jvt))
		return false;
	at = jvt + (uint64_t)index * size;
	p = hf_program_at(program, size == 4 ? at & UINT32_MAX : at, &n);
	if (n < size)
		return false;
	target = (size == 4 ? hf_get32(p) : hf_get64(p)) & ~UINT64_C(1);
	*ret_target = target;
	return target != 0;
}

void hf_code_size_write(const struct hf_code_size *code_size, struct hf_sink *sink)
{
	if (code_size->extensions & HF_RISCV_ZCMP)
		hf_sink_printf(sink, "zcmp = 1\n");
	if (code_size->extensions & HF_RISCV_ZCMT)
		hf_sink_printf(sink, "zcmt = 1\n");
	if (code_size->has_jvt)
		hf_sink_printf(sink, "jvt = 0x%llx\n", (unsigned long long)code_size->jvt);
}
