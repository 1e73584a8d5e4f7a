/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Speculation and transaction resolution (K10.5.3, K10.5.4): elements go in as packets say them and come out when it is
 * certain that they happened, in the order of the stream. What comes out is never taken back.
 *
 * The last P0 element that is committed is held back with all behind it, until the next one is committed: a Mispredict
 * may still name it, and what follows tells where its branch went.
 */
#ifndef HF_ETE_RESOLVE_H
#define HF_ETE_RESOLVE_H

#include "codecs/ete/packet.h"

enum hf_ete_element_kind {
	/* P0 */
	HF_ETE_EL_ATOM,
	HF_ETE_EL_EXCEPTION,
	HF_ETE_EL_SOURCE,
	HF_ETE_EL_Q,
	HF_ETE_EL_TRANSACTION_START, /* P0 unless COMMTRANS */
	/* go with the P0 elements around them */
	HF_ETE_EL_TARGET,
	HF_ETE_EL_CONTEXT,
	HF_ETE_EL_TRACE_ON,
	HF_ETE_EL_TRANSACTION_COMMIT,
	HF_ETE_EL_TRANSACTION_FAILURE,
	HF_ETE_EL_EXCEPTION_RETURN, /* of the M profile P0, too */
	HF_ETE_EL_FUNCTION_RETURN,  /* M profile: P0 */
	/* kept whatever happens to those (Table K10-2) */
	HF_ETE_EL_TRACE_INFO,
	HF_ETE_EL_TIMESTAMP,
	HF_ETE_EL_MARKER, /* of the next timestamp */
	HF_ETE_EL_CYCLES,
	HF_ETE_EL_EVENT,
	HF_ETE_EL_INSTRUMENTATION,
	HF_ETE_EL_LOSS,  /* the flow ends here: overflow, discard, bytes that cannot be read, the end of a recording */
	HF_ETE_EL_PART,  /* a recording begins: value is its number */
	HF_ETE_EL_NOTE,  /* something is doubtful (DOUBT) or odd, and goes on */
	HF_ETE_EL_KINDS
};

#define HF_ETE_EL_KEPT HF_ETE_EL_TRACE_INFO /* and above */

enum hf_ete_element_flags {
	HF_ETE_EL_TAKEN = 1,   /* ATOM: E, as it stands now */
	HF_ETE_EL_INITIAL = 2, /* ATOM: E as it was first traced */
	HF_ETE_EL_KNOWN = 4,   /* EXCEPTION: its address; Q: its count; CYCLES: its value */
	HF_ETE_EL_SILENT = 8,  /* LOSS: nothing to report */
	HF_ETE_EL_DOUBT = 16,  /* NOTE: of what follows */
};

struct hf_ete_element {
	uint64_t offset; /* stream offset of its packet */
	uint64_t value;  /* address, timestamp, cycles, INSTRUMENTATION; LOSS: bytes */
	uint32_t count;  /* Q: instructions; CONTEXT: CONTEXTID; LOSS, NOTE: detail */
	uint32_t extra;  /* CONTEXT: VMID; LOSS, NOTE: -code */
	uint8_t kind;    /* enum hf_ete_element_kind */
	uint8_t flags;   /* enum hf_ete_element_flags */
	uint16_t info;   /* EXCEPTION: type; CONTEXT: its byte; EVENT: number; INSTRUMENTATION: EL */
	uint8_t is;      /* of an address */
};

/* Elements that can wait. What an implementation may leave uncommitted (MAXSPEC) is some hundred. */
#define HF_ETE_QUEUE_MAX 4096
/* Elements that wait behind the P0 element that is held back. */
#define HF_ETE_HELD_MAX 256

enum hf_ete_transaction {
	HF_ETE_TX_NONE,
	HF_ETE_TX_OPEN,    /* the queue begins inside a transaction */
	HF_ETE_TX_PASSING, /* inside one that commits, has failed, or is too long to wait for its outcome */
};

