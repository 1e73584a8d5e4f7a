/* SPDX-License-Identifier: Apache-2.0 */
/* An entry of a catalogue: what is known of a file. */
#ifndef HF_INDEX_CATALOGUE_ENTRY_H
#define HF_INDEX_CATALOGUE_ENTRY_H

#include "index/base/hart.h"

#include <stddef.h>

struct hf_box;
struct hf_codec;

/* A file with the same stamp is taken to be unchanged. */
struct hf_catalogue_stamp {
	uint64_t size, ino;
	int64_t mtime_ns, ctime_ns;
};

enum hf_catalogue_kind {
	HF_CATALOGUE_GONE,	  /* nothing is known; only to be put */
	HF_CATALOGUE_NOT_CAPTURE, /* no capture */
	HF_CATALOGUE_CAPTURE,	  /* a capture of which no more is known */
	HF_CATALOGUE_INDEXED,	  /* one with an index and view tables */
};

/* The texts about an indexed capture. */
enum hf_text { HF_TEXT_INFO, HF_TEXT_ERRORS, HF_TEXTS };

#define HF_KNOWN_VERSION_SIZE 32
#define HF_CATALOGUE_PROFILE "profile "

/* What is known of one version of an indexed capture as a whole. */
struct hf_known {
	uint64_t print[2];             /* of the identity */
	uint64_t files[2];             /* hf_index_files */
	const struct hf_codec *codec;  /* as the index has it; NULL: the stream could not be opened */
	struct hf_diag undecoded;      /* code 0, or why nothing of it could be decoded: not even opened, if codec is NULL */
	uint64_t stream_size;          /* decompressed; HF_NOWHERE: there is none */
	uint64_t text_size[HF_TEXTS];  /* HF_NOWHERE: not known yet */
	uint64_t problems;             /* lines of errors.txt */
	char version[HF_KNOWN_VERSION_SIZE]; /* from the stream, as the next three; all zero: it could not be opened */
	uint32_t arch, isa;            /* enum hf_arch, enum hf_isa; isa is that of the first instruction */
	uint32_t xlen;
	uint64_t merged_size;          /* of all/listing.txt; HF_NOWHERE: there is none */
	int original;                  /* number of the view that is the stream itself, or -1 */
};

struct hf_catalogue_entry {
	struct hf_catalogue_stamp stamp;
	enum hf_catalogue_kind kind;
	/* Of captures. */
	const struct hf_box *box;        /* NULL: plain bytes */
	const struct hf_codec *codec;    /* as recognised */
	/* Of indexed ones. */
	struct hf_known known;           /* known.original: number among the views of the key */
	uint64_t beside;                 /* stamp of the files beside it that views depend on; 0: none */
	size_t hart_count;
	struct hf_index_hart *hart;      /* by id: HF_HART_RECORDS, if it is there, is the last */
	uint64_t *size;                  /* [hart_count * view_count], HF_NOWHERE: no such view */
	/* Lines that begin with HF_CATALOGUE_PROFILE, of whoever put them; NULL: none. */
	char *profiles;
};

/* Frees the members of an entry that was found. */
void hf_catalogue_clear(struct hf_catalogue_entry *entry);

#endif
