/* SPDX-License-Identifier: Apache-2.0 */
#include "fs/find/unavailable.h"

#include "codecs/codec.h"

#include <strings.h>

static bool asks(const struct hf_question *question, uint32_t kinds)
{
	for (size_t i = 0; i < question->count; i++)
		if (kinds >> question->term[i].kind & 1)
			return true;
	return false;
}

#define ACCESSES (1u << HF_ASK_READ | 1u << HF_ASK_WRITE | 1u << HF_ASK_ACCESS)

const char *hf_unavailable_by(const struct hf_question *question, unsigned flags)
{
	if (flags & HF_STREAM_ONE_LEVEL && asks(question, 1u << HF_ASK_TRAP))
		return "traps";
	if (flags & HF_STREAM_NO_ACCESSES && asks(question, ACCESSES | 1u << HF_ASK_VALUE))
		return "memory accesses";
	return NULL;
}

const char *hf_unavailable_trapping(const struct hf_question *question)
{
	static const char *const names[] = {"ecall", "ebreak", "c.ebreak", "unimp", "c.unimp", "svc",
					    "hvc",   "smc",    "brk",	   "bkpt",  "udf"};

	for (size_t i = 0; i < question->count; i++)
		for (size_t k = 0; question->term[i].kind == HF_ASK_MNEMONIC && k < sizeof names / sizeof names[0]; k++)
			if (strcasecmp(question->term[i].text, names[k]) == 0)
				return names[k];
	return NULL;
}

const char *hf_unavailable_probe(const struct hf_question *question, size_t *i, struct hf_find_term *ret_any)
{
	static const struct {
		uint32_t kinds;
		struct hf_find_term any;
		const char *what;
	} probes[] = {
		{ACCESSES, {.kind = HF_ASK_ACCESS, .range = {0, UINT64_MAX}}, "memory access"},
		{1u << HF_ASK_REGISTER, {.kind = HF_ASK_REGISTER}, "register that was written"},
		{1u << HF_ASK_VALUE, {.kind = HF_ASK_VALUE}, "value of an access or a register"},
	};

	for (; *i < sizeof probes / sizeof probes[0]; ++*i)
		if (asks(question, probes[*i].kinds)) {
			*ret_any = probes[*i].any;
			return probes[*i].what;
		}
	return NULL;
}
