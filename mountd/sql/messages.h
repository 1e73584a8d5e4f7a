/* SPDX-License-Identifier: Apache-2.0 */
/* Requests and answers, as they are written and read: both sides use it, and the fuzzer. */
#ifndef HF_SQL_MESSAGES_H
#define HF_SQL_MESSAGES_H

#include "mountd/sql/protocol.h"
#include "mountd/sql/wire.h"

/* What a client asks; texts are borrowed from the message. */
struct hf_request {
	enum hf_message message;
	uint32_t cursor; /* of NEXT and CLOSE */
	uint32_t rows;	 /* of OPEN and NEXT: wanted with the answer, at least 1 */
	/* of OPEN */
	uint32_t table;
	uint32_t columns; /* bits */
	uint32_t flags;
	uint32_t ranged; /* bits */
	struct {
		int64_t first, last;
	} range[HF_PROTOCOL_COLUMNS];
	const char *equal[HF_PROTOCOL_COLUMNS]; /* NULL: any */
	/* Each has 8 bytes, as in the message; NULL: any. */
	struct {
		const uint8_t *numbers;
		uint32_t count;
	} among[HF_PROTOCOL_COLUMNS];
};

/* Number i of them. */
int64_t hf_request_among(const struct hf_request *request, unsigned column, uint32_t i);
void hf_request_write(struct hf_out *out, const struct hf_request *request);
/* bytes: what follows the head. False: it is none. */
bool hf_request_read(uint32_t message, const uint8_t *bytes, size_t size, struct hf_request *ret_request);

/* The tables, as HELLO tells them; texts are borrowed from the message. */
struct hf_schema {
	uint32_t count;
	struct hf_schema_table {
		const char *name;
		uint32_t flags, count;
		struct hf_schema_column {
			const char *name;
			uint32_t flags;
		} column[HF_PROTOCOL_COLUMNS];
	} table[HF_PROTOCOL_TABLES];
};

/* False: it is none, or of another version, which *ret_version tells (0: of no hartfs at all). Names are words of small
 * letters and digits, and none is there twice. */
bool hf_schema_read(const uint8_t *bytes, size_t size, struct hf_schema *ret_schema, uint32_t *ret_version);
void hf_schema_begin(struct hf_out *out, uint32_t tables);
void hf_schema_add_table(struct hf_out *out, const char *name, uint32_t flags, uint32_t columns);
void hf_schema_add_column(struct hf_out *out, const char *name, uint32_t flags);

/* ROWS: the head of it; the rows are what in still has. */
struct hf_answer_head {
	uint32_t cursor, flags, count;
};
bool hf_answer_head(struct hf_in *in, struct hf_answer_head *ret_head);

struct hf_cell {
	int type;
	int64_t number;
	const char *text;
	size_t size;
};

/* One row with the cells of these columns; others are NULL. False: it is none. */
bool hf_answer_row(struct hf_in *in, uint32_t columns, int64_t *ret_id, struct hf_cell cell[HF_PROTOCOL_COLUMNS]);

/* FAILED; text is borrowed. */
bool hf_failed_read(const uint8_t *bytes, size_t size, uint32_t *ret_failure, const char **ret_text);
void hf_failed_write(struct hf_out *out, uint32_t failure, const char *text);

#endif
