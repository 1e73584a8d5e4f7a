/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The layouts, each described once: the same function reads or writes, by the direction of its cursor, and is
 * instantiated for both. Where a text is wanted, it is written on the way.
 */
#include "codecs/etrace/packet.h"

#include "codecs/base/text.h"
#include "codecs/etrace/bits.h"
#include "codecs/etrace/errors.h"

struct cursor {
	struct hf_etrace_bits b;
	const struct hf_etrace_params *params;
	uint32_t modes;
	unsigned address_end; /* writing: position behind an address of formats 1 and 2, 0: none */
	uint8_t *text;        /* writing: behind what was shown so far; NULL: nothing is to be shown */
};

static inline void show(struct cursor *c, const char *name)
{
	if (c->text)
		c->text = hf_text_put(c->text, name);
}

static inline void show_dec(struct cursor *c, const char *name, uint64_t v)
{
	if (c->text)
		c->text = hf_text_put_dec(hf_text_put(c->text, name), v);
}

static inline void show_hex(struct cursor *c, const char *name, uint64_t v)
{
	if (c->text)
		c->text = hf_text_put_hex(hf_text_put(c->text, name), v);
}

/* The bit before the next field. */
static inline bool last_bit(const struct cursor *c)
{
	return c->b.bytes[(c->b.pos - 1) / 8] >> (c->b.pos - 1) % 8 & 1;
}

#define FIELD(c, member, width) HF_ETRACE_FIELD(&(c)->b, member, width)
#define DEC(c, name, member, width) (FIELD(c, member, width), show_dec(c, name, member))
#define HEX(c, name, member, width) (FIELD(c, member, width), show_hex(c, name, member))

/* A flag that is coded against the bit before it; returns the bit itself. */
static inline bool flag(struct cursor *c, bool before, bool *flag)
{
	const bool bit = hf_etrace_field(&c->b, before ^ *flag, 1);

	*flag = before ^ bit;
	return bit;
}

static inline unsigned address_width(const struct cursor *c)
{
	return c->params->iaddress_width - c->params->iaddress_lsb;
}

/* A signed difference, or an address. */
static void show_address(struct cursor *c, const struct hf_etrace_packet *pkt)
{
	const int64_t delta = (int64_t)(pkt->address << c->params->iaddress_lsb);

	if (pkt->format == 3 || (c->modes & HF_ETRACE_FULL_ADDRESS))
		show_hex(c, " address=", hf_etrace_unshift(c->params, pkt->address));
	else if (delta < 0)
		show_hex(c, " address=-", -(uint64_t)delta);
	else
		show_hex(c, " address=+", (uint64_t)delta);
}

static inline void address(struct cursor *c, struct hf_etrace_packet *pkt, unsigned width)
{
	c->b.bad |= c->b.writing && hf_etrace_extend(pkt->address, width) != pkt->address;
	pkt->address = hf_etrace_signed_field(&c->b, pkt->address, width);
	pkt->has_address = true;
	show_address(c, pkt);
}

/* irreport and the depth, or 2.1's irets, behind it. */
static inline void report(struct cursor *c, struct hf_etrace_packet *pkt, bool before)
{
	const unsigned width = hf_etrace_depth_width(c->params, c->modes);
	bool bit;

	if (!c->params->irreport)
		return;
	bit = flag(c, before, &pkt->irreport);
	if (c->b.writing && !pkt->irreport)
		hf_etrace_field(&c->b, hf_etrace_low(bit ? UINT64_MAX : 0, width), width);
	else
		FIELD(c, pkt->irdepth, width);
	if (pkt->irreport)
		show_dec(c, " irreport irdepth=", pkt->irdepth);
}

/*
 * The width of an address in PULP's dialect: 8 k + 1 bits, of which only the length of the payload tells. There the
 * notify bit repeats the top bit of the absolute address and is no flag.
 */
static unsigned pulp_width(const struct cursor *c, const struct hf_etrace_packet *pkt)
{
	const unsigned depth = c->params->irreport ? 1 + hf_etrace_depth_width(c->params, c->modes) : 0;
	const unsigned behind = 2 + depth, most = address_width(c);
	unsigned width = 9;

	if (!c->b.writing) {
		const unsigned left = c->b.size > c->b.pos + behind ? c->b.size - c->b.pos - behind : 0;

		width = left < 9 ? 0 : 8 * ((left - 1) / 8) + 1;
		return width < most ? width : most;
	}
	while (width < most && hf_etrace_extend(pkt->address, width) != pkt->address)
		width += 8;
	return width < most ? width : most;
}

/* address, notify, updiscon, irreport, irdepth */
static inline void tail(struct cursor *c, struct hf_etrace_packet *pkt)
{
	const bool pulp = c->params->support == HF_ETRACE_SUPPORT_PULP;
	const unsigned width = pulp ? pulp_width(c, pkt) : address_width(c);
	bool bit;

	address(c, pkt, width);
	bit = flag(c, pkt->address >> 63, &pkt->notify);
	if (pulp)
		pkt->notify = false;
	show(c, pkt->notify ? " notify" : "");
	bit = flag(c, bit, &pkt->updiscon);
	show(c, pkt->updiscon ? " updiscon" : "");
	report(c, pkt, bit);
	c->address_end = c->b.pos;
}

