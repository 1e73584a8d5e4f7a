/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The contracts of a codec, which is a trace format that is read (bytes to events), and of a view, which is a file that is
 * written (events to bytes). codecs.def lists all codecs, views.def all views, and neither needs the other: one folder
 * may have one, several or none of each. codecs/README.md shows why the contracts are as they are.
 *
 * A codec knows no path, database, thread or clock. Its objects are used by one thread at a time, except struct
 * hf_stream, which is immutable once opened and may be shared.
 */
#ifndef HF_CODEC_H
#define HF_CODEC_H

#include "codecs/base/err.h"
#include "codecs/base/fields.h"
#include "codecs/base/params.h"
#include "codecs/base/sink.h"
#include "codecs/event.h"
#include "codecs/image/elf_read.h"
#include "codecs/setup/keys.h"
#include "codecs/setup/setup.h"
#include "codecs/source/source.h"
#include "codecs/stretch.h"

enum hf_arch {
	HF_ARCH_NONE,
	HF_ARCH_RISCV,
	HF_ARCH_ARM,
	HF_ARCH_COUNT
};

/* Whether code of an ELF file with that e_machine is of that architecture; HF_ARCH_NONE: of any. */
bool hf_arch_has_machine(uint8_t arch, uint16_t machine);

enum hf_stream_flags {
	HF_STREAM_HARTS = 1,    /* it holds instructions; without: records only (transactions) */
	HF_STREAM_MANY = 2,     /* the source separates harts; decoders find their ids */
	/* It tells of no traps and no change of exception level: ASTF 3.1, Basic. */
	HF_STREAM_ONE_LEVEL = 8,
	HF_STREAM_NO_ACCESSES = 16, /* it knows no memory accesses: ETE */
	HF_STREAM_NO_TEXTS = 64,    /* software says nothing beside its flow */
	HF_STREAM_M_PROFILE = 32,   /* one of its harts at least is an Arm core of the M profile */
	HF_STREAM_ORIGINAL = 4, /* with one hart the stream itself is a view of it: hf_codec.original */
};

/* What is known of a stream after its header: borrowed from the stream, valid as long as it. */
struct hf_stream_info {
	uint8_t arch;          /* enum hf_arch */
	uint8_t xlen;          /* 32, 64 */
	uint8_t isa;           /* enum hf_isa at the start */
	uint8_t flags;         /* enum hf_stream_flags */
	uint32_t vlen;         /* vector register bits, 0 if none */
	uint32_t extensions;   /* those of codecs/isa/riscv.h that share opcodes, as the stream itself says: HF_RISCV_ZCMP, .. */
	uint32_t first_hart;   /* source id of the first hart */
	const char *version;   /* "1.6" */
	const char *json;      /* more members for info.json: "\"generator\":\"Spike\",..." ; no braces; may be "" */
	const void *header;    /* the codec's own header, for its own encoder; NULL if another codec's stream */
};

struct hf_codec;
struct hf_setup_opener;

/* Opening a stream reads so many bytes from its beginning, or hardly more. */
#define HF_STREAM_HEAD (256u << 10)

/* A capture's stream with its header read. Each codec embeds this first in a struct of its own. */
struct hf_stream {
	const struct hf_codec *codec;
	struct hf_stream_info info;
	const struct hf_setup *setup; /* borrowed from who opened it; NULL if the capture has no description */
};

/* How far a packet trace and the walk over its program agree. */
struct hf_agreed {
	uint64_t reached; /* addresses, or counts of instructions, to which the walk came by itself */
	uint64_t count, offset; /* synchronisations among them; of the last, in the stream */
};

/*
 * A decoder makes the events of one hart. The state at any event boundary is "blob and discard": the blob is a sync
 * point the codec chose at or before the boundary, discard the events from there to it. The guard owns the object: it
 * makes it, zero but for struct hf_dec, frames its blobs, and calls the ops in their order.
 */
struct hf_dec {
	const struct hf_dec_ops *ops;
	const struct hf_stream *stream; /* borrowed */
	uint32_t hart;                  /* source id */
	int err;                        /* sticky; kept by hf_dec_next */
	struct hf_diag diag;            /* of err */
	const struct hf_stop *stop;     /* the source's: looked at by hf_dec_next, as often as it is called */
	struct hf_event first;          /* comes before all else, if it has a kind, */
	bool cut;                       /*   and nothing follows, whatever the source has */
	struct hf_agreed agreed;        /* since it was made; no state has it */
};

