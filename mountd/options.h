/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The command line, read as options.def says: which subcommand, its options with their values, and its operands.
 */
#ifndef HF_MOUNTD_OPTIONS_H
#define HF_MOUNTD_OPTIONS_H

#include "index/store/dir.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum hf_command {
#define HF_COMMAND(id, letter, name, args, help) HF_COMMAND_##id,
#include "mountd/options.def"
	HF_COMMAND_COUNT
};

/* Exit codes, documented in hartfs(1). */
enum hf_exit {
	HF_EXIT_OK = 0,
	HF_EXIT_FAILURE = 1,
	HF_EXIT_USAGE = 2,
	HF_EXIT_SOME = 3, /* some captures failed */
	HF_EXIT_INDEX_DIR = 4, /* the index directory did */
};

/* Whether a process that decodes confines itself. */
enum hf_sandbox_mode {
	HF_SANDBOX_DEFAULT, /* as the manual says: required for root with allow_other, try for all others */
	HF_SANDBOX_REQUIRED,
	HF_SANDBOX_TRY,
	HF_SANDBOX_OFF,
};

struct hf_settings {
	enum hf_command command;
	const char *index_dir, *debug_dir; /* NULL: not given */
	const char *views, *log_file;
	uint64_t cache, chunk;           /* 0: default */
	uint64_t stream_memory;          /* 0: default */
	uint64_t expansion;              /* 0: default, UINT64_MAX: none */
	uint64_t pack_below;             /* bytes; 0: default, 1: no capture is small */
	struct hf_sharing sharing;       /* of the index directory */
	uint64_t spool;                  /* bytes; 0: none */
	uint64_t index_limit;            /* bytes of the index directory; 0: none */
	unsigned threads, jobs;          /* 0: default */
	uint64_t offset, length;         /* of cat */
	uint64_t rows;                   /* of top */
	uint32_t hart;                   /* of state, slice, convert and top, */
	bool has_hart;                   /*   if it is given */
	uint64_t shard, shards;          /* shards 0: not given */
	struct hf_asked {
		const char *name, *value;	 /* value NULL: none */
	} *asked;                        /* options of find, slice, convert and diff, or of sql for serve, in their order; owned */
	size_t asked_count;
	bool summary;			 /* what is executed is summed up */
	bool all_checksums;              /* of every byte of every view */
	bool status_all;                 /* .hartfs is for everybody */
	enum hf_sandbox_mode sandbox;
	bool wait, block, direct, foreground, lazy, prune, profiles, dry_run, system, sources, json;
	const char *output, *sysroot;    /* of record, output also of convert; NULL: not given */
	const char *mode;                /* of sqlite3, in which sql prints rows; NULL: not given */
	int verbosity;                   /* -2 .. 2 */
	char *params;                    /* view parameters, comma-separated; NULL: none */
	char **fuse_options;             /* for libfuse, each name or name=value */
	int fuse_option_count;
	char **operands;
	int operand_count;
};

/* *ret_exit is where main must end (help, version, a wrong option) when the result is false. */
bool hf_settings_parse(struct hf_settings *settings, int argc, char **argv, int *ret_exit);
void hf_settings_free(struct hf_settings *settings);

/* Says which values that option of the command takes; returns HF_EXIT_USAGE. */
int hf_settings_refuse(const struct hf_settings *settings, const char *option, const char *value);

/* Prints one line "hartfs COMMAND: ..." and a hint at the help; returns HF_EXIT_USAGE. */
int hf_settings_usage(const struct hf_settings *settings, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

#endif