/* Oldest first: T taken, N not. */
static void show_map(struct cursor *c, const struct hf_etrace_packet *pkt, unsigned outcomes)
{
	show(c, outcomes ? " map=" : "");
	for (unsigned i = 0; i < outcomes; i++)
		show(c, pkt->branch_map >> i & 1 ? "N" : "T");
}

static inline void map(struct cursor *c, struct hf_etrace_packet *pkt, unsigned outcomes)
{
	FIELD(c, pkt->branch_map, hf_etrace_map_width(outcomes));
	if (!c->b.writing)
		pkt->branch_map = (uint32_t)hf_etrace_low(pkt->branch_map, outcomes);
	if (c->text)
		show_map(c, pkt, outcomes);
}

static inline void format0(struct cursor *c, struct hf_etrace_packet *pkt)
{
	const uint32_t both = HF_ETRACE_BRANCH_PREDICTION | HF_ETRACE_JUMP_TARGET_CACHE;

	if (c->params->f0s_width)
		FIELD(c, pkt->subformat, c->params->f0s_width);
	else if ((c->modes & both) == 0 || (c->modes & both) == both)
		c->b.bad = true; /* nothing says which of them it is */
	else
		pkt->subformat = c->modes & HF_ETRACE_BRANCH_PREDICTION ? HF_ETRACE_COUNT : HF_ETRACE_INDEX;
	show_dec(c, ".", pkt->subformat);
	if (pkt->subformat == HF_ETRACE_INDEX) {
		bool before;

		DEC(c, " index=", pkt->index, c->params->cache_size);
		DEC(c, " branches=", pkt->branches, 5);
		before = pkt->branches >> 4;
		map(c, pkt, pkt->branches);
		if (pkt->branches) /* as received: bits above the outcomes count */
			before = last_bit(c);
		report(c, pkt, before);
	} else if (pkt->subformat == HF_ETRACE_COUNT) {
		FIELD(c, pkt->branch_count, 32);
		show_dec(c, " correct=", pkt->branch_count + UINT64_C(31));
		DEC(c, " branch_fmt=", pkt->branch_fmt, 2);
		c->b.bad |= pkt->branch_fmt == 1;
		if (pkt->branch_fmt != HF_ETRACE_FAILED)
			tail(c, pkt);
		c->address_end = 0;
	} else {
		c->b.bad = true;
	}
}

static inline void sync_head(struct cursor *c, struct hf_etrace_packet *pkt)
{
	DEC(c, " privilege=", pkt->privilege, c->params->privilege_width);
	if (c->params->time_width)
		DEC(c, " time=", pkt->time, c->params->time_width);
	if (c->params->context_width)
		HEX(c, " context=", pkt->context, c->params->context_width);
}

static inline void trap(struct cursor *c, struct hf_etrace_packet *pkt)
{
	const bool old = c->params->version == HF_ETRACE_1_1_1;

	DEC(c, " ecause=", pkt->ecause, c->params->ecause_width);
	DEC(c, " interrupt=", pkt->interrupt, 1);
	if (old)
		pkt->thaddr = true;
	else
		DEC(c, " thaddr=", pkt->thaddr, 1);
	if (!(c->modes & HF_ETRACE_IMPLICIT_EXCEPTION) || !pkt->thaddr)
		address(c, pkt, address_width(c));
	if (old || !pkt->interrupt)
		HEX(c, old ? " tvalepc=" : " tval=", pkt->tval, c->params->iaddress_width);
}

static inline unsigned support_width(uint8_t width, uint8_t own)
{
	return width == HF_ETRACE_OWN ? own : width;
}

/* A dialect without a field has no bits of it. */
static inline void support(struct cursor *c, struct hf_etrace_packet *pkt)
{
	static const char *const status[] = {"no_change", "ended_rep", "trace_lost", "ended_upd"};
	static const struct {
		uint8_t mode, options, data;
	} own[] = {
		[HF_ETRACE_SUPPORT_REFERENCE] = {1, 5, 4},
		[HF_ETRACE_SUPPORT_PULP] = {1, 7, 0},
		[HF_ETRACE_SUPPORT_ESP32] = {0, 0, 0},
		[HF_ETRACE_SUPPORT_STANDARD] = {2, 26, 5},
	};
	const struct hf_etrace_params *p = c->params;
	const bool data = p->support != HF_ETRACE_SUPPORT_PULP && p->support != HF_ETRACE_SUPPORT_ESP32;

	DEC(c, " enable=", pkt->enable, 1);
	DEC(c, " encoder_mode=", pkt->encoder_mode, support_width(p->encoder_mode_width, own[p->support].mode));
	FIELD(c, pkt->qual_status, 2);
	show(c, " qual_status=");
	show(c, status[pkt->qual_status]);
	HEX(c, " options=", pkt->options, support_width(p->ioptions_width, own[p->support].options));
	if (p->version == HF_ETRACE_1_1_1)
		return;
	DEC(c, " denable=", pkt->denable, data);
	DEC(c, " dloss=", pkt->dloss, data);
	HEX(c, " doptions=", pkt->doptions, support_width(p->doptions_width, own[p->support].data));
}

