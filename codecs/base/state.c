/* SPDX-License-Identifier: Apache-2.0 */
#include "codecs/base/state.h"

#include "codecs/base/bytes.h"

static uint64_t get(const uint8_t *p, unsigned width)
{
	uint64_t v = 0;

	memcpy(&v, p, width);
	return v;
}

size_t hf_state_save(const struct hf_state_table *table, const void *state, uint8_t *buf)
{
	uint8_t *p = buf;

	*p++ = table->version;
	for (unsigned i = 0; i < table->count; i++) {
		const struct hf_state_field *f = &table->fields[i];

		p = hf_put_varint(p, get((const uint8_t *)state + f->offset, f->width));
	}
	return (size_t)(p - buf);
}

int hf_state_load(const struct hf_state_table *table, void *state, const uint8_t *blob, size_t size)
{
	const uint8_t *p = blob, *end = blob + size;

	if (size == 0 || *p++ != table->version)
		return HF_ERR_STATE;
	for (unsigned i = 0; i < table->count; i++) {
		const struct hf_state_field *f = &table->fields[i];
		uint64_t v;

		p = hf_get_varint(p, end, &v);
		if (!p || v > f->max)
			return HF_ERR_STATE;
		memcpy((uint8_t *)state + f->offset, &v, f->width);
	}
	return p == end ? 0 : HF_ERR_STATE;
}