struct hf_dec_ops {
	size_t size; /* of its object, which begins with a struct hf_dec */
	/* Stands before the first event then. src is borrowed; it may be another source object over the same bytes than
	 * the stream was opened on. HF_ERR_NOT_FOUND: there is no such hart. */
	int (*init)(struct hf_dec *dec, struct hf_src *src);
	/* Frees what init allocated; also what it had allocated before it failed. */
	void (*fini)(struct hf_dec *dec);
	/* 1 <= *ret_n <= max events and 0, or 0 events and HF_NOTE_END or a negative error. No allocation but for
	 * a group of records that outgrows its window. */
	int (*next)(struct hf_dec *dec, struct hf_event *ev, size_t max, size_t *ret_n);
	/*
	 * Visits the fields of the sync point. Saving: the one that stands for the place before the next event, and
	 * returns the events from there to it. Loading: goes there, whatever was before, or fails f; the return value does
	 * not count.
	 */
	uint64_t (*state)(struct hf_dec *dec, struct hf_fields *f);
	/* Stream offset up to which the source has been consumed: for progress and for cutting chunks. */
	uint64_t (*offset)(const struct hf_dec *dec);
	/*
	 * Source ids of harts seen so far, hart's own included; *ret_n of them, borrowed. If harts_max is not 0, they are
	 * harts_max at most, and one more that stands for all those that are left out. NULL: it sees no others.
	 */
	const uint32_t *(*harts)(const struct hf_dec *dec, size_t *ret_n);
	size_t harts_max;
	/*
	 * The last event given, of a next with room for just one, is an instruction with which a slice begins: all that
	 * the CONTEXT events before it said and that still holds, as one CONTEXT event, its mode aside (size 0: nothing),
	 * and the number of its instruction record. NULL: a codec that has neither.
	 */
	void (*begin)(const struct hf_dec *dec, struct hf_event *ret_context, uint64_t *ret_record);
};

/* Outside help for encoders, owned by the caller, one per thread. */
struct hf_enc_env {
	struct hf_disasm *disasm;         /* codecs/isa/disasm.h; may be NULL: no disassembly */
	/* codecs/image/symbols.h; may be NULL. An encoder remembers what it saw there: as long as it lives, what the same
	 * pointer points to is the same. */
	const struct hf_symbols *symbols;
	const char *params;               /* of this view, for hf_params_parse; may be NULL: all defaults */
	/* codecs/base/memo.h, zeroed, for the life of one encoder whose sink may only count; may be NULL: then it counts what
	 * it writes. */
	struct hf_memo *memo;
	/* codecs/walk/known.h, zeroed, for the life of one encoder that has put_known; may be NULL: it knows no stretch. */
	struct hf_walk_known *known;
};

/* What a side file of a view is made of: nothing that depends on the events, so that its size is known at once. */
struct hf_side {
	const struct hf_stream *stream;
	uint32_t hart;
	const struct hf_enc_env *env;
	/* Of the program.elf that lies beside it: where its segments are in that file. */
	const struct hf_elf_segment *segments;
	size_t segment_count;
	uint64_t entry; /* pc of the first retired instruction */
};

/* A file that lies beside the encoder's own in the directory of a view, so that the directory is a capture. */
struct hf_side_file {
	const char *name; /* in the hart's directory: "etrace/capture.ini" */
	void (*write)(const struct hf_side *side, struct hf_sink *sink);
};

/* An encoder makes the bytes of one view of one hart: a pure function of its state and the events. */
struct hf_enc {
	const struct hf_enc_ops *ops;
	const struct hf_stream *stream; /* the source's; borrowed */
	uint32_t hart;
	const struct hf_enc_env *env;   /* borrowed; may be NULL */
};

/* The view's parameters, for hf_params_parse; NULL: all defaults. */
static inline const char *hf_enc_params(const struct hf_enc *enc)
{
	return enc->env ? enc->env->params : NULL;
}

