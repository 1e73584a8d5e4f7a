/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Messages of N-Trace: bytes to struct hf_ntrace_message and back. The upper six bits of a byte (MDO) hold bits of
 * fields, the lowest first. The low two bits are MSEO: 00 continues, 01 ends a variable field, 11 ends the message
 * (3.1).
 */
#ifndef HF_NTRACE_MESSAGE_H
#define HF_NTRACE_MESSAGE_H

#include "codecs/base/err.h"
#include "codecs/ntrace/params.h"

#include <stddef.h>

enum hf_ntrace_tcode {
#define HF_NTRACE_MESSAGE(tcode, name, text, ...) HF_NTRACE_##name = (tcode),
#include "codecs/ntrace/messages.def"
#undef HF_NTRACE_MESSAGE
	HF_NTRACE_VENDOR_FIRST = 56,
	HF_NTRACE_VENDOR_LAST = 62,
	HF_NTRACE_TCODES = 64,
};

enum hf_ntrace_field {
	HF_NTRACE_FIELD_NONE,
#define HF_NTRACE_FIELD(name, ...) HF_NTRACE_FIELD_##name,
#include "codecs/ntrace/fields.def"
#undef HF_NTRACE_FIELD
	HF_NTRACE_FIELDS,
};

enum hf_ntrace_sync {
	HF_NTRACE_SYNC_RESET = 1,
	HF_NTRACE_SYNC_PERIODIC = 2,
	HF_NTRACE_SYNC_DEBUG = 3,
	HF_NTRACE_SYNC_ENABLE = 5,
	HF_NTRACE_SYNC_OVERRUN = 7,
	HF_NTRACE_SYNC_POWER = 9, /* exit from power-down */
	HF_NTRACE_SYNC_SAMPLE = 15, /* of SiFive's units: no synchronisation, a pc that was executed then */
};

enum hf_ntrace_btype {
	HF_NTRACE_BTYPE_JUMP,
	HF_NTRACE_BTYPE_TRAP,      /* an exception or an interrupt */
	HF_NTRACE_BTYPE_EXCEPTION,
	HF_NTRACE_BTYPE_INTERRUPT,
};

enum hf_ntrace_rcode {
	HF_NTRACE_RCODE_ICNT,
	HF_NTRACE_RCODE_HIST,
	HF_NTRACE_RCODE_HREPEAT,
	/* Of SiFive's encoders before 1.0: the number of branches in a row that were not taken, or taken. */
	HF_NTRACE_RCODE_NOT_TAKEN = 8,
	HF_NTRACE_RCODE_TAKEN = 9,
};

/* CKSRC: what an In-Circuit Trace message is about. */
enum hf_ntrace_cksrc {
	HF_NTRACE_CK_CONTROL = 0,
	HF_NTRACE_CK_TRIGGER = 8,
	HF_NTRACE_CK_CALL = 9,
	HF_NTRACE_CK_EXCEPTION = 10,
	HF_NTRACE_CK_INTERRUPT = 11,
	HF_NTRACE_CK_COUNTERS = 12,
	HF_NTRACE_CK_CONTEXT = 13,
	HF_NTRACE_CK_WATCHPOINT = 14,
	HF_NTRACE_CK_SAMPLE = 15,
};

/* The longest such run. In a longer one I-CNT would have been full before (6.2). */
#define HF_NTRACE_RUN_MAX 0x3fffff

/* ECODE of Error: program trace was lost. */
#define HF_NTRACE_ECODE_PROGRAM 4
#define HF_NTRACE_EVCODE_DISABLED 4

/*
 * The longest standard message has 38 bytes (3). Messages of vendors may be longer. If no message ends for longer than
 * this, the bytes are memory that was never written.
 */
#define HF_NTRACE_MESSAGE_MAX 128

/* A parsed message. Fields that it does not have are 0. */
struct hf_ntrace_message {
	uint8_t tcode;
	bool has_src;     /* SRC was read; true if the whole message was read */
	bool has_time;    /* TSTAMP */
	uint8_t sync, btype, rcode, etype, evcode, cdf, cksrc;
	uint16_t src;
	uint32_t length;  /* bytes */
	uint32_t hrepeat; /* HREPEAT; in RepeatBranch: B-CNT */
	uint32_t hist;    /* HIST; in ResourceFull with RCODE 1 or 2: RDATA0 */
	uint64_t icnt;    /* I-CNT, IDTAG; in ResourceFull with another RCODE: RDATA0 */
	uint64_t address; /* F-ADDR or U-ADDR, with bit 0 back in place */
	uint64_t value;   /* PROCESS, ECODE, DATA or CKDATA0; in a vendor's message: the first 64 bits behind SRC */
	uint64_t value1;  /* CKDATA1 */
	uint64_t time;
};

