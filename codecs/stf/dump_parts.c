/* SPDX-License-Identifier: Apache-2.0 */
/* What follows the head of a record: strings and lists, an element at a time. */
#include "codecs/base/utf8.h"
#include "codecs/stf/dump.h"

static const uint8_t string_heads[256] = {
#define HF_STF_RECORD(number, name, head, count, unit, place, fields) [number] = (unit) == 1 ? (head) : 0,
#include "codecs/stf/records.def"
#undef HF_STF_RECORD
};

bool hf_stf_dump_is_string(unsigned descriptor)
{
	return string_heads[descriptor] != 0;
}

/* ---- characters ---- */

/*
 * Well-formed, and still not to be shown as it is: C1 controls, line and paragraph separators, and what turns the
 * direction of text around.
 */
static bool is_harmful(const uint8_t *p, size_t len)
{
	if (len == 2)
		return p[0] == 0xc2 && p[1] < 0xa0;
	if (len != 3 || p[0] != 0xe2)
		return false;
	return (p[1] == 0x80 && p[2] >= 0xa8 && p[2] <= 0xae) || (p[1] == 0x81 && p[2] >= 0xa6 && p[2] <= 0xa9);
}

static uint8_t *put_byte(uint8_t *t, uint8_t byte)
{
	*t++ = '\\';
	*t++ = 'x';
	return hf_text_put_hex_width(t, byte, 2);
}

size_t hf_stf_dump_character(uint8_t **ret_t, const uint8_t *p, size_t n)
{
	uint8_t *t = *ret_t;
	size_t len = 1;

	if (*p >= ' ' && *p <= '~') {
		*t = *p;
		t[1] = '\\';
		t += 1 + (*p == '\\');
	} else if ((len = hf_utf8_length(p, n)) && !is_harmful(p, len)) {
		memcpy(t, p, len);
		t += len;
	} else {
		len += len == 0;
		for (size_t i = 0; i < len; i++)
			t = put_byte(t, p[i]);
	}
	*ret_t = t;
	return len;
}

/* Such a name stands in every line of a transaction, as one word; a longer one is cut and ends with "~". */
#define CLOCK_NAME_MAX 40

static void name_clock(struct hf_stf_dump *d, unsigned clock, const uint8_t *name, size_t n)
{
	uint8_t text[CLOCK_NAME_MAX + 32], *t = text;

	while (n) {
		uint8_t *before = t;
		size_t len = 1;

		if (*name == ' ')
			t = put_byte(t, ' ');
		else
			len = hf_stf_dump_character(&t, name, n);
		if (t - text > CLOCK_NAME_MAX) {
			t = before;
			*t++ = '~';
			break;
		}
		name += len;
		n -= len;
	}
	d->clocks[clock].len = (uint8_t)(t - text);
	memcpy(d->clocks[clock].text, text, (size_t)(t - text));
}

void hf_stf_dump_name_clocks(struct hf_stf_dump *d)
{
	const struct hf_stf_bytes *clocks = &d->header->clocks;

	static_assert(CLOCK_NAME_MAX < sizeof d->clocks[0].text, "a name fits");
	for (size_t at = 0; at < clocks->n;) {
		const uint8_t *p = clocks->p + at;
		const size_t n = hf_get16(p + 2);

		name_clock(d, p[1], p + HF_STF_SIZE_CLOCK_ID, n);
		at += HF_STF_SIZE_CLOCK_ID + n;
	}
}

/* ---- lists ---- */

static uint8_t *end_line(struct hf_stf_dump *d, uint8_t *t)
{
	d->run = HF_STF_RUN_NONE;
	*t++ = '\n';
	return t;
}

static uint8_t *begin_list(struct hf_stf_dump *d, uint8_t *t, enum hf_stf_run run, const char *key, uint64_t count)
{
	d->run = (uint8_t)run;
	d->left = count;
	t = hf_text_put(t, key);
	*t = '-';
	return t + (count == 0);
}

