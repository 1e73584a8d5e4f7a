/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The STF decoder: records to events of one hart. Its unit is the group: the records up to and with the one that ends
 * it, an opcode (seed, "STF File Anatomy"). Groups of the usual few kinds of records go through fast.c in one pass,
 * all others through group.c, which scans to the end of the group before it tells anything of the instruction.
 */
#ifndef HF_STF_DECODER_H
#define HF_STF_DECODER_H

#include "codecs/source/reader.h"
#include "codecs/stf/header.h"

/* The longest group whose attachments are kept: one window. */
#define HF_STF_GROUP_MAX (4u * 1024 * 1024)
/* A COMMENT becomes TEXT events of at most so many bytes each, so that none needs more memory than this. */
#define HF_STF_TEXT_MAX (64u * 1024)
/* Harts that a decoder can tell apart. */
#define HF_STF_HARTS_MAX 1024

/* Everything that one group hands to the next: the sync point. */
struct hf_stf_sync {
	uint64_t offset;   /* of the group's first record in the stream */
	uint64_t index;	   /* instruction records before it, of all harts */
	uint64_t next;	   /* the tracker: where the next instruction lies unless FORCE_PC says otherwise */
	uint64_t expected; /* where this hart's flow would go on */
	uint64_t narrow;   /* this hart's opcodes of 2 bytes in INST_OPCODE32, */
	uint64_t odd;	   /*   and odd targets */
	uint64_t drift;	   /* index less what the container said it would be, where it said so last */
	uint32_t ids[3];   /* of the last PROCESS_ID_EXT: hw_thread, pid, tid */
	uint32_t said[3];  /* those of this hart's last CONTEXT */
	uint8_t mode;	   /* this hart's, enum hf_mode */
	uint8_t isa;	   /* enum hf_isa, of the last INST_IEM */
	bool begun;	   /* this hart had an instruction */
	bool has_ids;
	bool has_said;
};

/* DATA events that are due: words of a span of the window. */
struct hf_stf_span {
	uint64_t offset; /* stream offset of the next byte */
	uint32_t left;	 /* bytes of data */
	uint8_t stride;	 /* 0: the bytes lie together; else bytes from one 8-byte word to the next */
};

/* Where group.c stands in its group. */
enum hf_stf_phase {
	HF_STF_PHASE_SCAN, /* towards the marker; loose records are told at once */
	HF_STF_PHASE_LOSS, /* attachments were dropped */
	HF_STF_PHASE_MODE, /* a mode that holds for this instruction already */
	HF_STF_PHASE_JUMP, /* a discontinuity */
	HF_STF_PHASE_CHECK, /* what its records contradict */
	HF_STF_PHASE_INSN,
	HF_STF_PHASE_ATTACH, /* a second walk, for the attachments */
	HF_STF_PHASE_AFTER,  /* a mode that holds from the next instruction on */
	HF_STF_PHASE_PLACES, /* what the container says of places up to the end of the group */
	HF_STF_PHASE_RESUME, /* behind a loss, at the place where the container has another part begin */
	HF_STF_PHASE_FINISH,
	HF_STF_PHASE_COUNTS, /* at the end of the stream: how many there were of what was noted once */
	HF_STF_PHASE_END, /* nothing follows */
};

