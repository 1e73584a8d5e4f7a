/* SPDX-License-Identifier: Apache-2.0 */
/* What the numbers inside records stand for. */
#include "codecs/stf/header.h"

const char *hf_stf_generator_name(uint64_t number)
{
	switch (number) {
#define HF_STF_GENERATOR(value, name) \
	case value:                   \
		return name;
#include "codecs/stf/names.def"
	default:
		return NULL;
	}
}

const char *hf_stf_feature_name(unsigned bit)
{
	switch (UINT64_C(1) << bit) {
#define HF_STF_FEATURE(value, name) \
	case value: \
		return name;
#include "codecs/stf/names.def"
	default:
		return NULL;
	}
}

uint8_t hf_stf_isa_of_iem(unsigned isa, unsigned iem)
{
	static const uint8_t riscv[] = {HF_ISA_NONE, HF_ISA_RV32, HF_ISA_RV64};
	static const uint8_t arm[] = {HF_ISA_NONE, HF_ISA_A32, HF_ISA_A64, HF_ISA_T32};

	if (isa == HF_STF_ISA_RISCV)
		return iem < sizeof riscv ? riscv[iem] : (uint8_t)HF_ISA_NONE;
	if (isa == HF_STF_ISA_ARM)
		return iem < sizeof arm ? arm[iem] : (uint8_t)HF_ISA_NONE;
	return HF_ISA_NONE;
}

unsigned hf_stf_iem_of_isa(unsigned isa)
{
	static const uint8_t iem[HF_ISA_COUNT] = {
		[HF_ISA_RV32] = HF_STF_IEM_RV32, [HF_ISA_RV64] = HF_STF_IEM_RV64, [HF_ISA_A64] = HF_STF_IEM_A64,
		[HF_ISA_A32] = HF_STF_IEM_A32,	 [HF_ISA_T32] = HF_STF_IEM_T32,
	};

	return isa < HF_ISA_COUNT ? iem[isa] : 0;
}

static const int8_t words[HF_MODE_COUNT] = {
#define HF_MODE(name, text, level, word) word,
#include "codecs/modes.def"
#undef HF_MODE
};

uint8_t hf_stf_mode_of_word(unsigned arch, uint64_t word)
{
	const bool arm = arch == HF_ARCH_ARM;
	const unsigned end = arm ? HF_MODE_COUNT : HF_MODE_VU;

	for (unsigned mode = arm ? HF_MODE_EL0t : HF_MODE_U; mode < end; mode++)
		if (words[mode] >= 0 && (uint64_t)words[mode] == word)
			return (uint8_t)mode;
	return HF_MODE_UNKNOWN;
}

bool hf_stf_word_of_mode(unsigned mode, uint64_t *ret_word)
{
	if (mode >= HF_MODE_COUNT || words[mode] < 0)
		return false;
	*ret_word = (uint64_t)words[mode];
	return true;
}

struct hf_stf_event_layout hf_stf_event_layout(unsigned arch, uint64_t id)
{
	/* Interrupts: where they come from. */
	if (id & (HF_STF_EVENT_INTERRUPT | HF_STF_EVENT_SPECIAL))
		return (struct hf_stf_event_layout){1, -1};
	/* ARM: our own, the most common of those in names.def. */
	if (arch == HF_ARCH_ARM)
		return (struct hf_stf_event_layout){3, 2};
	switch (id) {
#define HF_STF_EXCEPTION(number, name, words, value) \
	case number: \
		return (struct hf_stf_event_layout){words, value};
#include "codecs/stf/names.def"
	default:
		return (struct hf_stf_event_layout){0, -1};
	}
}

bool hf_stf_event_retires(unsigned arch, uint64_t id)
{
	if (id == HF_STF_EVENT_MODE_CHANGE)
		return true;
	return arch == HF_ARCH_ARM && ((id >= 0x11 && id <= 0x13) || (id >= 0x15 && id <= 0x17));
}
