/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What "hartfs serve" and its clients say to each other, over a stream socket: PROTOCOL.md. Either side takes the other
 * for hostile: nothing that it says is believed before it was checked.
 */
#ifndef HF_SQL_PROTOCOL_H
#define HF_SQL_PROTOCOL_H

#include <stdint.h>

#define HF_PROTOCOL_MAGIC 0x51534648u /* "HFSQ" */
/* Changes with every message that changes. */
#define HF_PROTOCOL_VERSION 3u

/* Each message begins with two numbers of four bytes: how many bytes follow them, and enum hf_message. */
#define HF_MESSAGE_HEAD 8u
/* Bytes behind that, at most. */
#define HF_REQUEST_MOST (64u << 10)
#define HF_REPLY_MOST (1u << 20)

enum hf_message {
	/* the server's */
	HF_MESSAGE_HELLO = 1, /* first of all, once */
	HF_MESSAGE_ROWS,      /* the answer to OPEN and NEXT */
	HF_MESSAGE_FAILED,    /* the same, if there is none */
	/* the client's */
	HF_MESSAGE_OPEN = 16,
	HF_MESSAGE_NEXT,
	HF_MESSAGE_CLOSE,  /* has no answer */
	HF_MESSAGE_CANCEL, /* ends the request that is under way, which is answered with FAILED; has no answer itself */
};

enum hf_failure {
	HF_FAILURE_ASKED = 1, /* it cannot be asked so, or of this capture */
	HF_FAILURE_CANCELLED,
	HF_FAILURE_READING, /* the capture, its index, or memory */
	HF_FAILURE_PROTOCOL,
};

/* Tables, columns of one, and cursors that are open, at most. */
#define HF_PROTOCOL_TABLES 64u
#define HF_PROTOCOL_COLUMNS 31u
#define HF_PROTOCOL_CURSORS 1024u
/* Rows in one answer, at most; and numbers in one condition. */
#define HF_PROTOCOL_ROWS 8192u
#define HF_PROTOCOL_AMONG 4096u

/* Flags of a column. */
#define HF_COL_TEXT 1u	 /* else numbers */
#define HF_COL_HIDDEN 2u
#define HF_COL_ANY 4u	 /* numbers or texts */
#define HF_COL_ASKED 8u	 /* a condition on it is worth sending */
#define HF_COL_LISTED 16u /* and names few chunks */
#define HF_COL_ORDER 32u /* rows of a hart come in its order */
#define HF_COL_NEEDED 64u /* there must be a condition that it is one number or text */
#define HF_COL_AMONG 128u /* a condition that it is one of several numbers is worth sending */
/* Flags of a table. */
#define HF_TAB_HART 1u	  /* its first two columns are capture and hart, and a capture is needed */
#define HF_TAB_ORDERED 2u /* by hart, then by the column with HF_COL_ORDER, both ways */
#define HF_TAB_SUMMED 4u  /* few rows, out of the summary */
#define HF_TAB_RARE 8u	  /* a list of the summary knows where its rows are */

/* Kinds of conditions. */
#define HF_COND_RANGE 1u /* a number from first to last, both of them in it */
#define HF_COND_EQUAL 2u /* this text */
#define HF_COND_AMONG 3u /* one of these numbers */

/* Types of values. */
enum { HF_CELL_NULL, HF_CELL_NUMBER, HF_CELL_TEXT };

/* Flags of ROWS. */
#define HF_ROWS_END 1u /* there are no more, and the cursor is closed */
/* Flags of OPEN. */
#define HF_OPEN_REVERSE 1u
#define HF_OPEN_ONE_HART 2u /* fails if rows of a second hart would come */
#define HF_OPEN_FLAGS (HF_OPEN_REVERSE | HF_OPEN_ONE_HART)

#endif
