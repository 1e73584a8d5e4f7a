/* SPDX-License-Identifier: Apache-2.0 */
#include "codecs/isa/names.h"

const struct hf_csr hf_csrs[4096] = {
#define HF_CSR(number, text) [number] = {sizeof #text - 1, #text},
#include "codecs/isa/csrs.def"
#undef HF_CSR
};

enum cause_table {
	riscv_exception,
	riscv_interrupt,
	arm_exception,
	arm_interrupt,
	CAUSE_TABLES
};

static const char *const causes[CAUSE_TABLES][HF_TRAP_ETE + 32] = {
#define HF_CAUSE(table, number, text) [table][number] = text,
#include "codecs/isa/causes.def"
#undef HF_CAUSE
};

const char *hf_cause_name(bool arm, bool interrupt, uint64_t cause)
{
	return cause < HF_TRAP_ETE + 32 ? causes[(arm ? arm_exception : riscv_exception) + interrupt][cause] : NULL;
}

const char *hf_isa_name(unsigned isa)
{
	static const char *const names[HF_ISA_COUNT] = {
		[HF_ISA_NONE] = "?", [HF_ISA_RV32] = "RV32", [HF_ISA_RV64] = "RV64",
		[HF_ISA_A64] = "A64", [HF_ISA_A32] = "A32", [HF_ISA_T32] = "T32",
	};

	return isa < HF_ISA_COUNT ? names[isa] : "?";
}