enum hf_enc_flags {
	/*
	 * Lines of text. Each retired instruction begins one, with its ordinal in decimal and a blank, whose first byte
	 * and the end of the line before are made by its own event; any other line begins with '#'. A slice is then a
	 * part of the whole's bytes. The slice of any other view is encoded anew, from a BEGIN event on.
	 */
	HF_ENC_LINES = 1,
	HF_ENC_SYMBOLS = 2, /* its bytes depend on env->symbols: those that its hook symbols asks for */
	HF_ENC_COUNTS = 4, /* where a sink only counts, it adds up lengths that env->memo has, and makes no bytes */
	/* With HF_ENC_LINES: each TIMESTAMP event begins a line, "# time ", behind the bytes that end the line before (owes).
	 * Those of all harts are merged by time. */
	HF_ENC_TIMES = 8,
	HF_ENC_CHANNELS = 16, /* frames of channels, each of which is a file: codecs/text/text.h */
};

struct hf_enc_ops {
	const char *name;     /* what parameters and lists of views call it: "listing", "etrace" */
	const char *view;     /* the file's name in the hart's directory: "listing.txt", "etrace/trace.bin" */
	/*
	 * Goes up in the commit that changes a byte of the view or of its side files, or a state: part of the key of view
	 * tables, so that none is used that promises other bytes. Commits that are published together need one step.
	 */
	uint32_t version;
	uint32_t flags;       /* enum hf_enc_flags */
	size_t size;          /* of its object, which begins with a struct hf_enc; 0: it needs no more than that */
	/* All events in order, n at a time. Errors of the sink are the caller's to look at. */
	void (*put)(struct hf_enc *enc, const struct hf_event *ev, size_t n, struct hf_sink *sink);

	/* All that follows may be NULL. */

	/* Makes what put makes, and is told which stretches are known of the events. NULL: that is of no use to it. */
	void (*put_known)(struct hf_enc *enc, const struct hf_event *ev, size_t n, const struct hf_stretch *stretch,
			  size_t count, struct hf_sink *sink);
	/* Why there is no such view of a stream of instructions, as info.json says it; NULL: there is. Without this hook
	 * every stream of instructions has it. */
	const char *(*refuses)(const struct hf_stream_info *info);
	/* The object is zero but for struct hf_enc, which is filled in. HF_ERR_SETUP_VALUE for wrong parameters. */
	int (*init)(struct hf_enc *enc);
	/* Behind the last event of the hart: what is held back, a trailer, or the header of an empty view. */
	void (*end)(struct hf_enc *enc, struct hf_sink *sink);
	/* With HF_ENC_TIMES: how many bytes the next event that begins a line writes before it, the last one a line feed. */
	size_t (*owes)(const struct hf_enc *enc);
	/* Visits the fields of the state before the next event; loading goes there, whatever was before, or fails f. NULL:
	 * it has no state. */
	void (*state)(struct hf_enc *enc, struct hf_fields *f);
	/* Of a view that is a directory (its name has a '/'), ending with a NULL name; program.elf is added to them. NULL:
	 * a view that is one file. A view with side files exists only where program.elf does. */
	const struct hf_side_file *side;
	/* Whether these are parameters of the view, each with a value it takes; else HF_ERR_SETUP_VALUE and why[size]
	 * says what is wrong. hf_params_parse does both from a table. NULL: it has none. */
	int (*check_params)(const char *params, char *why, size_t size);
	/* Of a view with HF_ENC_SYMBOLS: what it wants of them with these parameters, enum hf_symbols_options. NULL: 0. */
	unsigned (*symbols)(const char *params);
};

struct hf_record_ops;

