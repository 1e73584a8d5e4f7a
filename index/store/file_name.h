/* SPDX-License-Identifier: Apache-2.0 */
/* The names of the files of a capture in an index directory. Internal to index/, but for hf_index_files. */
#ifndef HF_INDEX_FILE_NAME_H
#define HF_INDEX_FILE_NAME_H

#include "index/base/identity.h"
#include "index/base/view_key.h"

#define HF_HEX_SIZE 33
#define HF_FILE_NAME_SIZE 256

/* By what the names of its files begin: all that decides the events of a capture, as identity, schema and decoder versions. */
void hf_index_files(const struct hf_identity *identity, uint64_t ret_files[2]);
/* 32 hexadecimal digits of that. */
void hf_index_put_hex(const uint64_t files[2], char hex[HF_HEX_SIZE]);
/* The same of a capture. */
void hf_index_file_hex(const struct hf_identity *identity, char hex[HF_HEX_SIZE]);
/* "<hex>.hfi", the decode index. */
void hf_index_file_name_index(const struct hf_identity *identity, char name[HF_FILE_NAME_SIZE]);
/* "<hex>.<view>.<key>.hfv". HF_ERR_LIMIT if the view's name is too long. */
int hf_index_file_name_view(const struct hf_identity *identity, const struct hf_view_key *key, char name[HF_FILE_NAME_SIZE]);
/* "<hex>.hfs". */
void hf_index_file_name_spool(const struct hf_identity *identity, char name[HF_FILE_NAME_SIZE]);
/* "<hex>.hfq". */
void hf_index_file_name_summary(const struct hf_identity *identity, char name[HF_FILE_NAME_SIZE]);
/* The same of hf_index_files. */
void hf_index_file_name_summary_of(const uint64_t files[2], char name[HF_FILE_NAME_SIZE]);

#endif
