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

#define TEN(tens) \
	"IRQ" #tens "0", "IRQ" #tens "1", "IRQ" #tens "2", "IRQ" #tens "3", "IRQ" #tens "4", "IRQ" #tens "5", \
		"IRQ" #tens "6", "IRQ" #tens "7", "IRQ" #tens "8", "IRQ" #tens "9"
#define HUNDRED(h) TEN(h##0), TEN(h##1), TEN(h##2), TEN(h##3), TEN(h##4), TEN(h##5), TEN(h##6), TEN(h##7), TEN(h##8), TEN(h##9)

static const char *const m_interrupts[] = {
	TEN(), TEN(1), TEN(2), TEN(3), TEN(4), TEN(5), TEN(6), TEN(7), TEN(8), TEN(9),
	HUNDRED(1), HUNDRED(2), HUNDRED(3), HUNDRED(4),
};

/* Of the M profile: its exceptions by their number (Armv8-M ARM, B3.30), and what only its trace unit calls so. */
static const char *m_name(bool interrupt, uint64_t number)
{
	static const char *const exceptions[16] = {[3] = "HardFault",   [4] = "MemManage",	 [5] = "BusFault",
						   [6] = "UsageFault",  [7] = "SecureFault",	 [11] = "SVCall",
						   [12] = "DebugMonitor"};
	static const char *const asynchronous[16] = {[1] = "reset", [2] = "NMI", [14] = "PendSV", [15] = "SysTick"};
	static const char *const others[32] = {[0x18] = "debug halt", [0x19] = "lazy FP push", [0x1a] = "lockup"};

	if (number >= HF_TRAP_M_OTHER - HF_TRAP_M)
		return interrupt || number >= HF_TRAP_M_END - HF_TRAP_M ? NULL : others[number % 32];
	if (number >= 16)
		return interrupt && number - 16 < 496 ? m_interrupts[number - 16] : NULL;
	return interrupt ? asynchronous[number] : exceptions[number];
}

const char *hf_cause_name(bool arm, bool interrupt, uint64_t cause)
{
	if (arm && cause >= HF_TRAP_M)
		return m_name(interrupt, cause - HF_TRAP_M);
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
