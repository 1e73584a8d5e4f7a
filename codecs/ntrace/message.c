/* SPDX-License-Identifier: Apache-2.0 */
#include "codecs/ntrace/message.h"

#include "codecs/ntrace/errors.h"

#include <string.h>

/* The low two bits of a byte (3.1). */
enum mseo {
	MSEO_MORE = 0,
	MSEO_FIELD = 1,   /* ends a variable field */
	MSEO_INVALID = 2,
	MSEO_MESSAGE = 3, /* ends the message */
};

#define MDO_BITS 6u

/* ---- tables ---- */

/* The .def files name fields without a prefix. */
enum {
#define HF_NTRACE_FIELD(name, ...) name = HF_NTRACE_FIELD_##name,
#include "codecs/ntrace/fields.def"
#undef HF_NTRACE_FIELD
};

/* The most fields of a message, and HF_NTRACE_FIELD_NONE behind them. */
#define FIELDS_MAX 6

static const uint8_t message_fields[HF_NTRACE_TCODES][FIELDS_MAX] = {
#define HF_NTRACE_MESSAGE(tcode, name, text, ...) [tcode] = {__VA_ARGS__},
#include "codecs/ntrace/messages.def"
#undef HF_NTRACE_MESSAGE
};

static const char *const message_names[HF_NTRACE_TCODES] = {
#define HF_NTRACE_MESSAGE(tcode, name, text, ...) [tcode] = (text),
#include "codecs/ntrace/messages.def"
#undef HF_NTRACE_MESSAGE
};

static const struct {
	const char *text;
	uint8_t width; /* bits; 0: variable */
	bool hex;
	uint64_t max;
} field_table[HF_NTRACE_FIELDS] = {
#define HF_NTRACE_FIELD(name, text, width, max, member, hex) [name] = {(text), (width), (hex), (max)},
#include "codecs/ntrace/fields.def"
#undef HF_NTRACE_FIELD
};

/* TCODE 56 is a vendor's, unless the description explains it. */
static bool is_explained(const struct hf_ntrace_params *params, unsigned tcode)
{
	return tcode != HF_NTRACE_TRAP_VALUE || params->trap_values;
}

const uint8_t *hf_ntrace_fields(const struct hf_ntrace_params *params, unsigned tcode)
{
	static const uint8_t none[1];

	return is_explained(params, tcode) ? message_fields[tcode] : none;
}

const char *hf_ntrace_tcode_name(const struct hf_ntrace_params *params, unsigned tcode)
{
	return is_explained(params, tcode) ? message_names[tcode] : NULL;
}

const char *hf_ntrace_field_name(unsigned field)
{
	return field_table[field].text;
}

static bool is_address(unsigned field)
{
	return field == FADDR || field == UADDR;
}

bool hf_ntrace_has_field(const struct hf_ntrace_message *msg, unsigned field)
{
	if (field == HREPEAT)
		return msg->rcode == HF_NTRACE_RCODE_HREPEAT;
	if (field == HIST && msg->tcode == HF_NTRACE_CORRELATION)
		return msg->cdf == 1;
	if (field == CKDATA1)
		return msg->cdf == 1;
	return true;
}

static bool rdata_is_history(const struct hf_ntrace_message *msg)
{
	return msg->rcode == HF_NTRACE_RCODE_HIST || msg->rcode == HF_NTRACE_RCODE_HREPEAT;
}

#define VISIT(member, shift) \
	((set ? (msg->member = (__typeof__(msg->member))(v << (shift))) : (uint64_t)msg->member) >> (shift))

/* Reads the member that a field is in, or sets it. */
static inline __attribute__((always_inline)) uint64_t visit_field(struct hf_ntrace_message *msg, unsigned field,
								  bool set, uint64_t v)
{
	switch (field) {
#define HF_NTRACE_FIELD(name, text, width, max, member, hex) \
	case name: \
		return name == RDATA && rdata_is_history(msg) ? VISIT(hist, 0) : VISIT(member, is_address(name));
#include "codecs/ntrace/fields.def"
#undef HF_NTRACE_FIELD
	default: return 0;
	}
}

uint64_t hf_ntrace_field(const struct hf_ntrace_message *msg, unsigned field)
{
	return visit_field((struct hf_ntrace_message *)(uintptr_t)msg, field, false, 0);
}

static void set_field(struct hf_ntrace_message *msg, unsigned field, uint64_t v)
{
	visit_field(msg, field, true, v);
}

