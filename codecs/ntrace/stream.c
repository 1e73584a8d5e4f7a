/* What the description of an N-Trace capture says: parameters, parts, and in which order the bytes were written. */
#include "codecs/ntrace/decoder.h"

#include <stdio.h>
#include <stdlib.h>

/* So far into the stream the first source id is looked for. */
#define LOOK_MAX (1u << 20)

/* ---- circular buffers ---- */

struct rotated {
	struct hf_src src; /* first */
	struct hf_src *base;
	uint64_t offset;
};

static int rotated_read(struct hf_src *src, uint64_t offset, void *buf, size_t n, size_t *ret_n, struct hf_diag *diag)
{
	const struct rotated *r = (const struct rotated *)src;
	const uint64_t older = r->src.size - r->offset; /* bytes from the write pointer to the end of memory */
	size_t done = 0;
	int err = 0;

	*ret_n = 0;
	while (done < n && offset < r->src.size && !err) {
		const bool wrapped = offset >= older;
		const uint64_t at = wrapped ? offset - older : offset + r->offset;
		const uint64_t there = wrapped ? r->src.size - offset : older - offset;
		const size_t want = n - done < there ? n - done : (size_t)there;
		size_t got = 0;

		err = hf_src_read_at(r->base, at, (uint8_t *)buf + done, want, &got, diag);
		done += got;
		offset += got;
		if (got < want)
			break;
	}
	*ret_n = done;
	return done ? 0 : err;
}

static void rotated_free(struct hf_src *src)
{
	free(src);
}

static const struct hf_src_ops rotated_ops = {.read_at = rotated_read, .free = rotated_free};

int hf_ntrace_rotate(struct hf_src *src, uint64_t offset, struct hf_src **ret_src)
{
	struct rotated *r;

	if (src->size == HF_NOWHERE)
		return HF_ERR_UNSUPPORTED;
	r = calloc(1, sizeof *r);
	if (!r)
		return HF_ERR_NOMEM;
	*r = (struct rotated){
		.src = {.ops = &rotated_ops, .size = src->size},
		.base = src,
		.offset = src->size ? offset % src->size : 0,
	};
	*ret_src = &r->src;
	return 0;
}

uint64_t hf_ntrace_stream_offset(const struct hf_ntrace_params *params, uint64_t size, uint64_t offset)
{
	if (params->wrap_offset == 0 || size == HF_NOWHERE || offset >= size)
		return offset;
	return (offset + params->wrap_offset % size) % size;
}

/* ---- the window ---- */

int hf_ntrace_look(struct hf_reader *r, uint64_t at, uint64_t end, const uint8_t **ret_bytes, size_t *ret_n)
{
	uint64_t n;

	if (at < r->start || at > r->start + r->len ||
	    (r->start + r->len - at < HF_NTRACE_MESSAGE_MAX && !r->ended)) {
		int err = hf_reader_seek(r, at);

		if (err)
			return err;
	}
	n = r->start + r->len - at;
	*ret_bytes = r->buf + (at - r->start);
	*ret_n = (size_t)(end - at < n ? end - at : n);
	return 0;
}

/* ---- parts ---- */

struct hf_ntrace_part hf_ntrace_part_at(const struct hf_stream *stream, const struct hf_ntrace_params *params,
					uint64_t offset)
{
	const struct hf_setup *setup = stream->setup;
	struct hf_ntrace_part part = {.end = HF_NOWHERE, .hart = params->srcbits ? HF_SETUP_ANY : 0};

	for (size_t i = 0; setup && i < setup->part_count; i++) {
		const struct hf_setup_part *p = &setup->parts[i];

		if (offset < p->offset || (p->size != HF_NOWHERE && offset - p->offset >= p->size))
			continue;
		part.start = p->offset;
		part.end = p->size == HF_NOWHERE ? HF_NOWHERE : p->offset + p->size;
		part.index = (uint32_t)i;
		if (!params->srcbits && p->hart != HF_SETUP_ANY)
			part.hart = p->hart;
		break;
	}
	return part;
}

/* ---- opening ---- */