uint8_t *hf_stf_dump_begin(struct hf_stf_dump *d, uint8_t *t, const uint8_t *p, uint64_t size)
{
	const unsigned head = string_heads[*p];

	d->record = d->at;
	if (head) {
		d->string = d->at += head;
		d->run = HF_STF_RUN_STRING;
		d->left = size - head;
		*t = ' ';
		return t + (d->left != 0);
	}
	switch (*p) {
	case HF_STF_INST_REG:
		if (size == HF_STF_SIZE_INST_REG)
			break;
		d->at += HF_STF_SIZE_INST_REG;
		return begin_list(d, t, HF_STF_RUN_VECTOR, "_", (size - HF_STF_SIZE_INST_REG) / 8);
	case HF_STF_EVENT:
		d->at += hf_stf_event_head(&d->header->layout);
		return begin_list(d, t, HF_STF_RUN_WORDS, " metadata=", p[hf_stf_event_head(&d->header->layout) - 1]);
	case HF_STF_PAGE_TABLE_WALK:
		d->at += HF_STF_SIZE_PAGE_TABLE_WALK;
		return begin_list(d, t, HF_STF_RUN_ENTRIES, " entries=", p[HF_STF_SIZE_PAGE_TABLE_WALK - 1]);
	case HF_STF_TRANSACTION:
		d->at += HF_STF_SIZE_TRANSACTION;
		return begin_list(d, t, HF_STF_RUN_META, " metadata=", hf_get16(p + HF_STF_SIZE_TRANSACTION - 2));
	default:
		break;
	}
	d->at += size;
	return end_line(d, t);
}

static uint8_t *put_key(uint8_t *t, const char *key, uint64_t value, unsigned digits)
{
	return hf_text_put_hex_width(hf_text_put(t, key), value, digits);
}

/* Behind the metadata of a transaction: its channel, up to the data. */
static uint8_t *begin_channel(struct hf_stf_dump *d, uint8_t *t)
{
	const uint8_t *p = hf_stf_dump_here(d);

	d->channel = *p;
	t = hf_text_put(t, " channel=");
	*t++ = (uint8_t)('A' + *p - 1);
	if (*p == 5) {
		t = put_key(t, " sink=", hf_get64(p + 1), 16);
		d->at += 9;
		return end_line(d, t);
	}
	t = put_key(t, " code=", p[1], 2);
	t = put_key(t, " param=", p[2], 2);
	t = put_key(t, " size=", p[3], 2);
	t = put_key(t, " source=", hf_get64(p + 4), 16);
	d->at += 14;
	return begin_list(d, t, HF_STF_RUN_BYTES, " data=", hf_get16(p + 12));
}

/* Behind its data. */
static uint8_t *end_channel(struct hf_stf_dump *d, uint8_t *t)
{
	const uint8_t *p = hf_stf_dump_here(d);

	t = put_key(t, d->channel == 4 ? " sink=" : " address=", hf_get64(p), 16);
	d->at += 8;
	if (d->channel > 2)
		return end_line(d, t);
	d->at += 2;
	return begin_list(d, t, HF_STF_RUN_MASK, " mask=", hf_get16(p + 8));
}

static uint8_t *put_meta(struct hf_stf_dump *d, uint8_t *t, const uint8_t *p)
{
	static const char keys[4][5] = {"u8:", "u16:", "u32:", "u64:"};
	uint64_t value = 0;

	memcpy(&value, p + 1, 1u << *p);
	d->at += 1 + (1u << *p);
	return put_key(t, keys[*p], value, 2u << *p);
}

/* Up to eight bits, the lowest first; the last byte of a mask may have fewer. */
static uint8_t *put_mask(struct hf_stf_dump *d, uint8_t *t, unsigned byte)
{
	for (unsigned i = 0; i < 8 && d->left; i++, d->left--)
		*t++ = (uint8_t)('0' + (byte >> i & 1));
	d->at++;
	return t;
}

static uint8_t *put_element(struct hf_stf_dump *d, uint8_t *t)
{
	const uint8_t *p = hf_stf_dump_here(d);

	switch (d->run) {
	case HF_STF_RUN_BYTES:
		d->at++;
		d->left--;
		return hf_text_put_hex_width(t, *p, 2);
	case HF_STF_RUN_MASK:
		return put_mask(d, t, *p);
	case HF_STF_RUN_META:
		t = put_meta(d, t, p);
		break;
	case HF_STF_RUN_ENTRIES:
		t = hf_text_put_hex16(t, hf_get64(p));
		*t++ = ':';
		t = hf_text_put_hex16(t, hf_get64(p + 8));
		d->at += 16;
		break;
	default:
		t = hf_text_put_hex16(t, hf_get64(p));
		d->at += 8;
	}
	d->left--;
	*t = d->run == HF_STF_RUN_VECTOR ? '_' : ',';
	return t + (d->left != 0);
}

uint8_t *hf_stf_dump_list(struct hf_stf_dump *d, uint8_t *t)
{
	const uint8_t *stop = d->text.page + HF_RECORDS_PAGE;

	while (d->run && t < stop) {
		if (d->left)
			t = put_element(d, t);
		else if (d->run == HF_STF_RUN_META)
			t = begin_channel(d, t);
		else if (d->run == HF_STF_RUN_BYTES)
			t = end_channel(d, t);
		else
			t = end_line(d, t);
	}
	return t;
}