/* RDATA0 of ResourceFull may be a count, which is shown in decimal. */
static bool is_hex(const struct hf_ntrace_message *msg, unsigned field)
{
	if (field != RDATA)
		return field_table[field].hex;
	return msg->rcode != HF_NTRACE_RCODE_ICNT && msg->rcode != HF_NTRACE_RCODE_NOT_TAKEN &&
	       msg->rcode != HF_NTRACE_RCODE_TAKEN;
}

bool hf_ntrace_show_field(const struct hf_ntrace_message *msg, unsigned field, struct hf_ntrace_shown *ret_shown)
{
	if (!hf_ntrace_has_field(msg, field))
		return false;
	*ret_shown = (struct hf_ntrace_shown){
		.name = field_table[field].text,
		.value = is_address(field) ? msg->address : hf_ntrace_field(msg, field),
		.hex = is_hex(msg, field),
	};
	return true;
}

/* ---- reading ---- */

/* How far a message has been read. Its end is known. */
struct cursor {
	const uint8_t *bytes;
	uint32_t n;    /* bytes of the message */
	uint32_t at;   /* byte */
	uint32_t bit;  /* in its MDO; MDO_BITS: all are read */
	bool bad;      /* a field was not where it should be */
};

/* Goes to the next byte if all bits of this one are read. False: there the field ends, or the message. */
static inline bool turn(struct cursor *c)
{
	if (c->bit == MDO_BITS) {
		if ((c->bytes[c->at] & 3) != MSEO_MORE)
			return false;
		c->at++;
		c->bit = 0;
	}
	return c->at < c->n;
}

static uint32_t read_fixed(struct cursor *c, unsigned width)
{
	uint32_t v = 0;

	for (unsigned done = 0; done < width;) {
		unsigned take = width - done;

		if (!turn(c)) {
			c->bad = true;
			return 0;
		}
		take = take < MDO_BITS - c->bit ? take : MDO_BITS - c->bit;
		v |= (c->bytes[c->at] >> 2 >> c->bit & ((1u << take) - 1)) << done;
		c->bit += take;
		done += take;
	}
	return v;
}

/* Reads a variable-length field. Bits beyond the 64th are ORed into *ret_surplus. */
static uint64_t read_variable(struct cursor *c, unsigned *ret_width, uint64_t *ret_surplus)
{
	uint64_t v = 0, surplus = 0;
	unsigned width = 0;

	if (!turn(c)) {
		c->bad = true;
		*ret_width = 0;
		*ret_surplus = 0;
		return 0;
	}
	for (;;) {
		const uint8_t byte = c->bytes[c->at++];
		const uint64_t bits = (uint64_t)(byte >> 2 >> c->bit);

		if (width < 64) {
			v |= bits << width;
			surplus |= width > 58 ? bits >> (64 - width) : 0;
		} else {
			surplus |= bits;
		}
		width += MDO_BITS - c->bit;
		c->bit = 0;
		if ((byte & 3) != MSEO_MORE)
			break;
	}
	*ret_width = width;
	*ret_surplus = surplus;
	return v;
}

/* Whether the unit sends more bits of addresses than they are said to have, and all of them equal the highest. */
static bool is_signed(const struct hf_ntrace_params *params, unsigned src, uint64_t v)
{
	const unsigned bits = hf_ntrace_address_bits(params, src), xlen = hf_ntrace_xlen(params, src);
	const uint64_t high = v >> (bits - 2);

	return bits < xlen && v >> (xlen - 1) == 0 && (high & (high + 1)) == 0;
}

/* Reads an address field. Its high bits may be cut (9.4), or there may be more bits than an address has. */
static int read_address(const struct hf_ntrace_params *params, unsigned src, struct cursor *c, uint64_t *ret_v)
{
	const bool cut = params->addr_msb_ext != hf_ntrace_source_in(&params->other_msb_ext, src);
	const unsigned bits = hf_ntrace_address_bits(params, src) - 1;
	const uint64_t mask = (UINT64_C(1) << bits) - 1;
	unsigned width;
	uint64_t surplus, v = read_variable(c, &width, &surplus);

	if (cut) {
		if (width && width < bits && v >> (width - 1) & 1)
			v |= ~UINT64_C(0) << width;
	} else if (surplus || (v > mask && !is_signed(params, src, v))) {
		return HF_ERR_NTRACE_VALUE;
	}
	*ret_v = v & mask;
	return 0;
}

static int read_field(const struct hf_ntrace_params *params, struct cursor *c, unsigned field,
		      struct hf_ntrace_message *msg)
{
	uint64_t v, surplus = 0;
	unsigned width;

