/* SPDX-License-Identifier: Apache-2.0 */
/* Opens an N-Trace capture: what its description says (parameters, parts), and what its first bytes show. */
#include "codecs/ntrace/decoder.h"

#include <stdio.h>
#include <stdlib.h>

/* The most bytes of the stream that are looked at when it is opened. */
#define LOOK_MAX (1u << 20)

/* Where the first message begins, if the buffer may begin inside one. */
static size_t first_message(const struct hf_ntrace_params *params, const uint8_t *bytes, size_t n)
{
	size_t at = 0;

	while (params->wrapped && at < n && (bytes[at++] & 3) != 3)
		;
	return at;
}

/*
 * The SRC of the hart that is decoded first: that of the first synchronising message. If no message synchronises, it is
 * that of the first message, so that one hart reports the loss.
 */
static uint32_t first_source(const struct hf_ntrace_params *params, const uint8_t *bytes, size_t n)
{
	struct hf_ntrace_message msg;
	uint32_t first = 0;
	bool found = false;
	size_t at = first_message(params, bytes, n);

	while (at < n) {
		int err;

		if (hf_ntrace_is_padding(bytes[at])) {
			at++;
			continue;
		}
		err = hf_ntrace_message_read(params, bytes + at, n - at, &msg);
		if (err == 0 && hf_ntrace_is_sync(msg.tcode))
			return msg.src;
		if (!found && msg.has_src) {
			first = msg.src;
			found = true;
		}
		if (err == HF_NOTE_END)
			break;
		at += msg.length;
	}
	return first;
}

/* Counts messages, and those among them that no encoder sends (odd). */
struct oddity {
	unsigned messages, odd;
};

static bool is_odd(const struct hf_setup *setup, const struct hf_ntrace_message *msg, int err)
{
	const struct hf_program *program = hf_setup_program(setup, HF_SETUP_ANY, HF_SETUP_NO_CONTEXT, HF_MEMORY_ANY);
	uint64_t n;

	if (err || hf_ntrace_is_odd(msg))
		return true;
	return hf_ntrace_is_sync(msg->tcode) && program && !hf_program_at(program, msg->address, &n);
}

static struct oddity count_oddities(const struct hf_setup *setup, struct hf_ntrace_params params, unsigned srcbits,
				    const uint8_t *bytes, size_t n)
{
	struct oddity o = {0};
	struct hf_ntrace_message msg;
	size_t at = 0;

	params.srcbits = (uint8_t)srcbits;
	while (at < n && (bytes[at++] & 3) != 3)
		;
	while (at < n) {
		int err = 0;

		if (hf_ntrace_is_padding(bytes[at])) {
			at++;
			continue;
		}
		err = hf_ntrace_message_read(&params, bytes + at, n - at, &msg);
		if (err == HF_NOTE_END)
			break;
		o.messages++;
		o.odd += is_odd(setup, &msg, err);
		at += msg.length;
	}
	return o;
}

/* Bytes and messages that are looked at to guess how wide SRC is and how words are stored. */
#define GUESS_LOOK (1u << 15)
#define GUESS_MESSAGES 16

static bool is_wrong(struct oddity o)
{
	return o.messages >= GUESS_MESSAGES && o.odd >= o.messages / 16;
}

static bool is_right(struct oddity o)
{
	return o.messages >= GUESS_MESSAGES && !o.odd;
}

/*
 * The width of SRC in the description, unless that makes odd messages and another width makes none. Of such widths the
 * smallest is taken: a SRC that is too wide takes bits from fields that may have any value, so nothing looks odd.
 */
static uint8_t guess_srcbits(const struct hf_setup *setup, const struct hf_ntrace_params *params, const uint8_t *bytes,
			     size_t n)
{
	const size_t look = n < GUESS_LOOK ? n : GUESS_LOOK;

	if (!is_wrong(count_oddities(setup, *params, params->srcbits, bytes, look)))
		return params->srcbits;
	for (uint8_t bits = 0; bits <= HF_NTRACE_SRCBITS_MAX; bits++)
		if (is_right(count_oddities(setup, *params, bits, bytes, look)))
			return bits;
	return params->srcbits;
}

/* The same for word_bytes: another size is taken if it makes no odd messages, and the size in the description does. */
static int guess_word_bytes(const struct hf_setup *setup, const struct hf_ntrace_params *params, struct hf_src *src,
			    uint8_t id, const uint8_t *bytes, size_t n, uint8_t *ret_word_bytes)
{
	const size_t look = n < GUESS_LOOK ? n : GUESS_LOOK;
	struct hf_ntrace_params other = *params;
	uint8_t *again;
	int err = 0;

	*ret_word_bytes = params->word_bytes;
	if (!is_wrong(count_oddities(setup, *params, params->srcbits, bytes, look)))
		return 0;
	again = malloc(GUESS_LOOK);
	if (!again)
		return HF_ERR_NOMEM;
	for (uint8_t word = 1; word <= 8 && !err && *ret_word_bytes == params->word_bytes; word *= 2) {
		other.word_bytes = word;
		err = hf_ntrace_input_sample(setup, &other, src, id, again, GUESS_LOOK, &n, NULL);
		if (!err && is_right(count_oddities(setup, other, params->srcbits, again, n)))
			*ret_word_bytes = word;
	}
	free(again);
	return err;
}

