/* SPDX-License-Identifier: Apache-2.0 */
#include "codecs/isa/disasm.h"

#include "codecs/base/errors.h"
#include "codecs/isa/llvm.h"

#include <stdio.h>
#include <stdlib.h>

/* "+a,+b," of the rows of features.def for one instruction set; LLVM takes the empty name after the last comma. */
#define ON_14(name) "+" name ","
#if LLVM_VERSION_MAJOR >= 19
#define ON_19(name) "+" name ","
#else
#define ON_19(name)
#endif
#define HF_FEATURE(isa, version, name) IF_##isa(ON_##version(name))

static const char riscv_features[] =
#define IF_RISCV(text) text
#define IF_A64(text)
#define IF_ARM(text)
#define IF_M(text)
#include "codecs/isa/features.def"
#undef IF_RISCV
#undef IF_A64
	;
static const char a64_features[] =
#define IF_RISCV(text)
#define IF_A64(text) text
#include "codecs/isa/features.def"
#undef IF_A64
#undef IF_ARM
	;
static const char arm_features[] =
#define IF_A64(text)
#define IF_ARM(text) text
#include "codecs/isa/features.def"
#undef IF_ARM
#undef IF_M
	;
static const char m_features[] =
#define IF_ARM(text)
#define IF_M(text) text
#include "codecs/isa/features.def"
	;

static const struct {
	const char *triple, *features;
} targets[HF_ISA_COUNT] = {
	[HF_ISA_RV32] = {"riscv32", riscv_features},
	[HF_ISA_RV64] = {"riscv64", riscv_features},
	[HF_ISA_A64] = {"aarch64", a64_features},
	[HF_ISA_A32] = {"armv8a", arm_features},
	[HF_ISA_T32] = {"thumbv8a", arm_features},
};

const char *hf_disasm_version(void)
{
	return hf_llvm_version();
}

const char *hf_disasm_load(void)
{
	return hf_llvm_load() ? NULL : hf_llvm_error();
}

void hf_disasm_leave(void)
{
	hf_llvm_leave();
}

#define ALIGN sizeof(struct hf_listed_line)
static_assert(ALIGN % sizeof(struct hf_disasm_slot) == 0, "lines are aligned, behind slots");

int hf_disasm_new(struct hf_disasm **ret_disasm)
{
	struct hf_disasm *disasm = calloc(1, sizeof *disasm);

	if (!disasm)
		return HF_ERR_NOMEM;
	disasm->llvm = hf_llvm_load();
	if (!disasm->llvm) {
		free(disasm);
		return HF_ERR_DISASM;
	}
	/* Zero pages: those that a short trace does not need are never touched. */
	disasm->memory = calloc(1, ALIGN + HF_DISASM_SLOTS * sizeof *disasm->slots + sizeof *disasm->lines);
	disasm->tails = malloc(HF_DISASM_SLOTS * sizeof *disasm->tails);
	if (!disasm->memory || !disasm->tails) {
		hf_disasm_free(disasm);
		return HF_ERR_NOMEM;
	}
	disasm->slots = (void *)(((uintptr_t)disasm->memory + ALIGN - 1) & ~(uintptr_t)(ALIGN - 1));
	disasm->lines = (void *)(disasm->slots + HF_DISASM_SLOTS);
	*ret_disasm = disasm;
	return 0;
}

int hf_disasm_need(struct hf_disasm **disasm)
{
	if (*disasm || !hf_disasm_new(disasm))
		return 0;
	*disasm = NULL;
	return HF_ERR_NOMEM;
}

void hf_disasm_free(struct hf_disasm *disasm)
{
	if (!disasm)
		return;
	for (unsigned isa = 0; isa < HF_ISA_COUNT; isa++)
		if (disasm->context[isa])
			disasm->llvm->LLVMDisasmDispose(disasm->context[isa]);
	if (disasm->m)
		disasm->llvm->LLVMDisasmDispose(disasm->m);
	for (unsigned wide = 0; wide < 2; wide++) {
		if (disasm->code_size[wide])
			disasm->llvm->LLVMDisasmDispose(disasm->code_size[wide]);
		if (disasm->zfinx[wide])
			disasm->llvm->LLVMDisasmDispose(disasm->zfinx[wide]);
	}
	free(disasm->memory);
	free(disasm->tails);
	free(disasm);
}

#if LLVM_VERSION_MAJOR >= 19
/* Of HF_DISASM_CODE_SIZE nothing is decoded but what the extensions share with c.fsdsp. */
static LLVMDisasmContextRef context_apart(struct hf_disasm *disasm, unsigned isa, bool code_size)
{
	void **context = &(code_size ? disasm->code_size : disasm->zfinx)[isa == HF_ISA_RV64];
	char features[sizeof riscv_features + 32];

	if (*context)
		return *context;
	snprintf(features, sizeof features, "%s-f,+zfinx,+zdinx,+zhinx", riscv_features);
	*context = disasm->llvm->LLVMCreateDisasmCPUFeatures(targets[isa].triple, "", code_size ? "+zca,+zcmp,+zcmt" : features,
							     NULL, 0, NULL, NULL);
	return *context;
}
#endif