	if (field_table[field].width) {
		v = read_fixed(c, field_table[field].width);
	} else if (is_address(field)) {
		int err = read_address(params, msg->src, c, &v);

		if (err)
			return err;
	} else {
		v = read_variable(c, &width, &surplus);
	}
	if (surplus || v > field_table[field].max)
		return HF_ERR_NTRACE_VALUE;
	set_field(msg, field, v);
	if (field == FADDR)
		msg->address = hf_ntrace_extend(params, msg->src, msg->address);
	return 0;
}

/* Whether the message has a value that no encoder may send and no reader understands. */
static bool is_reserved(const struct hf_ntrace_message *msg)
{
	switch (msg->tcode) {
	case HF_NTRACE_RESOURCE_FULL:
		if (msg->rcode > HF_NTRACE_RCODE_HREPEAT)
			return msg->rcode < 8;
		return (rdata_is_history(msg) && msg->hist < 2) ||
		       (msg->rcode == HF_NTRACE_RCODE_HREPEAT && msg->hrepeat == 0);
	case HF_NTRACE_INDIRECT_BRANCH_HIST:
	case HF_NTRACE_INDIRECT_BRANCH_HIST_SYNC:
		return msg->hist == 0;
	case HF_NTRACE_CORRELATION:
		return msg->cdf > 1 || (msg->cdf == 1 && msg->hist == 0);
	case HF_NTRACE_DATA_ACQUISITION:
	case HF_NTRACE_AUX_ACCESS_WRITE:
		/* so many bytes were written: those up to the end of a word */
		return msg->value >> (32 - 8 * (msg->icnt & 3));
	case HF_NTRACE_CIRCUIT:
	case HF_NTRACE_CIRCUIT_SYNC:
		return msg->cdf > 1;
	default:
		return false;
	}
}

bool hf_ntrace_is_odd(const struct hf_ntrace_message *msg)
{
	if (hf_ntrace_is_sync(msg->tcode))
		return msg->sync == 8 || (msg->sync >= 10 && msg->sync <= 13);
	if (msg->tcode == HF_NTRACE_CORRELATION)
		return msg->evcode == 2 || msg->evcode == 3 || (msg->evcode >= 5 && msg->evcode <= 7);
	return msg->tcode == HF_NTRACE_ERROR && msg->etype >= 1 && msg->etype <= 7;
}

static int read_fields(const struct hf_ntrace_params *params, struct cursor *c, struct hf_ntrace_message *msg)
{
	const uint8_t *fields = hf_ntrace_fields(params, msg->tcode);
	unsigned width;
	uint64_t surplus;
	int err = 0;

	for (unsigned i = 0; i < FIELDS_MAX && fields[i] && !err && !c->bad; i++)
		if (hf_ntrace_has_field(msg, fields[i]))
			err = read_field(params, c, fields[i], msg);
	if (c->bad)
		return HF_ERR_NTRACE_FIELDS;
	if (err)
		return err;
	if (c->at < c->n) {
		msg->has_time = true;
		msg->time = read_variable(c, &width, &surplus);
		if (surplus)
			return HF_ERR_NTRACE_VALUE;
	}
	if (c->at < c->n)
		return HF_ERR_NTRACE_FIELDS;
	return is_reserved(msg) ? HF_ERR_NTRACE_VALUE : 0;
}

/* Reads up to 64 bits, whatever they mean. */
static uint64_t read_raw(struct cursor *c)
{
	uint64_t v = 0;

	for (unsigned width = 0; c->at < c->n && width < 64; c->at++, c->bit = 0) {
		v |= (uint64_t)(c->bytes[c->at] >> 2 >> c->bit) << width;
		width += MDO_BITS - c->bit;
	}
	return v;
}

/* Reads TCODE and SRC, if the bytes are enough. */
static void read_head(const struct hf_ntrace_params *params, struct cursor *c, struct hf_ntrace_message *msg)
{
	msg->tcode = (uint8_t)read_fixed(c, 6);
	if (params->srcbits && !c->bad)
		msg->src = (uint16_t)read_fixed(c, params->srcbits);
	msg->has_src = !c->bad;
}

/* Finds the first byte that ends a message. */
static int find_end(const uint8_t *bytes, size_t n, uint32_t *ret_length)
{
	const size_t most = n < HF_NTRACE_MESSAGE_MAX ? n : HF_NTRACE_MESSAGE_MAX;
	size_t i;

	*ret_length = 1;
	if ((bytes[0] & 3) != MSEO_MORE)
		return HF_ERR_NTRACE_MSEO;
	for (i = 1; i < most; i++) {
		*ret_length = (uint32_t)i + 1;
		if ((bytes[i] & 3) == MSEO_MESSAGE)
			return 0;
		if ((bytes[i] & 3) == MSEO_INVALID)
			return HF_ERR_NTRACE_MSEO;
	}
	*ret_length = (uint32_t)i;
	return i < HF_NTRACE_MESSAGE_MAX ? (int)HF_NOTE_END : HF_ERR_NTRACE_LONG;
}

