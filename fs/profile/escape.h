/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Foreign strings, such as names of functions, in markup and in scripts. What is no printable UTF-8 comes out as U+FFFD,
 * so whoever shows it can tell that something stood there.
 */
#ifndef HF_FS_PROFILE_ESCAPE_H
#define HF_FS_PROFILE_ESCAPE_H

#include "codecs/base/sink.h"

/* Longer names are cut there, with an ellipsis behind. */
#define HF_ESCAPE_NAME ((size_t)256)

/* As text or in a quoted attribute of XML or HTML. */
void hf_escape_xml(struct hf_sink *sink, const char *s, size_t n);
/* What stands between the quotes of a JSON string, also of one in a script element: none of < > & is in it. */
void hf_escape_json(struct hf_sink *sink, const char *s, size_t n);
/* As text that is nothing but UTF-8: only what is none, and what is not printable, is changed. */
void hf_escape_nothing(struct hf_sink *sink, const char *s, size_t n);

/* 1,234,567 */
void hf_put_grouped(struct hf_sink *sink, uint64_t n);

#endif
