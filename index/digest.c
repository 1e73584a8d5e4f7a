/* SPDX-License-Identifier: Apache-2.0 */
#include "index/digest.h"

/* The polynomial is over the integers modulo this prime, at a place that nobody chose for its sake. */
#define PRIME ((UINT64_C(1) << 61) - 1)
#define PLACE UINT64_C(0x0a5f3c19e7d2b84d)

/* What a hash begins with, and what keeps the factors of a product from being 0: as little chosen. */
#define SEED UINT64_C(0x9e3779b97f4a7c15)
#define FIRST UINT64_C(0xa0f1c3b52d6987e5)
#define SECOND UINT64_C(0x5ca32bd99a46f1c7)

/* What an instruction is apart from its mode and what it does to the flow: opcode, size, instruction set. */
#define CODE_MASK UINT64_C(0x0000ffffffffffff)

/* A hash with two more words in it: both halves of a product, in which every bit of each has its part. */
static inline uint64_t mix(uint64_t hash, uint64_t a, uint64_t b)
{
	const unsigned __int128 product = (unsigned __int128)(hash ^ a ^ FIRST) * (b ^ SECOND);

	return hash + ((uint64_t)product ^ (uint64_t)(product >> 64));
}

static inline uint64_t mix_event(uint64_t hash, const struct hf_event *ev)
{
	const uint64_t head = ev->kind | (uint64_t)ev->flags << 8 | (uint64_t)ev->any << 16 | (uint64_t)ev->size << 32;

	return mix(mix(hash, head, ev->word[0]), ev->word[1], ev->word[2]);
}

static uint64_t append(uint64_t sum, uint64_t hash)
{
	const unsigned __int128 product = (unsigned __int128)sum * PLACE;
	const uint64_t low = (uint64_t)product & PRIME, high = (uint64_t)(product >> 61);

	return (low + high + hash % PRIME) % PRIME;
}

static struct hf_digest append_block(const struct hf_digest *sum, const struct hf_digest *block)
{
	return (struct hf_digest){.flow = append(sum->flow, block->flow),
				  .data = append(sum->data, block->data),
				  .rest = append(sum->rest, block->rest)};
}

static const struct hf_digest empty_block = {.flow = SEED, .data = SEED, .rest = SEED};

void hf_digester_begin(struct hf_digester *d, uint64_t ordinal)
{
	*d = (struct hf_digester){.block = empty_block, .ordinal = ordinal};
}

void hf_digester_put(struct hf_digester *d, const struct hf_event *ev, size_t n)
{
	struct hf_digest block = d->block;
	bool any = d->any;

	for (; n; n--, ev++) {
		if (ev->kind != HF_EVENT_INSN) {
			if (ev->kind == HF_EVENT_MEM)
				block.data = mix_event(block.data, ev);
			else
				block.rest = mix_event(block.rest, ev);
			any = true;
			continue;
		}
		if (d->ordinal++ % HF_DIGEST_BLOCK == 0 && any) {
			d->sum = append_block(&d->sum, &block);
			block = empty_block;
		}
		any = true;
		block.flow = mix(block.flow, ev->insn.pc, ev->word[2] & CODE_MASK);
		block.rest = mix(block.rest, ev->flags & HF_EVF_TAKEN ? ev->insn.target : 0,
				 (ev->word[2] & ~CODE_MASK) | ev->flags);
	}
	d->block = block;
	d->any = any;
}

struct hf_digest hf_digester_end(struct hf_digester *d)
{
	return append_block(&d->sum, &d->block);
}