struct hf_codec {
	const char *name;             /* "stf" */
	const char *title;            /* "Simple Trace Format" */
	/* Goes up in the commit that changes an event, a text of records.txt, a state, or what info.json says of a stream:
	 * part of the identity of an index and of all its view tables. */
	uint32_t version;
	const char *const *suffixes;  /* name extensions that stand for the format, ".stf"; ends with NULL */
	/* 0..100: how sure we are that a (decompressed) stream that begins so is ours. NULL: encoder only, or a format
	 * that content does not show, whose captures need a description. */
	int (*probe)(const uint8_t *head, size_t n);
	/* Whether a stream that probe takes for ours is a capture, by more than its first bytes; of a compressed one src has
	 * but the beginning. A negative error is one of reading. NULL: it is. */
	int (*confirm)(struct hf_src *src, bool *ret_ours);
	const char *otherwise; /* what a stream is that probe takes for ours, and confirm does not, and what to do */
	/*
	 * Of a format whose file is its own description, not compressed as a whole: what it says, as hf_setup_read_capture
	 * (codecs/setup/read.h); hf_setup.format names the codec that decodes it. HF_ERR_NOT_FOUND: it is no capture. And all
	 * the rest, programs and parts, with the stream, as hf_setup_load. NULL, both: the file is the stream.
	 */
	int (*describe)(const struct hf_setup_opener *opener, const char *name, struct hf_setup **ret_setup,
			struct hf_setup_error *error);
	int (*load)(struct hf_setup *setup, const struct hf_setup_opener *opener, struct hf_src **ret_stream,
		    struct hf_setup_error *error);
	/*
	 * Of a format whose files may hold the trace of others, in pieces: src[count], which it takes, are the trace files of
	 * a capture.ini of another format. *ret_stream is that trace, and the setup's parts are its pieces. *error says what
	 * is wrong. NULL: there are no such files.
	 */
	int (*split)(struct hf_setup *setup, struct hf_src *const *src, size_t count, struct hf_src **ret_stream,
		     struct hf_setup_error *error);
	/* Reads the header. *diag says what is wrong and where. src is borrowed for the call only, setup (NULL: none) as
	 * long as the stream lives. */
	int (*open)(struct hf_src *src, const struct hf_setup *setup, struct hf_stream **ret_stream,
		    struct hf_diag *diag);
	void (*close)(struct hf_stream *stream);
	const struct hf_dec_ops *dec;
	const struct hf_enc_ops *original; /* the view that a stream with HF_STREAM_ORIGINAL is; NULL: none */
	const struct hf_dec_ops *records; /* of hart HF_HART_RECORDS; NULL: no records.txt */
	const struct hf_record_ops *record; /* codecs/records.h: the lines of RECORD events; NULL: records makes none */
	/* What a capture.ini of this format may say, in [capture] or [parameters], ending with HF_KEY_END; several rows may
	 * be about one key. NULL: nothing but "format", "trace", "framing" and programs. */
	const struct hf_setup_key *keys;
	/* Whether a description of this format, its programs read, can be used: every value of every hart, framings. Else
	 * HF_ERR_SETUP_*, and *error, which may be NULL, says what is wrong. open is called only then. NULL: nothing to check. */
	int (*check)(const struct hf_setup *setup, struct hf_setup_error *error);
	/* Adds a warning for each thing that such a description names and the codec leaves out, once, behind a check that
	 * found it good: 0, HF_ERR_NOMEM. NULL: it leaves nothing out. */
	int (*remark)(struct hf_setup *setup);
	/* 32 or 64: the word length of a hart's instructions. NULL: it is stream->info.xlen of all. */
	unsigned (*xlen)(const struct hf_stream *stream, uint32_t hart);
	uint8_t program_arch;         /* enum hf_arch that ELF files of a description must be for; HF_ARCH_NONE: any */
};

/*
 * The source's records or packets as text are a hart of their own, with this id, where a codec has them. Its decoder
 * makes DATA events, whose bytes one after the other are records.txt, and RECORD events, each of which is a line that the
 * one encoder has the codec write. So records.txt is cut, entered and checked like every other view, by stream offset
 * instead of instructions.
 */
#define HF_HART_RECORDS UINT32_MAX
extern const struct hf_enc_ops hf_enc_records;

/* Whether the view is in the format of its own source. */
static inline bool hf_enc_is_original(const struct hf_enc *enc)
{
	return enc->stream->codec && enc->stream->codec->original == enc->ops;
}

/* All codecs in the order of codecs.def, ending with NULL. */
extern const struct hf_codec *const hf_codecs[];

const struct hf_codec *hf_codec_by_name(const char *name);
/* The codec whose probe of these first bytes is surest, or NULL. */
const struct hf_codec *hf_codec_probe(const uint8_t *head, size_t n);
/* Enough of a stream for every probe. */
#define HF_PROBE_SIZE 64

/* Guards around the ops: order of calls, sticky errors. */
int hf_stream_open(const struct hf_codec *codec, struct hf_src *src, const struct hf_setup *setup,
		   struct hf_stream **ret_stream, struct hf_diag *diag);