/* What the scan of a group finds out. Only meaningful while the group is being worked on. */
struct hf_stf_group {
	enum hf_stf_phase phase;
	bool open;		/* work on it has begun */
	bool owes_header;	/* the first of a hart, and strings of the header were cut */
	struct hf_stf_sync now; /* becomes the sync point at the end of the group */
	uint64_t at;		/* stream offset of the next record to look at */
	uint64_t kept;		/* from here on the window holds the group */
	uint64_t first;		/* offset of the first attachment */
	uint64_t marker;	/* offset of the marker record */
	struct hf_stf_span span;
	uint64_t comment;   /* offset of the COMMENT that is being told */
	uint64_t text_left; /* bytes of it */
	bool in_text;
	bool attached;	      /* there are attachments */
	bool dropped;	      /* too long: the attachments are given up */
	bool forced;	      /* FORCE_PC */
	bool trap;	      /* an EVENT other than MODE_CHANGE */
	bool attempt;	      /* one that says that the instruction did not retire */
	bool has_target;      /* INST_PC_TARGET, or EVENT_PC_TARGET without an EVENT */
	bool has_handler;     /* EVENT_PC_TARGET behind an EVENT */
	bool has_branch;      /* either: the tracker's br */
	bool has_last_target; /* EVENT_PC_TARGET behind the last EVENT */
	uint64_t target, handler, branch;
	uint64_t last_event, last_trap; /* offsets; of last_trap only with trap */
	bool has_event;
	bool last_is_mode; /* the last EVENT is a MODE_CHANGE */
	uint8_t last_mode;
	bool has_mode; /* a MODE_CHANGE that belongs neither to a trap nor to a return */
	uint8_t mode;
	uint8_t content; /* the descriptor of content that may come next, or 0 */
	uint16_t words;	 /* of it so far */
	bool range;	 /* it is the length of a range */
	uint8_t opcode_size;
	uint64_t part; /* ordinal of the part that ends where it is resumed */
	bool counted; /* of dec.place the number of instructions was looked at */
	uint32_t opcode;
	uint64_t pc;
};

/* Where an instruction may send the flow. */
enum hf_stf_rule {
	HF_STF_ANYWHERE,
	HF_STF_DIRECT, /* to the next one, or where its opcode says */
	HF_STF_ALWAYS, /* where its opcode says */
	HF_STF_NO_RULE, /* for group.c to look at */
};

/* What an opcode says, as long as it has a place of its own among some: looked up faster than worked out. */
#define HF_STF_CODE_BITS 12
struct hf_stf_code {
	uint64_t word;	  /* the last one of its event, in no mode; 0: there is none */
	uint16_t sizes;	  /* as hf_riscv_access_sizes; of RISC-V */
	uint8_t rule;	  /* enum hf_stf_rule */
	int32_t distance; /* from the instruction to its target */
};

struct hf_stf_dec {
	struct hf_dec dec; /* first */
	struct hf_reader reader;
	const struct hf_stf_header *header;
	bool many;
	struct hf_stf_sync sync;
	uint64_t done; /* events given since the sync point */
	/* The next place that the container says something about, offset HF_NOWHERE: none up to stream offset looked.
	 * A group that ends there or behind it compares; groups before it need not think of it. */
	struct hf_sync place;
	uint64_t looked;
	struct hf_stf_group group;
	uint32_t harts[HF_STF_HARTS_MAX + 1]; /* the last is left out */
	size_t hart_count;
	uint32_t last_hart;			   /* the one noted last */
	uint16_t hart_slots[2 * HF_STF_HARTS_MAX]; /* open hash of harts: index + 1 */
	struct hf_stf_code code[1 << HF_STF_CODE_BITS];
};

extern const struct hf_dec_ops hf_stf_dec_ops;

/* The caller's events to be filled. */
struct hf_stf_out {
	struct hf_event *ev;
	size_t n, max;
};

/* Takes note of a hart that has instructions. */
void hf_stf_dec_note_hart(struct hf_stf_dec *d, uint32_t hart);

/* Asks the source for the next place up to limit: 0 or its error. hf_stf_dec_look does so where it is not known. */
int hf_stf_dec_ask(struct hf_stf_dec *d, uint64_t limit);
static inline int hf_stf_dec_look(struct hf_stf_dec *d, uint64_t limit)
{
	return d->place.offset != HF_NOWHERE || limit <= d->looked ? 0 : hf_stf_dec_ask(d, limit);
}

/*
 * Groups one after another as long as they are simple; stops in front of the first that is not. It takes the window for
 * len bytes long, and begins no record in the last HF_STF_FAST_REACH - 1 of them.
 */
void hf_stf_fast_run(struct hf_stf_dec *d, struct hf_stf_out *out, size_t len);
#define HF_STF_FAST_REACH 32

/* Starts over at the sync point. */
void hf_stf_group_begin(struct hf_stf_dec *d);
/* Works on the group until it is done, out is full, or the stream ends: 0 or an error of the reader. */
int hf_stf_group_run(struct hf_stf_dec *d, struct hf_stf_out *out);