/* The SRC of the first synchronising message: of the hart that is walked first. */
static uint32_t first_source(const struct hf_ntrace_params *params, const uint8_t *bytes, size_t n)
{
	struct hf_ntrace_message msg;
	size_t at = params->wrap_offset < n ? (size_t)params->wrap_offset : 0;

	while (params->wrapped && at < n && (bytes[at++] & 3) != 3)
		;
	while (at < n) {
		int err;

		if (hf_ntrace_is_padding(bytes[at])) {
			at++;
			continue;
		}
		err = hf_ntrace_message_read(params, bytes + at, n - at, &msg);
		if (err == 0 && hf_ntrace_is_sync(msg.tcode))
			return msg.src;
		if (err == HF_NOTE_END)
			break;
		at += msg.length;
	}
	return 0;
}

static int find_first(struct hf_src *src, const struct hf_ntrace_params *params, uint32_t *ret_hart,
		      struct hf_diag *diag)
{
	uint8_t *bytes;
	size_t n = 0;
	int err;

	bytes = malloc(LOOK_MAX);
	if (!bytes)
		return HF_ERR_NOMEM;
	err = hf_src_read_at(src, 0, bytes, LOOK_MAX, &n, diag);
	if (!err || hf_err_class(err) == HF_CLASS_corrupt) {
		*ret_hart = first_source(params, bytes, n);
		err = 0;
	}
	free(bytes);
	return err;
}

static int check_parts(const struct hf_setup *setup, const struct hf_ntrace_params *params, struct hf_diag *diag)
{
	for (size_t i = 0; setup && i < setup->part_count; i++) {
		const char *framing = setup->parts[i].framing;

		/* Frames are taken off before a codec sees the bytes. */
		if (framing && *framing && strcmp(framing, "raw") != 0 && strcmp(framing, "coresight") != 0)
			return hf_diag_set(diag, HF_ERR_SETUP_FRAMING, HF_SPACE_STREAM, setup->parts[i].offset, 0);
	}
	if (params->wrap_offset && setup && setup->part_count > 1)
		return hf_diag_set(diag, HF_ERR_UNSUPPORTED, HF_SPACE_STREAM, 0, 0);
	return 0;
}

static int describe(struct hf_ntrace_stream *stream, struct hf_src *src, const struct hf_setup *setup,
		    struct hf_diag *diag)
{
	struct hf_stream_info *info = &stream->base.info;
	struct hf_ntrace_params params;
	int err = hf_ntrace_params_read(setup, HF_SETUP_ANY, &params, diag);

	if (!err)
		err = check_parts(setup, &params, diag);
	if (!err && params.srcbits)
		err = find_first(src, &params, &info->first_hart, diag);
	if (err)
		return err;
	if (!params.srcbits && setup && setup->part_count && setup->parts[0].hart != HF_SETUP_ANY)
		info->first_hart = setup->parts[0].hart;
	info->arch = HF_ARCH_RISCV;
	info->xlen = params.xlen;
	info->isa = params.xlen == 32 ? HF_ISA_RV32 : HF_ISA_RV64;
	/* Without a program the messages can be listed, and no more. */
	info->flags = setup && setup->image_count ? HF_STREAM_HARTS : 0;
	if (params.srcbits || (setup && setup->part_count > 1))
		info->flags |= HF_STREAM_MANY;
	info->version = "1.0";
	snprintf(stream->json, sizeof stream->json,
		 "\"parameters\":{\"srcbits\":%u,\"xlen\":%u,\"addr_msb_ext\":%d,\"implicit_return\":%d,"
		 "\"sequential_jump\":%d,\"all_jumps\":%d}", params.srcbits, params.xlen, params.addr_msb_ext,
		 params.implicit_return, params.sequential_jump, params.all_jumps);
	info->json = stream->json;
	return 0;
}

int hf_ntrace_open(struct hf_src *src, const struct hf_setup *setup, struct hf_stream **ret_stream,
		   struct hf_diag *diag)
{
	struct hf_ntrace_stream *stream = calloc(1, sizeof *stream);
	int err;

	if (!stream)
		return HF_ERR_NOMEM;
	stream->base.codec = &hf_codec_ntrace;
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