static uint8_t lowest_id(const uint64_t seen[2])
{
	for (uint8_t id = 1; id <= HF_CORESIGHT_ID_MAX; id++)
		if (seen[id / 64] >> id % 64 & 1)
			return id;
	return 0;
}

/* Learns from the first bytes: the first hart, the trace id whose bytes have SRC, whether the description fits. */
static int look_at(struct hf_ntrace_stream *stream, struct hf_src *src, const struct hf_setup *setup,
		   const struct hf_ntrace_params *params)
{
	struct hf_stream_info *info = &stream->base.info;
	const size_t look = src->size < LOOK_MAX ? (size_t)src->size : LOOK_MAX;
	uint64_t seen[2] = {0};
	uint8_t *bytes = malloc(look + 1);
	size_t n;
	int err = bytes ? hf_ntrace_input_sample(setup, params, src, params->trace_id, bytes, look, &n, seen) : HF_ERR_NOMEM;

	stream->id = params->trace_id;
	if (!err && params->layout != HF_CORESIGHT_NONE && !stream->id) {
		stream->id = lowest_id(seen);
		err = hf_ntrace_input_sample(setup, params, src, stream->id, bytes, look, &n, NULL);
	}
	if (!err) {
		info->first_hart = params->layout == HF_CORESIGHT_NONE ? 0 : stream->id;
		stream->guessed_srcbits = guess_srcbits(setup, params, bytes, n);
		if (params->srcbits)
			info->first_hart = first_source(params, bytes, n);
		err = hf_ntrace_guess_times(params, bytes, n, first_message(params, bytes, n),
					    &stream->guessed_times);
	}
	if (!err)
		err = guess_word_bytes(setup, params, src, stream->id, bytes, n, &stream->guessed_word_bytes);
	free(bytes);
	return err;
}

/* The parameters for info.json, with what the dialect and the stream make of those that nobody wrote. */
static void write_json(struct hf_ntrace_stream *stream, const struct hf_ntrace_params *p)
{
	const unsigned known = p->times != HF_NTRACE_TIMES_UNKNOWN ? p->times : stream->guessed_times;
	const char *times = hf_ntrace_times_name(known), *quote = times ? "\"" : "";

	snprintf(stream->json, sizeof stream->json,
		 "\"parameters\":{\"dialect\":\"%s\",\"srcbits\":%u,\"xlen\":%u,\"address_width\":%u,\"addr_msb_ext\":%d,"
		 "\"implicit_return\":%d,\"implicit_return_depth\":%u,\"compare_returns\":%d,\"sequential_jump\":%d,"
		 "\"all_jumps\":%d,\"timestamps\":%s%s%s,\"timestamp_width\":%u,\"trap_values\":%d}",
		 hf_ntrace_dialect_name(p->dialect), p->srcbits, p->xlen, hf_ntrace_address_bits(p, 0), p->addr_msb_ext,
		 p->implicit_return, p->return_depth, p->compare_returns, p->sequential_jump, p->all_jumps, quote,
		 times ? times : "null", quote, p->time_width, p->trap_values);
	stream->base.info.json = stream->json;
}

static int describe(struct hf_ntrace_stream *stream, struct hf_src *src, const struct hf_setup *setup,
		    struct hf_diag *diag)
{
	struct hf_stream_info *info = &stream->base.info;
	struct hf_ntrace_params params;
	int err = hf_ntrace_params_read(setup, HF_SETUP_ANY, &params, NULL);

	if (!err)
		err = look_at(stream, src, setup, &params);
	if (err)
		return hf_diag_set(diag, err, HF_SPACE_STREAM, HF_NOWHERE, 0);
	if (!params.srcbits && params.layout == HF_CORESIGHT_NONE && setup && setup->part_count &&
	    setup->parts[0].hart != HF_SETUP_ANY)
		info->first_hart = setup->parts[0].hart;
	info->arch = HF_ARCH_RISCV;
	info->xlen = params.xlen;
	info->isa = params.xlen == 32 ? HF_ISA_RV32 : HF_ISA_RV64;
	/* Without a program the messages can be listed, and no more. */
	info->flags = setup && setup->image_count ? HF_STREAM_HARTS : 0;
	if (params.srcbits || params.layout != HF_CORESIGHT_NONE || (setup && setup->part_count > 1))
		info->flags |= HF_STREAM_MANY;
	info->version = "1.0";
	write_json(stream, &params);
	return 0;
}

int hf_ntrace_open(struct hf_src *src, const struct hf_setup *setup, struct hf_stream **ret_stream,
		   struct hf_diag *diag)
{
	struct hf_ntrace_stream *stream = calloc(1, sizeof *stream);
	int err;

	if (!stream)
		return HF_ERR_NOMEM;
	stream->base.setup = setup;
	err = describe(stream, src, setup, diag);
	if (err) {
		free(stream);
		return err;
	}
	*ret_stream = &stream->base;
	return 0;
}

void hf_ntrace_close(struct hf_stream *stream)
{
	free(stream);
}
