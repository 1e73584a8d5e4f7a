/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the captures of an archive share; each points to it. Set before there is a capture, and never changed. A file
 * includes the headers of those parts that it uses.
 *
 * Locks, in the order in which they may be taken: the table's, a capture's, the pool's. The executor's, the decoder
 * pool's, kept texts', executables', open files' and the catalogue's are leaves. None is held while something is
 * decoded, indexed or read from a disk; that of the debug directory is while it is listed.
 */
#ifndef HF_FS_CAPTURE_SHARED_H
#define HF_FS_CAPTURE_SHARED_H

struct hf_shared {
	struct hf_common *common;
	/* Of the archive. */
	const struct hf_archive *archive;
	struct hf_open_files *open_files;
	struct hf_descriptors *descriptors;
	struct hf_params_access *params_access;
	const struct hf_views *views;
	struct hf_debug_dir *debug_dir;
	/* Of indexes. */
	int index_fd; /* the index directory in calls of index/: a descriptor, or that of a memdir */
	struct hf_index_dir *index_dir;
	struct hf_builder *builder;
	/* Of captures that are open. */
	struct hf_open_pool *open_pool;
	struct hf_decoder_pool *decoder_pool;
	struct hf_executables *executables;
	/* Of all that were found. */
	struct hf_capture_table *table;
	struct hf_not_captures *not_captures;
	struct hf_catalogue_use *catalogue_use;
	struct hf_jobs *jobs;
};

#endif
