/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The code-size extensions of a RISC-V hart, Zcmp and Zcmt, which cannot be seen in its code: their encodings are
 * those of c.fsdsp. A description says them (keys zcmp, zcmt, jvt), or else the ELF files of its programs do; of a stream
 * without a description its own header (STF).
 */
#ifndef HF_SETUP_CODE_SIZE_H
#define HF_SETUP_CODE_SIZE_H

#include "codecs/base/sink.h"
#include "codecs/setup/setup.h"

/* Of a jump table: xlen / 8 bytes each (Unprivileged, Zcmt). */
#define HF_CODE_SIZE_ENTRIES 256

struct hf_code_size {
	uint32_t extensions; /* HF_RISCV_ZCMP, HF_RISCV_ZCMT of codecs/isa/riscv.h */
	bool has_jvt;        /* the description says where the jump table lies; else each program does, or nobody */
	uint64_t jvt;
};

/* Of that hart. setup may be NULL: none. HF_ERR_SETUP_VALUE if a value is not allowed. */
int hf_code_size_read(const struct hf_setup *setup, uint32_t hart, struct hf_code_size *ret_code_size,
		      struct hf_setup_error *error);

struct hf_stream;
/* Which of them that hart of an open stream has: bits as struct hf_code_size.extensions. stream may be NULL: none. */
uint32_t hf_code_size_extensions(const struct hf_stream *stream, uint32_t hart);

/*
 * All of it as a view of that hart can say it, which has one program for all contexts: that of the table known to this
 * one, or NULL, is returned.
 */
const struct hf_program *hf_code_size_of_view(const struct hf_stream *stream, uint32_t hart,
					      struct hf_code_size *ret_code_size);

/* Where the table is that code of program (NULL: none) jumps through; false if nobody says it, or there is no Zcmt. */
bool hf_code_size_table(const struct hf_code_size *code_size, const struct hf_program *program, uint64_t *ret_jvt);

/*
 * Where cm.jt or cm.jalt with that index goes: what the table in program holds. False if the table is not known, its
 * bytes are not in program, or it holds zero there, which no linker writes.
 */
bool hf_code_size_target(const struct hf_code_size *code_size, const struct hf_program *program, unsigned xlen,
			 unsigned index, uint64_t *ret_target);

/* The keys of a description that say the same, as far as they are not the defaults. */
void hf_code_size_write(const struct hf_code_size *code_size, struct hf_sink *sink);

#endif