int hf_ntrace_message_read(const struct hf_ntrace_params *params, const uint8_t *bytes, size_t n,
			   struct hf_ntrace_message *ret_msg)
{
	struct cursor c = {.bytes = bytes};
	int err = find_end(bytes, n, &c.n);

	*ret_msg = (struct hf_ntrace_message){.length = c.n};
	read_head(params, &c, ret_msg);
	if (err)
		return err;
	if (c.bad)
		return HF_ERR_NTRACE_FIELDS;
	if (*hf_ntrace_fields(params, ret_msg->tcode))
		return read_fields(params, &c, ret_msg);
	ret_msg->value = read_raw(&c);
	return ret_msg->tcode >= HF_NTRACE_VENDOR_FIRST && ret_msg->tcode <= HF_NTRACE_VENDOR_LAST ?
		       0 :
		       HF_ERR_NTRACE_TCODE;
}

/* ---- writing ---- */

struct writer {
	uint8_t *bytes;
	uint32_t n;
	uint32_t mdo;  /* bits that no byte holds yet */
	uint32_t bits; /* number of them, < MDO_BITS */
};

static void write_fixed(struct writer *w, unsigned width, uint32_t v)
{
	w->mdo |= v << w->bits;
	w->bits += width;
	while (w->bits >= MDO_BITS) {
		w->bytes[w->n++] = (uint8_t)(w->mdo << 2);
		w->mdo >>= MDO_BITS;
		w->bits -= MDO_BITS;
	}
}

/* A field has at least one bit, so the value 0 takes the rest of an open byte, or a byte of its own. */
static void write_variable(struct writer *w, uint64_t v)
{
	do {
		const unsigned room = MDO_BITS - w->bits;

		w->bytes[w->n++] = (uint8_t)((w->mdo | (uint32_t)(v & ((1u << room) - 1)) << w->bits) << 2);
		v >>= room;
		w->mdo = 0;
		w->bits = 0;
	} while (v);
	w->bytes[w->n - 1] |= MSEO_FIELD;
}

/*
 * Writes an address in as few MDOs as keep its value: readers fill the high bits that are not sent with the highest bit
 * that is (9.4). An address begins in a byte of its own, because I-CNT stands before it.
 */
static void write_extended(struct writer *w, unsigned bits, uint64_t v)
{
	const uint64_t filled = v >> (bits - 1) & 1 ? v | ~UINT64_C(0) << bits : v;
	const int64_t whole = (int64_t)filled;
	unsigned sent = MDO_BITS;

	while (sent < bits && (whole >> (sent - 1)) != 0 && (whole >> (sent - 1)) != -1)
		sent += MDO_BITS;
	for (unsigned done = 0; done < sent; done += MDO_BITS)
		w->bytes[w->n++] = (uint8_t)((v >> done & 0x3f) << 2);
	w->bytes[w->n - 1] |= MSEO_FIELD;
}

size_t hf_ntrace_message_write(const struct hf_ntrace_params *params, const struct hf_ntrace_message *msg,
			       uint8_t *bytes)
{
	const uint8_t *fields = hf_ntrace_fields(params, msg->tcode);
	struct writer w = {.bytes = bytes};

	write_fixed(&w, 6, msg->tcode);
	write_fixed(&w, params->srcbits, msg->src);
	for (unsigned i = 0; i < FIELDS_MAX && fields[i]; i++) {
		const unsigned bits = hf_ntrace_address_bits(params, msg->src) - 1;
		uint64_t v = hf_ntrace_field(msg, fields[i]);

		if (is_address(fields[i]))
			v &= (UINT64_C(1) << bits) - 1;
		if (!hf_ntrace_has_field(msg, fields[i]))
			continue;
		if (field_table[fields[i]].width)
			write_fixed(&w, field_table[fields[i]].width, (uint32_t)v);
		else if (is_address(fields[i]) && params->addr_msb_ext)
			write_extended(&w, bits, v);
		else
			write_variable(&w, v);
	}
	if (msg->has_time)
		write_variable(&w, msg->time);
	w.bytes[w.n - 1] |= MSEO_MESSAGE;
	return w.n;
}
