/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which file has the debug information of another: the one of the same build (build id), or, of a program without a
 * build id, the one that its section .gnu_debuglink names and whose bytes have the checksum that stands there.
 */
#ifndef HF_FS_DEBUG_FILE_H
#define HF_FS_DEBUG_FILE_H

#include "codecs/image/elf_read.h"

struct hf_debug_id {
	uint8_t build_id[32]; /* cut to this size */
	size_t build_id_size; /* 0: it has none */
	char link[256];	      /* the name of its debug file, or "" */
	uint32_t link_sum;    /* CRC-32 of that file's bytes */
	bool has_lines;	      /* it has a line table, so that it may be a debug file */
};

/* The only errors are passing ones (hf_err_is_passing): a damaged section counts as missing. */
int hf_debug_id_read(const struct hf_elf_file *elf, struct hf_debug_id *ret_id);
/*
 * Whether other, whose file is called name, has the debug information of a file with that id. If that has lines, other
 * must have lines, too. Reads all of src if only the checksum can tell; a file above 4 GiB does not count. Errors are
 * those of reading.
 */
int hf_debug_is_of(const struct hf_debug_id *id, const struct hf_debug_id *other, const char *name, struct hf_src *src,
		   bool *ret_is);

#endif
