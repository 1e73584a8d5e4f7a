/* SPDX-License-Identifier: Apache-2.0 */
#include "codecs/etrace/wish.h"
#include "codecs/isa/riscv.h"

/* Major opcodes, without their two low bits. */
enum { OP_LOAD = 0x00, OP_LOAD_FP = 0x01, OP_STORE = 0x08, OP_STORE_FP = 0x09, OP_AMO = 0x0b, OP_SYSTEM = 0x1c };

/* funct5 of OP_AMO; the low bit of max and min is for unsigned values. */
enum {
	AMO_ADD = 0x00, AMO_SWAP = 0x01, AMO_LR = 0x02, AMO_SC = 0x03, AMO_XOR = 0x04, AMO_OR = 0x08, AMO_SSSWAP = 0x09,
	AMO_AND = 0x0c, AMO_MIN = 0x10, AMO_MAX = 0x14, AMO_MINU = 0x18, AMO_MAXU = 0x1c,
};

/* cm.push, cm.pop, cm.popret, cm.popretz: ra and up to 12 more registers; a list of 11 saved ones does not exist. */
static struct hf_etrace_wish wish_code_size(uint32_t opcode, bool rv64)
{
	const unsigned list = opcode >> 4 & 15, which = opcode >> 8 & 31;

	return (struct hf_etrace_wish){
		.wants = (which & 0x19) == 0x18 && list >= 4,
		.many = true,
		.limit = (uint8_t)(list - 3 + (list == 15)),
		.kind = which == 0x18 ? HF_ETRACE_STORE : HF_ETRACE_LOAD,
		.size = rv64 ? 3 : 2,
	};
}

static struct hf_etrace_wish wish_compressed(uint32_t opcode, bool rv64)
{
	const unsigned quadrant = opcode & 3, funct3 = opcode >> 13 & 7;
	struct hf_etrace_wish w = {.wants = true, .kind = funct3 & 4 ? HF_ETRACE_STORE : HF_ETRACE_LOAD};

	/* 1 fld, 2 lw, 3 flw or ld; 5 to 7 the stores. Quadrant 2 is the same relative to sp, without Zcmp. */
	switch (funct3 & 3) {
	case 1:
		w.size = 3;
		break;
	case 2:
		w.size = 2;
		break;
	case 3:
		w.size = rv64 ? 3 : 2;
		break;
	default:
		w.wants = false;
	}
	if (quadrant == 1)
		w.wants = false;
	if (quadrant == 0 && funct3 == 4) { /* Zcb: lbu, lhu and lh, sb, sh */
		const unsigned op = opcode >> 10 & 7;

		w = (struct hf_etrace_wish){
			.wants = op < 4, .kind = op < 2 ? HF_ETRACE_LOAD : HF_ETRACE_STORE, .size = op & 1};
	}
	return w;
}

/* Loads and stores of floating point and vector registers share their major opcodes. */
static struct hf_etrace_wish wish_float(uint32_t opcode, uint8_t kind)
{
	const unsigned width = opcode >> 12 & 7;
	struct hf_etrace_wish w = {.wants = true, .kind = kind, .size = (uint8_t)width};

	if (width == 0 || width >= 5) {
		w.many = true;
		w.size = (uint8_t)(width ? width - 4 : 0);
	}
	w.wants = w.size <= 3;
	return w;
}

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

static struct hf_etrace_wish wish_atomic(uint32_t opcode)
{
	const unsigned funct5 = opcode >> 27, width = opcode >> 12 & 7;
	struct hf_etrace_wish w = {
		.wants = width <= 3, .size = (uint8_t)width, .kind = HF_ETRACE_ATOMIC, .source = opcode >> 20 & 31};

	if (funct5 == AMO_LR) {
		w.kind = HF_ETRACE_LOAD;
	} else if (funct5 == AMO_SC) {
		w.kind = HF_ETRACE_STORE;
		w.optional = true;
	} else {
		w.subtype = atomic_of(funct5);
	}
	return w;
}

/* CSR accesses, and the loads and stores of a hypervisor in its guest. */
static struct hf_etrace_wish wish_system(uint32_t opcode)
{
	const unsigned funct3 = opcode >> 12 & 7, funct7 = opcode >> 25;