/* Fields of a TCODE in their order, up to HF_NTRACE_FIELD_NONE. A reserved or a vendor's TCODE has none. */
const uint8_t *hf_ntrace_fields(const struct hf_ntrace_params *params, unsigned tcode);
/* NULL if it has none */
const char *hf_ntrace_tcode_name(const struct hf_ntrace_params *params, unsigned tcode);
const char *hf_ntrace_field_name(unsigned field);
uint64_t hf_ntrace_field(const struct hf_ntrace_message *msg, unsigned field);
/* Whether the message has that field. Its TCODE must have it. */
bool hf_ntrace_has_field(const struct hf_ntrace_message *msg, unsigned field);

/* A field as records.txt shows it: addresses with their bit 0. */
struct hf_ntrace_shown {
	const char *name;
	uint64_t value;
	bool hex; /* the value is shown in hexadecimal */
};

/* False: the message does not have that field. */
bool hf_ntrace_show_field(const struct hf_ntrace_message *msg, unsigned field, struct hf_ntrace_shown *ret_shown);

/* Whether SYNC, ETYPE or EVCODE is a reserved value (7.4, 7.12, 8.4). The flow does not depend on these fields. */
bool hf_ntrace_is_odd(const struct hf_ntrace_message *msg);

static inline bool hf_ntrace_is_sync(unsigned tcode)
{
	return tcode == HF_NTRACE_SYNC || tcode == HF_NTRACE_DIRECT_BRANCH_SYNC ||
	       tcode == HF_NTRACE_INDIRECT_BRANCH_SYNC || tcode == HF_NTRACE_INDIRECT_BRANCH_HIST_SYNC;
}

/* Whether it tells where the hart was, and nothing of how it came there. */
static inline bool hf_ntrace_is_sample(const struct hf_ntrace_message *msg)
{
	return msg->tcode == HF_NTRACE_SYNC && msg->sync == HF_NTRACE_SYNC_SAMPLE && !msg->icnt;
}

/* What says nothing about the flow: text of software, samples, events. */
static inline bool hf_ntrace_is_beside(const struct hf_ntrace_message *msg)
{
	const unsigned tcode = msg->tcode;

	return tcode == HF_NTRACE_DATA_ACQUISITION || tcode == HF_NTRACE_AUX_ACCESS_WRITE || tcode == HF_NTRACE_CIRCUIT ||
	       tcode == HF_NTRACE_CIRCUIT_SYNC || hf_ntrace_is_sample(msg);
}

/* Whether TSTAMP is the time itself, of whatever unit. */
static inline bool hf_ntrace_has_whole_time(unsigned tcode)
{
	return hf_ntrace_is_sync(tcode) || tcode == HF_NTRACE_CIRCUIT_SYNC;
}

/* A byte between two messages: idle, or memory that was never written. */
static inline bool hf_ntrace_is_padding(uint8_t byte)
{
	return byte == 0xff || byte == 0x00;
}

/*
 * Reads the message at bytes[n], whose first byte is no padding. 0: *ret_msg is the whole message. An error: *ret_msg
 * is what could be read of it. After HF_ERR_NTRACE_TCODE, _VALUE and _FIELDS its end is known (length bytes). After
 * HF_ERR_NTRACE_MSEO and _LONG it is not: skip bytes up to one that ends a message. HF_NOTE_END: the message goes on
 * behind the n bytes.
 */
int hf_ntrace_message_read(const struct hf_ntrace_params *params, const uint8_t *bytes, size_t n,
			   struct hf_ntrace_message *ret_msg);

/* The longest message that hf_ntrace_message_write makes. */
#define HF_NTRACE_WRITE_MAX 48

/* Writes the message to bytes[HF_NTRACE_WRITE_MAX], returns its length. Not for a vendor's. msg->length is not used. */
size_t hf_ntrace_message_write(const struct hf_ntrace_params *params, const struct hf_ntrace_message *msg,
			       uint8_t *bytes);

#endif
