/* SPDX-License-Identifier: Apache-2.0 */
/* Reads sections of groups (group.h), whose bytes may be damaged. For one thread. Internal to index/. */
#ifndef HF_INDEX_SUMMARY_GROUP_READ_H
#define HF_INDEX_SUMMARY_GROUP_READ_H

#include "index/summary/keys.h"
#include "index/summary/summary_internal.h"
#include "index/summary/summary_tables.h"

struct hf_group_reader {
	struct hf_summary *summary;
	const struct hf_summary_hart *hart;
	uint64_t groups; /* of the hart */
	/* The section that was read last. */
	const uint8_t *at, *end;
	struct hf_group_room *room;
};

/* To be closed in any case. HF_ERR_NOT_FOUND: there is no such hart. HF_ERR_NOMEM. */
int hf_group_reader_open(struct hf_summary *summary, uint32_t hart, struct hf_group_reader *reader);
void hf_group_reader_close(struct hf_group_reader *reader);
/* Opens a section. HF_NOTE_END: the group does not have it. HF_ERR_STATE. */
int hf_group_read(struct hf_group_reader *reader, uint64_t group, enum hf_section section);
/* The next number of the section. HF_ERR_STATE. */
int hf_group_number(struct hf_group_reader *reader, uint64_t *ret_number);

/* What the hart has: bits for WRITES, READS, those of attempts, and registers; and keys, to be freed in any case. */
#define HF_KNOWN_REGISTERS 4u
struct hf_group_keys {
	uint64_t known;
	struct hf_keys rare, registers;
};
int hf_group_read_keys(struct hf_group_reader *reader, struct hf_group_keys *ret_keys);
void hf_group_keys_free(struct hf_group_keys *keys);

#endif
