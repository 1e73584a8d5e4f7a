/* SPDX-License-Identifier: Apache-2.0 */
/* What the ID and configuration registers of a trace unit say that its trace does not (K10.5.1.3, Table K10-1). */
#ifndef HF_ETE_CONFIG_H
#define HF_ETE_CONFIG_H

#include "codecs/setup/setup.h"

#include <stdbool.h>

/* The trace id in frames of a source, where no value "trace_id" tells it: several may have the same, in different
 * recordings. */
#define HF_ETE_TRACE_ID(hart) ((uint8_t)((hart) & 0x7f))

/*
 * Instructions of failed transactions did execute, but their effects were undone. They are shown, with the markers of the
 * transaction; a description that says "failed_transactions = drop" is for who wants them left out (K10.5.4.4).
 */
struct hf_ete_config {
	uint8_t trace_id;     /* in frames */
	uint32_t group;       /* of parts (hf_setup_part.group) in which that id is this source's */
	uint32_t max_spec;    /* TRCIDR8: P0 elements that may be uncommitted */
	uint8_t cid_bytes;    /* TRCIDR2.CIDSIZE: 0, 1, 2, 4 */
	uint8_t vmid_bytes;   /* TRCIDR2.VMIDSIZE */
	bool etm;             /* an ETMv4, whose packets differ a little */
	bool commopt;         /* TRCIDR0.COMMOPT: cycle counts commit nothing */
	bool commtrans;       /* TRCIDR0.COMMTRANS: a Transaction Start is not a P0 element */
	bool wfx;             /* TRCIDR2.WFXMODE: WFI and WFE are P0 instructions */
	uint32_t configr;     /* TRCCONFIGR; all ones where it is missing */
	bool return_stack;    /* TRCCONFIGR.RS */
	bool ts_marker;       /* TRCIDR0.TSMARK: timestamps belong to the marker before them */
	bool keep_failed;     /* failed transactions are shown */
	bool m;               /* the core is of the M profile */
	bool itm;             /* no flow, but instrumentation: codecs/itm */
	bool unsynced;        /*   whose bytes have no synchronisation, */
	uint8_t prescaler;    /*   and whose local times count so many cycles */
	bool secure;          /* one that may have the Security Extension: its contexts say which state it is in */
};

/* Source id as a person would call it: "PTM_0 (type PTM1.1)"; at the most 100 bytes and a 0. */
void hf_ete_config_label(const struct hf_setup *setup, uint32_t id, char *buf, size_t size);

/* Whether the source is an ITM: then read fills in what one has. */
bool hf_ete_config_is_itm(const struct hf_setup *setup, uint32_t id);

/* The registers that the source lacks and that say how it is to be decoded: "TRCIDR0, TRCIDR8"; at the most 40 bytes. */
void hf_ete_config_missing(const struct hf_setup *setup, uint32_t id, char *buf, size_t size);

/*
 * Of the source with that trace id. Registers that are missing have the values of most trace units: COMMOPT 0, MAXSPEC
 * 0, ids of 4 bytes, WFXMODE 0, no return stack; *ret_missing says that some were. HF_ERR_SETUP_VALUE: a register that
 * is no number. HF_ERR_ETE_SOURCE: a trace unit whose trace says more than the flow of instructions (data, load
 * and store or, but for the M profile, conditional tracing), or that is neither ETE nor ETMv4; *error has its name.
 */
int hf_ete_config_read(struct hf_ete_config *config, const struct hf_setup *setup, uint32_t id, bool *ret_missing,
		       struct hf_setup_error *error);

#endif
