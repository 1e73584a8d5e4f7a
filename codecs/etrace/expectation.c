/* SPDX-License-Identifier: Apache-2.0 */
#include "codecs/etrace/expectation.h"
#include "codecs/isa/access.h"

/* Major opcodes, without their two low bits. */
enum { OP_AMO = 0x0b, OP_SYSTEM = 0x1c };

/* funct5 of OP_AMO; the low bit of max and min is for unsigned values. */
enum {
	AMO_ADD = 0x00,
	AMO_SWAP = 0x01,
	AMO_XOR = 0x04,
	AMO_OR = 0x08,
	AMO_SSSWAP = 0x09,
	AMO_AND = 0x0c,
	AMO_MIN = 0x10,
	AMO_MAX = 0x14,
	AMO_MINU = 0x18,
	AMO_MAXU = 0x1c,
};

static uint8_t atomic_of(unsigned funct5)
{
	switch (funct5) {
	case AMO_SWAP:
	case AMO_SSSWAP:
		return HF_ETRACE_SWAP;
	case AMO_ADD:
		return HF_ETRACE_ADD;
	case AMO_AND:
		return HF_ETRACE_AND;
	case AMO_OR:
		return HF_ETRACE_OR;
	case AMO_XOR:
		return HF_ETRACE_XOR;
	case AMO_MAX:
	case AMO_MAXU:
		return HF_ETRACE_MAX;
	case AMO_MIN:
	case AMO_MINU:
		return HF_ETRACE_MIN;
	default: /* amocas: no subtype but that of its failure */
		return HF_ETRACE_ATOMICS;
	}
}

static struct hf_etrace_expectation expect_csr(uint32_t opcode)
{
	const unsigned funct3 = opcode >> 12 & 7;

	return (struct hf_etrace_expectation){.expects = true,
					      .kind = HF_ETRACE_CSR,
					      .subtype = (uint8_t)((funct3 & 3) - 1),
					      .source = opcode >> 15 & 31,
					      .immediate = funct3 & 4,
					      .csr = (uint16_t)(opcode >> 20)};
}

static struct hf_etrace_expectation expect(const struct hf_ev_insn *insn, bool code_size)
{
	static const uint8_t kinds[] = {[HF_RISCV_LOAD] = HF_ETRACE_LOAD,
					[HF_RISCV_STORE] = HF_ETRACE_STORE,
					[HF_RISCV_STORE_CONDITIONAL] = HF_ETRACE_STORE,
					[HF_RISCV_ATOMIC] = HF_ETRACE_ATOMIC};
	const uint32_t opcode = insn->opcode, major = opcode >> 2 & 31;
	const struct hf_riscv_access a = hf_riscv_access(opcode, insn->size, insn->isa, code_size);
	struct hf_etrace_expectation x = {.expects = a.kind != HF_RISCV_NO_ACCESS && a.size <= 3,
					  .many = a.many,
					  .limit = a.limit,
					  .kind = kinds[a.kind],
					  .size = a.size};

	if (insn->size == 4 && major == OP_SYSTEM && (opcode >> 12 & 3))
		return expect_csr(opcode);
	if (insn->size == 4 && major == OP_AMO)
		x.source = opcode >> 20 & 31;
	if (a.kind == HF_RISCV_ATOMIC)
		x.subtype = atomic_of(opcode >> 27);
	x.optional = a.kind == HF_RISCV_STORE_CONDITIONAL;
	return x;
}

struct hf_etrace_expectation hf_etrace_expect(const struct hf_etrace_params *params, const struct hf_ev_insn *insn)
{
	struct hf_etrace_expectation x = expect(insn, params->zcmp || params->zcmt);
	const bool only_memory = params->data_format_width <= 2 && params->version != HF_ETRACE_2_1;

	if (x.kind == HF_ETRACE_CSR)
		x.expects &= !only_memory;
	else if (!x.many)
		x.expects &= 8u << x.size <= params->data_width;
	x.optional |= only_memory && x.kind == HF_ETRACE_ATOMIC;
	return x;
}

static bool is_failure(const struct hf_etrace_access *a)
{
	return a->kind == HF_ETRACE_ATOMIC && a->subtype == HF_ETRACE_FAILED_SC;
}

bool hf_etrace_expect_takes(const struct hf_etrace_expectation *x, const struct hf_etrace_access *a)
{
	if (!x->expects)
		return false;
	if (a->kind == HF_ETRACE_CSR || x->kind == HF_ETRACE_CSR)
		return a->kind == x->kind && a->address == x->csr;
	if ((!x->many || x->limit) && a->size != x->size)
		return false;
	if (x->kind == HF_ETRACE_ATOMIC)
		return a->kind == HF_ETRACE_ATOMIC && !is_failure(a);
	return a->kind == x->kind || (x->optional && is_failure(a));
}

bool hf_etrace_expect_may_take_two(const struct hf_etrace_expectation *x, const struct hf_etrace_access *load)
{
	return x->expects && x->kind == HF_ETRACE_ATOMIC && load->kind == HF_ETRACE_LOAD && load->size == x->size &&
	       (load->flags & HF_ETRACE_HAS_ADDRESS);
}

bool hf_etrace_expect_takes_two(const struct hf_etrace_expectation *x, const struct hf_etrace_access *load,
				const struct hf_etrace_access *store)
{
	return hf_etrace_expect_may_take_two(x, load) && store->kind == HF_ETRACE_STORE && store->size == x->size &&
	       (store->flags & HF_ETRACE_HAS_ADDRESS) && store->address == load->address;
}

bool hf_etrace_atomic_result(uint32_t opcode, unsigned size, uint64_t old, uint64_t operand, uint64_t *ret_new)
{
	const unsigned up = 64 - (size >= 3 ? 64 : 8u << size);
	const uint64_t a = old << up, b = operand << up;

	switch (opcode >> 27) {
	case AMO_SWAP:
	case AMO_SSSWAP:
		*ret_new = operand;
		break;
	case AMO_ADD:
		*ret_new = old + operand;
		break;
	case AMO_AND:
		*ret_new = old & operand;
		break;
	case AMO_OR:
		*ret_new = old | operand;
		break;
	case AMO_XOR:
		*ret_new = old ^ operand;
		break;
	case AMO_MAX:
		*ret_new = (int64_t)a > (int64_t)b ? old : operand;
		break;
	case AMO_MAXU:
		*ret_new = a > b ? old : operand;
		break;
	case AMO_MIN:
		*ret_new = (int64_t)a < (int64_t)b ? old : operand;
		break;
	case AMO_MINU:
		*ret_new = a < b ? old : operand;
		break;
	default:
		return false;
	}
	*ret_new = *ret_new << up >> up;
	return true;
}

bool hf_etrace_atomic_operand(uint32_t opcode, uint64_t old, uint64_t new, uint64_t *ret_operand)
{
	switch (opcode >> 27) {
	case AMO_SWAP:
	case AMO_SSSWAP:
		*ret_operand = new;
		return true;
	case AMO_ADD:
		*ret_operand = new - old;
		return true;
	case AMO_XOR:
		*ret_operand = new ^ old;
		return true;
	case AMO_MAX:
	case AMO_MAXU:
	case AMO_MIN:
	case AMO_MINU:
		*ret_operand = new;
		return new != old; /* else it is anything on the other side */
	default:
		return false;
	}
}