static LLVMDisasmContextRef context_of(struct hf_disasm *disasm, unsigned isa)
{
	const unsigned apart = isa & (HF_DISASM_CODE_SIZE | HF_DISASM_ZFINX);

	isa &= ~apart;
	if (isa == (HF_ISA_T32 | HF_DISASM_M) && !disasm->m)
		disasm->m = disasm->llvm->LLVMCreateDisasmCPUFeatures("thumbv8.1m.main", "", m_features, NULL, 0, NULL, NULL);
	if (isa == (HF_ISA_T32 | HF_DISASM_M))
		return disasm->m;
	if (apart && isa != HF_ISA_RV32 && isa != HF_ISA_RV64)
		return NULL;
#if LLVM_VERSION_MAJOR >= 19
	if (apart)
		return context_apart(disasm, isa, apart & HF_DISASM_CODE_SIZE);
#endif
	if (isa >= HF_ISA_COUNT || !targets[isa].triple)
		return NULL;
	if (!disasm->context[isa])
		disasm->context[isa] = disasm->llvm->LLVMCreateDisasmCPUFeatures(targets[isa].triple, "", targets[isa].features,
								   NULL, 0, NULL, NULL);
	return disasm->context[isa];
}

/*
 * LLVM's Thumb decoder remembers an IT instruction and makes the next four conditional. Texts must not depend on
 * what was disassembled before, so nops use the memory up.
 */
static void forget_it_block(const struct hf_llvm *llvm, LLVMDisasmContextRef context)
{
	uint8_t nop[2] = {0x00, 0xbf};
	char text[16];

	for (unsigned i = 0; i < 4; i++)
		llvm->LLVMDisasmInstruction(context, nop, sizeof nop, 0, text, sizeof text);
}

/* LLVM's text of those bytes, or an empty string. */
static void disassemble_as(struct hf_disasm *disasm, unsigned isa, uint32_t opcode, unsigned size, char *text, size_t cap)
{
	const unsigned condition = size >> 3;
	LLVMDisasmContextRef context = context_of(disasm, isa);
	const bool t32 = (isa & ~HF_DISASM_M) == HF_ISA_T32;
	uint8_t bytes[4];

	text[0] = 0;
	size &= 7;
	if (!context)
		return;
	if (t32 && condition) {
		hf_put16(bytes, (uint16_t)(0xbf08 | (condition - 1) << 4));
		disasm->llvm->LLVMDisasmInstruction(context, bytes, 2, 0, text, cap);
	}
	hf_put32(bytes, t32 && size == 4 ? opcode << 16 | opcode >> 16 : opcode);
	if (disasm->llvm->LLVMDisasmInstruction(context, bytes, size, 0, text, cap) != size)
		text[0] = 0;
	if (t32)
		forget_it_block(disasm->llvm, context);
}

/* The same of the instruction of key. */
static void disassemble(struct hf_disasm *disasm, uint64_t key, char *text, size_t cap)
{
	const unsigned isa = key >> 32 & 0x7f, size = key >> 40 & 0xff;

	text[0] = 0;
	if ((size & 7) != 2 && (size & 7) != 4)
		return;
	disassemble_as(disasm, isa, (uint32_t)key, size, text, cap);
	if (!text[0] && isa == HF_ISA_T32)
		disassemble_as(disasm, isa | HF_DISASM_M, (uint32_t)key, size, text, cap);
}

/* Writes the fields of the listing into out[HF_DISASM_HEAD + HF_DISASM_TAIL], filled up with blanks. */
static unsigned format(uint64_t key, const char *text, uint8_t *out)
{
	const unsigned max = HF_DISASM_HEAD + HF_DISASM_TAIL;
	char hex[12];
	unsigned len = 9;
	int digits = snprintf(hex, sizeof hex, "%0*x", (key >> 40 & 7) == 2 ? 4 : 8, (uint32_t)key);

	memset(out, ' ', max);
	memcpy(out, hex, (size_t)digits);
	while (*text == '\t' || *text == ' ')
		text++;
	for (const char *s = *text ? text : "unknown"; *s && *s != '\n' && len < max; s++) {
		bool blank = *s == '\t' || *s == ' ';

		if (!blank || out[len - 1] != ' ')
			out[len++] = blank ? ' ' : (uint8_t)*s;
	}
	while (out[len - 1] == ' ')
		len--;
	return len;
}

const struct hf_disasm_slot *hf_disasm_miss(struct hf_disasm *disasm, uint64_t key)
{
	uint8_t out[HF_DISASM_HEAD + HF_DISASM_TAIL];
	uint32_t i = hf_disasm_hash(key);
	char text[256];
	unsigned len;

	if (disasm->used == HF_DISASM_LIMIT) {
		memset(disasm->slots, 0, HF_DISASM_SLOTS * sizeof *disasm->slots);
		disasm->used = 0;
	}
	while (disasm->slots[i].key)
		i = (i + 1) & (HF_DISASM_SLOTS - 1);
	disassemble(disasm, key, text, sizeof text);
	len = format(key, text, out);
	disasm->slots[i].key = key | (uint64_t)len << 48;
	memcpy(disasm->slots[i].text, out, HF_DISASM_HEAD);
	if (len > HF_DISASM_HEAD)
		memcpy(disasm->tails[i], out + HF_DISASM_HEAD, HF_DISASM_TAIL);
	disasm->used++;
	return &disasm->slots[i];
}
