/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The catalogue of an archive: what each file was found to be, by path, so that an archive that was seen before can be
 * listed without opening a capture or an index. What it says is believed as long as size, times and inode of the file
 * are the same, and confirmed by the index as soon as the bytes of a view are wanted.
 *
 * One published file, never changed: lookups need no lock and wait for nobody. What is put is kept in memory until
 * hf_catalogue_flush writes a new file of both and publishes that in place of the old one. Thread-safe.
 */
#ifndef HF_INDEX_CATALOGUE_H
#define HF_INDEX_CATALOGUE_H

#include "index/index.h"

struct hf_catalogue;

/* Which catalogue. Whatever differs here has one of its own. */
struct hf_catalogue_key {
	const char *path;   /* canonical, of the archive's root */
	uint64_t ino;       /* of the root: not its device, which is another one after each mount of some file systems */
	int64_t btime_ns;   /* when the root was made, 0 if that is not known */
	const struct hf_view_key *views; /* whose sizes are kept */
	size_t view_count;
	/* What stands at a path now is asked of some entries of each flush, so that those of files that are gone do
	 * not stay for ever. May be NULL. */
	bool (*exists)(void *ctx, const char *path);
	void *ctx;
};

/* By what a file is taken for the one that was looked at. */
struct hf_catalogue_stamp {
	uint64_t size, ino;
	int64_t mtime_ns, ctime_ns;
};

enum hf_catalogue_kind {
	HF_CATALOGUE_GONE,    /* nothing is known; only to be put */
	HF_CATALOGUE_PLAIN,   /* no capture */
	HF_CATALOGUE_CAPTURE, /* a capture of which no more is known */
	HF_CATALOGUE_INDEXED, /* one with an index and view tables */
};

/* The texts about an indexed capture. */
enum hf_text { HF_TEXT_INFO, HF_TEXT_ERRORS, HF_TEXTS };

#define HF_KNOWN_VERSION_SIZE 32

/* What is known of one version of an indexed capture as a whole: the catalogue keeps it as it is. */
struct hf_known {
	uint64_t print[2];             /* of the identity */
	uint64_t files[2];             /* hf_index_files */
	const struct hf_codec *codec;  /* as the index has it; NULL: the stream could not be opened */
	struct hf_diag undecoded;      /* code 0, or why nothing of it could be decoded: not even opened, if codec is NULL */
	uint64_t stream_size;          /* decompressed; HF_NOWHERE: there is none */
	uint64_t text_size[HF_TEXTS];  /* HF_NOWHERE: not known yet */
	uint64_t problems;             /* lines of errors.txt */
	char version[HF_KNOWN_VERSION_SIZE]; /* what the stream says of itself, as the next three: all zero if it could not be opened */
	uint32_t arch, isa;            /* enum hf_arch, enum hf_isa; isa is that of the first instruction */
	uint32_t xlen;
	uint64_t merged_size;          /* of all harts' views as one; HF_NOWHERE: there is none */
	int original;                  /* number of the view that is the stream itself, or -1 */
};

struct hf_catalogue_entry {
	struct hf_catalogue_stamp stamp;
	enum hf_catalogue_kind kind;
	/* Of captures. */
	const struct hf_box *box;        /* NULL: plain bytes */
	const struct hf_codec *codec;    /* as recognised */
	/* Of indexed ones. */
	struct hf_known known;           /* original: among the views of the key */
	uint64_t beside;                 /* stands for the file beside it that views depend on; 0: none */
	size_t hart_count;
	struct hf_index_hart *hart;      /* by id: HF_HART_RECORDS, if it is there, is the last */
	uint64_t *size;                  /* [hart_count * view_count], HF_NOWHERE: no such view */
};

/* HF_ERR_NOMEM, or HF_ERR_LIMIT if the key is too long; a file that is not there or of no use is none. dirfd: the index
 * directory, borrowed. The key is copied. */
int hf_catalogue_open(int dirfd, const struct hf_catalogue_key *key, struct hf_catalogue **ret_catalogue);
/* What was not flushed is lost. */
void hf_catalogue_close(struct hf_catalogue *catalogue);

/* HF_ERR_NOT_FOUND if nothing is known of a file with that stamp. An entry that was found is to be cleared. */
int hf_catalogue_find(struct hf_catalogue *catalogue, const char *path, const struct hf_catalogue_stamp *stamp,
		      struct hf_catalogue_entry *ret_entry);
void hf_catalogue_clear(struct hf_catalogue_entry *entry);

/* HF_ERR_NOMEM; HF_ERR_LIMIT if too much waits to be flushed, or of an entry that is too large to be kept. */
int hf_catalogue_put(struct hf_catalogue *catalogue, const char *path, const struct hf_catalogue_entry *entry);
/* Entries that wait to be flushed; from HF_CATALOGUE_MANY on it is high time. */
size_t hf_catalogue_pending(struct hf_catalogue *catalogue);
#define HF_CATALOGUE_MANY 32768

/* Publishes what was put. HF_ERR_BUSY if another process is doing that: everything waits on; as after other errors, such as
 * HF_ERR_INDEX_DIR. */
int hf_catalogue_flush(struct hf_catalogue *catalogue);

#endif
