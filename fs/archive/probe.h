/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a file is, by its first bytes: a container or plain bytes, and in it a stream that a codec knows.
 */
#ifndef HF_FS_PROBE_H
#define HF_FS_PROBE_H

#include "fs/archive/archive.h"
#include "codecs/codec.h"
#include "fs/archive/stamp.h"

/*
 * HF_ERR_IO or a shortage if the file could not be read, which says nothing of what it is.
 * *ret_codec is NULL if neither its content nor its name claims a format. *ret_stamp is of the file that was looked at.
 * Reads little and decodes less: the first bytes of a container, more only if nothing comes out of them.
 */
int hf_probe_file(const struct hf_archive *archive, const char *path, const struct hf_box **ret_box,
		  const struct hf_codec **ret_codec, struct hf_stamp *ret_stamp);

/* The first bytes of the file, or of what is in its container: head[size] at the most. Errors as above. */
int hf_probe_head(const struct hf_archive *archive, const char *path, uint8_t *head, size_t size, size_t *ret_n);

#endif