static inline void format3(struct cursor *c, struct hf_etrace_packet *pkt)
{
	static const char *const names[] = {" sync", " trap", " context", " support"};

	DEC(c, ".", pkt->subformat, 2);
	show(c, names[pkt->subformat]);
	switch (pkt->subformat) {
	case HF_ETRACE_SYNC:
		DEC(c, " branch=", pkt->branch, 1);
		sync_head(c, pkt);
		address(c, pkt, address_width(c));
		break;
	case HF_ETRACE_TRAP:
		DEC(c, " branch=", pkt->branch, 1);
		sync_head(c, pkt);
		trap(c, pkt);
		break;
	case HF_ETRACE_CONTEXT:
		sync_head(c, pkt);
		break;
	default:
		support(c, pkt);
	}
}

static inline __attribute__((always_inline)) void packet(struct cursor *c, struct hf_etrace_packet *pkt)
{
	DEC(c, "F", pkt->format, 2);
	switch (pkt->format) {
	case 0:
		format0(c, pkt);
		break;
	case 1:
		DEC(c, " branches=", pkt->branches, 5);
		map(c, pkt, hf_etrace_outcomes(pkt));
		if (pkt->branches)
			tail(c, pkt);
		break;
	case 2:
		tail(c, pkt);
		break;
	default:
		format3(c, pkt);
	}
}

/*
 * What no encoder makes: a payload that is longer than its fields by more than the filling of a transport, and codes of
 * no privilege level. Both are signs of damage.
 */
static bool is_implausible(const struct cursor *c, const struct hf_etrace_packet *pkt)
{
	const uint8_t layout = c->params->support;

	if (pkt->format == 3 && pkt->subformat == HF_ETRACE_SUPPORT)
		return false; /* vendors may add to it */
	if (pkt->format == 3 && (pkt->privilege == 2 || pkt->privilege > 6))
		return true;
	return layout != HF_ETRACE_SUPPORT_PULP && layout != HF_ETRACE_SUPPORT_ESP32 && c->b.size >= c->b.pos + 16;
}

int hf_etrace_packet_read(const struct hf_etrace_params *params, uint32_t modes, const uint8_t *payload, size_t n,
			  struct hf_etrace_packet *ret_pkt)
{
	struct cursor c;

	if (n == 0 || n > HF_ETRACE_PAYLOAD_MAX)
		return HF_ERR_ETRACE_PACKET;
	c.params = params;
	c.modes = modes;
	c.text = NULL;
	hf_etrace_bits_read(&c.b, payload, n);
	memset(ret_pkt, 0, sizeof *ret_pkt);
	ret_pkt->length = (uint8_t)n;
	packet(&c, ret_pkt);
	c.b.bad |= is_implausible(&c, ret_pkt);
	return c.b.bad ? HF_ERR_ETRACE_PACKET : 0;
}

static void write_fields(struct cursor *c, const struct hf_etrace_params *params, uint32_t modes,
			 struct hf_etrace_packet *pkt)
{
	*c = (struct cursor){.b.writing = true, .params = params, .modes = modes};
	packet(c, pkt);
}

size_t hf_etrace_packet_write(const struct hf_etrace_params *params, uint32_t modes, struct hf_etrace_packet *pkt,
			      uint8_t *payload)
{
	struct cursor c;
	size_t n;

	write_fields(&c, params, modes, pkt);
	n = hf_etrace_bits_end(&c.b);
	if (params->support != HF_ETRACE_SUPPORT_PULP && (params->compression == HF_ETRACE_COMPRESS_FULL ||
	    (params->compression == HF_ETRACE_COMPRESS_ADDRESS && c.address_end)))
		n = hf_etrace_bits_compress(&c.b, n);
	if (c.b.bad || n > HF_ETRACE_PAYLOAD_MAX)
		return 0;
	memcpy(payload, c.b.bytes, n);
	pkt->length = (uint8_t)n;
	return n;
}

uint8_t *hf_etrace_packet_show(const struct hf_etrace_params *params, uint32_t modes,
			       const struct hf_etrace_packet *pkt, uint8_t *text)
{
	struct hf_etrace_packet copy = *pkt;
	struct cursor c = {.b.writing = true, .params = params, .modes = modes, .text = text};

	packet(&c, &copy);
	return c.text;
}

unsigned hf_etrace_packet_bits(const struct hf_etrace_params *params, uint32_t modes,
			       const struct hf_etrace_packet *pkt)
{
	struct hf_etrace_packet copy = *pkt;
	struct cursor c;

	write_fields(&c, params, modes, &copy);
	return c.b.bad ? 0 : c.b.pos;
}
