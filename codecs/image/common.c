/* SPDX-License-Identifier: Apache-2.0 */
#include "codecs/image/common.h"

#include "codecs/base/bytes.h"

/* The runs of both images in ascending order. */
struct both {
	const struct hf_image *image[2];
	struct hf_image_cursor cursor[2];
	struct hf_image_run run[2];
	bool any[2];
};

static uint16_t halfword_at(const struct hf_image *image, uint64_t address)
{
	uint8_t bytes[2];

	hf_image_read(image, address, bytes, sizeof bytes);
	return hf_get16(bytes);
}

/* Of [first, end), which both know. wide: all instructions have four bytes. */
static bool is_common(const struct both *b, uint64_t first, uint64_t end, bool wide)
{
	bool half = false;

	for (uint64_t at = first; at < end; at += 2) {
		const uint16_t code = halfword_at(b->image[0], at);
		const bool same = code == halfword_at(b->image[1], at);

		/* Of an instruction of four bytes its first half is not enough. */
		if (same && (half || (!wide && (code & 3) != 3)))
			return true;
		half = same;
	}
	return false;
}

static void next(struct both *b, unsigned i)
{
	b->any[i] = hf_image_next_run(b->image[i], &b->cursor[i], &b->run[i]);
}

bool hf_image_have_common(const struct hf_image *a, const struct hf_image *b)
{
	const uint32_t four = 1u << HF_ISA_A64 | 1u << HF_ISA_A32;
	const bool wide = !((hf_image_isas(a) | hf_image_isas(b)) & ~four);
	struct both both = {.image = {a, b}};

	next(&both, 0);
	next(&both, 1);
	while (both.any[0] && both.any[1]) {
		const struct hf_image_run *x = &both.run[0], *y = &both.run[1];
		const uint64_t first = x->address > y->address ? x->address : y->address;
		const uint64_t ends[2] = {x->address + x->size, y->address + y->size};

		if (is_common(&both, first, ends[0] < ends[1] ? ends[0] : ends[1], wide))
			return true;
		next(&both, ends[1] < ends[0]);
	}
	return false;
}