int hf_dec_new(const struct hf_stream *stream, struct hf_src *src, uint32_t hart, struct hf_dec **ret_dec);
void hf_dec_free(struct hf_dec *dec);
static inline uint64_t hf_dec_offset(const struct hf_dec *dec)
{
	return dec->ops->offset(dec);
}
/* As hf_dec_ops.harts. */
const uint32_t *hf_dec_harts(const struct hf_dec *dec, size_t *ret_n);
int hf_dec_next(struct hf_dec *dec, struct hf_event *ev, size_t max, size_t *ret_n);
/* The state before the next event: blob[HF_STATE_MAX], and the events to discard behind it. Returns the blob's size. */
size_t hf_dec_save(struct hf_dec *dec, uint8_t *blob, uint64_t *ret_discard);
/* Loads blob and passes over discard events. */
int hf_dec_load(struct hf_dec *dec, const uint8_t *blob, size_t size, uint64_t discard);
/*
 * Two things are said by who decodes, not by the codec: each is an event, and marks the state before it, so that it comes
 * again wherever that is loaded. A decoder that comes from the events before must load a marked state, too.
 */
#define HF_MARK_SIZE 20
bool hf_dec_is_marked(const uint8_t *blob, size_t size);
/*
 * The decoder gives no more events from here on, as if the source ended: it stands for too much. *ret_gap is the event
 * that says so: the caller's to pass on in the place of what would come next, and after HF_MARK_SIZE bytes of blob were
 * loaded the only one that comes. offset: of the stream; events: how many there were.
 */
void hf_dec_cut(struct hf_dec *dec, uint64_t offset, uint64_t events, uint8_t *blob, struct hf_event *ret_gap);
/*
 * Of the stream, so many bytes from offset on may be wrong, though they can be decoded (HF_ERR_BOX_DOUBT): the next event
 * is a doubt. blob[HF_MARK_SIZE + HF_STATE_MAX] has the state here, of size bytes; returns the size of the marked one.
 */
size_t hf_dec_doubt(struct hf_dec *dec, uint64_t offset, uint64_t bytes, uint8_t *blob, size_t size);
/* What an encoder gets before insn, the INSN event that hf_dec_next gave last and alone, if a slice begins with it:
 * ret_ev[HF_BEGIN_EVENTS], of which so many are returned. ordinal is insn's. */
#define HF_BEGIN_EVENTS 2
size_t hf_dec_begin(const struct hf_dec *dec, const struct hf_event *insn, uint64_t ordinal, struct hf_event *ret_ev);

/* All views that encoders make but records.txt, in the order of views.def, ending with NULL. views.h has their names. */
extern const struct hf_enc_ops *const hf_views[];

/* Why a stream has no such view; NULL: it has. */
const char *hf_enc_refusal(const struct hf_enc_ops *ops, const struct hf_stream_info *info);

/* stream and env are borrowed for as long as the encoder lives. */
int hf_enc_new(const struct hf_enc_ops *ops, const struct hf_stream *stream, uint32_t hart,
	       const struct hf_enc_env *env, struct hf_enc **ret_enc);
void hf_enc_free(struct hf_enc *enc);
/* As a new one, whatever was before. After an error it can only be freed. */
int hf_enc_reset(struct hf_enc *enc, const struct hf_enc_env *env);
static inline void hf_enc_put(struct hf_enc *enc, const struct hf_event *ev, size_t n, struct hf_sink *sink)
{
	enc->ops->put(enc, ev, n, sink);
}
/* The same; stretch[count] are those among the events, in their order. */
static inline void hf_enc_put_known(struct hf_enc *enc, const struct hf_event *ev, size_t n,
				    const struct hf_stretch *stretch, size_t count, struct hf_sink *sink)
{
	if (enc->ops->put_known)
		enc->ops->put_known(enc, ev, n, stretch, count, sink);
	else
		enc->ops->put(enc, ev, n, sink);
}
void hf_enc_end(struct hf_enc *enc, struct hf_sink *sink);
/* The state before the next event: blob[HF_STATE_MAX]. Returns its size. */
size_t hf_enc_save(struct hf_enc *enc, uint8_t *blob);
/* HF_ERR_STATE if no such encoder saved it: then it can only be freed. */
int hf_enc_load(struct hf_enc *enc, const uint8_t *blob, size_t size);

/* The word length of a hart's instructions, and its enum hf_isa at the start; HF_ISA_NONE where there are none. */
unsigned hf_stream_xlen(const struct hf_stream *stream, uint32_t hart);
unsigned hf_stream_isa(const struct hf_stream *stream, uint32_t hart);

void hf_stream_close(struct hf_stream *stream);

#endif