	if (funct3 & 3)
		return (struct hf_etrace_wish){.wants = true, .kind = HF_ETRACE_CSR, .subtype = (uint8_t)((funct3 & 3) - 1),
					       .source = opcode >> 15 & 31, .immediate = funct3 & 4,
					       .csr = (uint16_t)(opcode >> 20)};
	return (struct hf_etrace_wish){.wants = funct3 == 4 && funct7 >> 3 == 6, .size = funct7 >> 1 & 3,
				       .kind = funct7 & 1 ? HF_ETRACE_STORE : HF_ETRACE_LOAD};
}

static struct hf_etrace_wish wish_of(const struct hf_ev_insn *insn, bool code_size)
{
	const uint32_t opcode = insn->opcode, funct3 = opcode >> 12 & 7;

	if (code_size && insn->size == 2 && hf_riscv_is_code_size(opcode))
		return wish_code_size(opcode, insn->isa == HF_ISA_RV64);
	if (insn->size == 2)
		return wish_compressed(opcode, insn->isa == HF_ISA_RV64);
	switch (opcode >> 2 & 31) {
	case OP_LOAD:
		return (struct hf_etrace_wish){.wants = true, .size = funct3 & 3, .kind = HF_ETRACE_LOAD};
	case OP_STORE:
		return (struct hf_etrace_wish){.wants = true, .size = funct3 & 3, .kind = HF_ETRACE_STORE};
	case OP_LOAD_FP:
		return wish_float(opcode, HF_ETRACE_LOAD);
	case OP_STORE_FP:
		return wish_float(opcode, HF_ETRACE_STORE);
	case OP_AMO:
		return wish_atomic(opcode);
	case OP_SYSTEM:
		return wish_system(opcode);
	default:
		return (struct hf_etrace_wish){0};
	}
}

struct hf_etrace_wish hf_etrace_wish_of(const struct hf_etrace_params *params, const struct hf_ev_insn *insn)
{
	struct hf_etrace_wish w = wish_of(insn, params->zcmp || params->zcmt);
	const bool only_memory = params->data_format_width <= 2 && params->version != HF_ETRACE_2_1;

	if (w.kind == HF_ETRACE_CSR)
		w.wants &= !only_memory;
	else if (!w.many)
		w.wants &= 8u << w.size <= params->data_width;
	w.optional |= only_memory && w.kind == HF_ETRACE_ATOMIC;
	return w;
}

static bool is_failure(const struct hf_etrace_access *a)
{
	return a->kind == HF_ETRACE_ATOMIC && a->subtype == HF_ETRACE_FAILED_SC;
}

bool hf_etrace_wish_takes(const struct hf_etrace_wish *w, const struct hf_etrace_access *a)
{
	if (!w->wants)
		return false;
	if (a->kind == HF_ETRACE_CSR || w->kind == HF_ETRACE_CSR)
		return a->kind == w->kind && a->address == w->csr;
	if ((!w->many || w->limit) && a->size != w->size)
		return false;
	if (w->kind == HF_ETRACE_ATOMIC)
		return a->kind == HF_ETRACE_ATOMIC && !is_failure(a);
	return a->kind == w->kind || (w->optional && is_failure(a));
}

bool hf_etrace_wish_may_take_two(const struct hf_etrace_wish *w, const struct hf_etrace_access *load)
{
	return w->wants && w->kind == HF_ETRACE_ATOMIC && load->kind == HF_ETRACE_LOAD && load->size == w->size &&
	       (load->flags & HF_ETRACE_HAS_ADDRESS);
}

bool hf_etrace_wish_takes_two(const struct hf_etrace_wish *w, const struct hf_etrace_access *load,
			      const struct hf_etrace_access *store)
{
	return hf_etrace_wish_may_take_two(w, load) && store->kind == HF_ETRACE_STORE && store->size == w->size &&
	       (store->flags & HF_ETRACE_HAS_ADDRESS) && store->address == load->address;
}

bool hf_etrace_wish_result(uint32_t opcode, unsigned size, uint64_t old, uint64_t operand, uint64_t *ret_new)
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

bool hf_etrace_wish_operand(uint32_t opcode, uint64_t old, uint64_t new, uint64_t *ret_operand)
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