/*
 * Where the opcode leads if it is a direct jump: HF_STF_DIRECT or HF_STF_ALWAYS, and *ret_target; else HF_STF_ANYWHERE. In
 * A32 and T32 each may be conditional, T32 by an IT instruction before it.
 */
enum hf_stf_rule hf_stf_rule(uint32_t opcode, unsigned size, unsigned isa, uint64_t pc, uint64_t *ret_target);
/* Whether a RISC-V opcode of size bytes is said to have another size. Not the one of all zeros, as which a record of an
 * instruction that could not be fetched may have. */
static inline bool hf_stf_wrong_size(uint32_t opcode, unsigned size, unsigned isa)
{
	return (isa == HF_ISA_RV32 || isa == HF_ISA_RV64) && opcode && ((opcode & 3) == 3) != (size == 4);
}

/* The next attachment, if the record at group.at is one; moves on. Part of hf_stf_group_run. */
void hf_stf_group_attach(struct hf_stf_dec *d, struct hf_stf_out *out);

/* Whether the first group of the first hart comes next, which begins with what was lost of the header. */
static inline bool hf_stf_dec_owes_header(const struct hf_stf_dec *d)
{
	return d->header->cut && d->sync.offset == d->header->body && d->sync.index == 0 &&
	       (!d->many || d->dec.hart == d->dec.stream->info.first_hart);
}

/* The byte at a stream offset that is in the window. */
static inline const uint8_t *hf_stf_dec_at(const struct hf_stf_dec *d, uint64_t offset)
{
	return hf_reader_at(&d->reader, offset);
}

/* One more event; there is room. */
static inline struct hf_event *hf_stf_out_push(struct hf_stf_out *out, enum hf_event_kind kind)
{
	struct hf_event *ev = &out->ev[out->n++];

	*ev = (struct hf_event){.kind = (uint8_t)kind};
	return ev;
}

static inline bool hf_stf_sync_ours(const struct hf_stf_dec *d, const struct hf_stf_sync *s)
{
	return !d->many || hf_stf_hart_of_thread(s->ids[0]) == d->dec.hart;
}

/* Whether a CONTEXT with the current ids is due. */
static inline bool hf_stf_sync_unsaid(const struct hf_stf_sync *s)
{
	return s->has_ids &&
	       (!s->has_said || s->said[0] != s->ids[0] || s->said[1] != s->ids[1] || s->said[2] != s->ids[2]);
}

/*
 * The bytes of an access whose record has this number for a size, and of its flags those that say what the number was
 * (stf.md 1.5). sizes: those that the opcode allows (codecs/isa/access.h), 0 if it does not say.
 */
static inline uint32_t hf_stf_access_bytes(const struct hf_stf_header *h, uint32_t number, unsigned sizes,
					   uint8_t *ret_flags)
{
	*ret_flags = 0;
	if (h->isa == HF_STF_ISA_ARM || hf_stf_is_one_size(number, sizes))
		return number;
	*ret_flags = HF_EVF_SIZE_BITS;
	if (number % 8 == 0 && hf_stf_is_one_size(number / 8, sizes))
		return number / 8;
	/* as the rest of the file has it */
	*ret_flags = HF_EVF_SIZE_ASSUMED | (h->bits && number % 8 == 0 ? HF_EVF_SIZE_BITS : 0);
	return *ret_flags & HF_EVF_SIZE_BITS ? number / 8 : number;
}

/* ARM: whether an access is of a range, whose length is the word of content behind it (hartfs-stf(5)). */
static inline bool hf_stf_access_is_range(const struct hf_stf_header *h, uint32_t attr)
{
	return h->isa == HF_STF_ISA_ARM && (attr & HF_ARM_ATTR_RANGE);
}

/* ARM attributes are ours (hartfs-stf(5)): bit 4 says that bits 3:0 are an MTE tag. */
static inline uint8_t hf_stf_access_tag(const struct hf_stf_header *h, uint32_t attr)
{
	return h->isa == HF_STF_ISA_ARM && (attr & 0x10) ? attr & 0xf : 0;
}

#endif
