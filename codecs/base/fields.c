/* SPDX-License-Identifier: Apache-2.0 */
#include "codecs/base/fields.h"

#include "codecs/base/bytes.h"

struct hf_fields hf_fields_save(uint8_t *blob, size_t size)
{
	return (struct hf_fields){.to = blob, .end = blob + size};
}

struct hf_fields hf_fields_load(const uint8_t *blob, size_t size)
{
	return (struct hf_fields){.from = blob, .end = blob + size, .loading = true};
}

int hf_fields_end(const struct hf_fields *f)
{
	if (f->err)
		return f->err;
	return f->loading && f->from != f->end ? HF_ERR_STATE : 0;
}

void hf_fields_fail(struct hf_fields *f, int err)
{
	if (!f->err)
		f->err = err;
}

uint64_t hf_field(struct hf_fields *f, uint64_t v, uint64_t max)
{
	const uint8_t *behind;
	uint64_t loaded;

	if (f->err)
		return v;
	if (!f->loading) {
		uint8_t bytes[HF_VARINT_MAX];
		const size_t n = (size_t)(hf_put_varint(bytes, v) - bytes);

		hf_field_bytes(f, bytes, n);
		return v;
	}
	behind = hf_get_varint(f->from, f->end, &loaded);
	if (!behind || loaded > max) {
		f->err = HF_ERR_STATE;
		return v;
	}
	f->from = behind;
	return loaded;
}

uint64_t hf_field_near(struct hf_fields *f, uint64_t v, uint64_t near)
{
	const uint64_t distance = v - near;
	const uint64_t stored = hf_field(f, distance << 1 ^ (uint64_t) - (distance >> 63), UINT64_MAX);

	return near + (stored >> 1 ^ (uint64_t) - (stored & 1));
}

void hf_field_rows(struct hf_fields *f, const struct hf_field_row *rows, size_t count, void *object)
{
	for (size_t i = 0; i < count; i++) {
		uint8_t *member = (uint8_t *)object + rows[i].offset;
		uint64_t v = 0;

		memcpy(&v, member, rows[i].width);
		v = hf_field(f, v, rows[i].max);
		memcpy(member, &v, rows[i].width);
	}
}

void hf_field_bytes(struct hf_fields *f, void *bytes, size_t n)
{
	const uint8_t *at = f->loading ? f->from : f->to;

	if (!f->err && (size_t)(f->end - at) < n)
		f->err = HF_ERR_STATE;
	if (f->err)
		return;
	if (f->loading) {
		memcpy(bytes, f->from, n);
		f->from += n;
	} else {
		memcpy(f->to, bytes, n);
		f->to += n;
	}
}