/* What counts of the elements ahead of some place in the stream, if the queue is to begin with those behind it. */
struct hf_ete_ahead {
	uint32_t unseen;  /* P0 elements that are neither committed nor in the queue */
	uint32_t behind;  /* elements between the held one and here */
	uint8_t held;     /* the youngest P0 element is not in the queue and may still be: 1, an atom: 2 */
	uint8_t tx;       /* enum hf_ete_transaction */
};

struct hf_ete_resolve {
	const struct hf_ete_config *config; /* borrowed */
	struct hf_ete_element *queue;       /* owned: [head, tail) wait */
	uint32_t head, tail;
	uint32_t out;     /* [head, out) may leave */
	uint32_t settled; /* [head, settled) are committed or before all that are not */
	uint32_t last;    /* index of the youngest committed P0 element, or NO_INDEX; its kind does not matter */
	uint32_t waiting; /* P0 elements in [settled, tail) */
	uint32_t ends;    /* elements in the queue that may end a transaction */
	uint32_t mark;    /* elements before this index are ahead of the mark; see hf_ete_resolve_set_mark */
	bool mark_void;   /* something reached ahead of it */
	struct hf_ete_ahead ahead; /* of the head */
};

#define HF_ETE_NO_INDEX UINT32_MAX

int hf_ete_resolve_init(struct hf_ete_resolve *r, const struct hf_ete_config *config);
void hf_ete_resolve_fini(struct hf_ete_resolve *r);
/* Empty, with nothing ahead, or (not NULL) so much. */
void hf_ete_resolve_reset(struct hf_ete_resolve *r, const struct hf_ete_ahead *ahead);

/*
 * HF_ERR_ETE_QUEUE: no room; HF_ERR_ETE_COMMIT: there are not so many. The elements before are not touched then, and
 * the caller ends them (hf_ete_resolve_lose).
 */
int hf_ete_resolve_push(struct hf_ete_resolve *r, const struct hf_ete_element *element);
/* n <= 24 atoms, the oldest in bit 0. */
int hf_ete_resolve_push_atoms(struct hf_ete_resolve *r, uint32_t atoms, unsigned n, uint64_t offset);
int hf_ete_resolve_commit(struct hf_ete_resolve *r, uint32_t n);
int hf_ete_resolve_cancel(struct hf_ete_resolve *r, uint32_t n);
/* False: no atom that it can mean is there any more. */
bool hf_ete_resolve_mispredict(struct hf_ete_resolve *r);
/* The speculation depth where trace analysis starts; later ones are known. */
void hf_ete_resolve_unseen(struct hf_ete_resolve *r, uint32_t n);

/*
 * What is not committed never will be: it goes, all else may leave. Of an open transaction nothing is left if it
 * failed by that. The number of P0 elements that went.
 */
uint32_t hf_ete_resolve_lose(struct hf_ete_resolve *r, bool failed);

/* Decides what may leave, after a packet. */
void hf_ete_resolve_settle(struct hf_ete_resolve *r);

static inline const struct hf_ete_element *hf_ete_resolve_front(const struct hf_ete_resolve *r)
{
	return r->head < r->out ? &r->queue[r->head] : NULL;
}

void hf_ete_resolve_pop(struct hf_ete_resolve *r);

/*
 * Entry points. A mark is a place in the stream, between packets; once all elements ahead of it have left, decoding can
 * begin there with what *ret_ahead says. hf_ete_resolve_marked: 1 if they have, -1 if the mark is void and another must
 * be set, else 0.
 */
void hf_ete_resolve_set_mark(struct hf_ete_resolve *r, struct hf_ete_ahead *ret_ahead);
static inline int hf_ete_resolve_marked(const struct hf_ete_resolve *r)
{
	return r->mark_void ? -1 : r->mark <= r->head;
}

/* What follows the front element up to the next P0 element, TRACE_ON or LOSS: the last TARGET and CONTEXT, or NULL. */
struct hf_ete_follow {
	const struct hf_ete_element *target, *context;
	bool pops; /* a P0 element or TRACE_INFO comes before a target: the return stack tells */
	bool returns; /* an exception return of an M core comes first: target and context are what follows that */
};

void hf_ete_resolve_follow(const struct hf_ete_resolve *r, struct hf_ete_follow *ret);

#endif
