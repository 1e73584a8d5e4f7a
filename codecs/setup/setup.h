/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a capture's description (capture.ini, a CoreSight snapshot.ini) says beyond the bytes of its trace: which
 * format and framing, parameters, programs. A stream that says all of itself (STF, ASTF) has none.
 *
 * capture_ini.c and snapshot.c read descriptions into this; codecs only ask it. Immutable once made.
 */
#ifndef HF_SETUP_SETUP_H
#define HF_SETUP_SETUP_H

#include "codecs/image/elf_read.h"
#include "codecs/image/program.h"
#include "codecs/setup/processes.h"
#include "codecs/source/source.h"

#include <stdbool.h>

/* "Every hart": of values and images that name none. */
#define HF_SETUP_ANY UINT32_MAX
#define HF_SETUP_NO_CONTEXT UINT64_MAX
#define HF_SETUP_NO_THREAD UINT32_MAX

/* One "key = value" that the description's reader does not use itself: a parameter of the format, a register. */
struct hf_setup_value {
	uint32_t hart;     /* source id, or HF_SETUP_ANY */
	const char *key;   /* "iaddress_width", "TRCIDR0" */
	const char *value; /* trimmed, as it stands there */
	const char *file;  /* of the description, for errors */
	uint32_t line;     /* in it, from 1 */
};

/*
 * The memory spaces of an Arm image, as a snapshot's "space" has them; bits, so that a group is several.
 */
enum hf_memory_space {
	HF_MEMORY_EL1S = 1, HF_MEMORY_EL1N = 2, HF_MEMORY_EL1R = 4, HF_MEMORY_EL2S = 8, HF_MEMORY_EL2N = 16,
	HF_MEMORY_EL2R = 32, HF_MEMORY_EL3 = 64, HF_MEMORY_ROOT = 128,
	HF_MEMORY_ANY = 255,
};

/* A program, and whose it is. */
struct hf_setup_image {
	uint32_t hart;     /* source id, or HF_SETUP_ANY */
	uint32_t spaces;   /* of enum hf_memory_space; HF_MEMORY_ANY where nothing is said */
	uint64_t context;  /* the format's context, process or address space id; HF_SETUP_NO_CONTEXT: whatever it is */
	struct hf_program program;
	const struct hf_program **below; /* of program, owned: those that hold there in every context, if this has one */
};

/*
 * The stream of a capture is its trace files end to end. Each part is a recording of its own: decoders start afresh
 * where one begins. A description with one trace file has one part.
 */
struct hf_setup_part {
	uint64_t offset, size; /* in the stream; size HF_NOWHERE: to its end, not known yet */
	uint32_t hart;         /* whose raw bytes it is, or HF_SETUP_ANY: its framing tells */
	const char *name;      /* of the file or buffer, for messages */
	const char *framing;   /* "encap", "te_inst_raw", "coresight", "source_data", ...; "" if nothing is said */
	/* What only a perf.data says. */
	bool shared;           /* name and framing are of all parts: not this one's own */
	bool told;             /* ids (a bit each) are the trace ids that have data in its frames */
	uint64_t ids[2];
	uint64_t time;         /* when it ended, as processes count it */
	uint32_t thread;       /* who was recorded, where the trace itself does not say it; HF_SETUP_NO_THREAD */
	uint32_t group;        /* trace ids mean what they do in this group of sources */
	int32_t remark;        /* an error that is true of it, with a detail; 0: none */
	uint64_t detail;
};

/* A file that the description names, before it is read. */
enum hf_setup_file_kind {
	HF_SETUP_DESCRIPTION, /* the description itself, and what else of text belongs to it */
	HF_SETUP_TRACE,
	HF_SETUP_ELF,
	HF_SETUP_RAW,         /* a dump of memory */
	HF_SETUP_MAPPED,      /* code that a process had mapped; when the file is there it becomes ELF, or RAW if it is none */
	HF_SETUP_CANDIDATE,   /* may be a program, or a directory of such: whoever loads the setup looks for himself */
	HF_SETUP_KALLSYMS,    /* a text with the names of code at address, of that size: codecs/image/kallsyms.h */
	HF_SETUP_SYMBOLS,     /* an ELF of which nothing is said but that it may have names; nobody reads it here */
};

struct hf_setup_file {
	enum hf_setup_file_kind kind;
	const char *name;       /* relative to the directory of the description, with '/' */
	const char *said_in;    /* which file of the description names it */
	uint32_t line;          /* there */
	bool in_debug_dir;      /* name is a path of the directory of debug files instead */
	bool optional;          /* without it the rest is still of use: a warning */
	size_t part;            /* TRACE: number of the part it belongs to */
	/* Programs: whose, and where. */
	uint32_t hart, spaces;
	uint64_t context;
	bool has_bias;
	uint64_t address;       /* RAW, MAPPED: of its first byte; ELF: its bias */
	uint64_t offset, size;  /* RAW, MAPPED: what counts of the file; size HF_NOWHERE: to its end */
};

/* What is wrong with a description that is of use all the same. */
struct hf_setup_warning {
	const char *file; /* of the description */
	uint32_t line;
	const char *text;
};

/* A line about the recording for people: "recorded by", "perf record -e cs_etm// ls". */
struct hf_setup_fact {
	const char *name;
	const char *value;
};

/* An ELF file that is a program, at its own addresses: images have its bytes at theirs. */
struct hf_setup_elf {
	const char *name;        /* of a row of files */
	struct hf_elf_file file; /* without its source */
	struct hf_program program;
};

struct hf_codec;

struct hf_setup {
	const char *format; /* name of the codec: "etrace" */
	const struct hf_codec *reader; /* the codec whose file is its own description (hf_codec.describe); NULL: a text is */
	struct hf_setup_value *values;
	size_t value_count;
	struct hf_setup_image *images;
	size_t image_count;
	struct hf_setup_elf *elfs; /* of which images borrow */
	size_t elf_count;
	struct hf_setup_part *parts;
	size_t part_count;
	/* Not for codecs. */
	struct hf_setup_file *files;
	size_t file_count;
	struct hf_setup_warning *warnings;
	size_t warning_count;
	struct hf_setup_fact *facts;
	size_t fact_count;
	struct hf_processes *processes; /* owned; NULL: programs are those of the images */
	char *buffers; /* of a snapshot: its file that names the buffers and their format; NULL: it is none */
	bool packed; /* the one trace file is a container: the stream is what is in it */
	const struct hf_box *text; /* its container, where content does not show it: key "text"; NULL: content does */
};

/* What is wrong with a description, and where. */
struct hf_setup_error {
	char file[256];  /* of the description */
	uint32_t line;   /* 0: no single one */
	char text[256];  /* "unknown key 'tarce'" */
	char format[32]; /* as far as it could be read, also without an error; "" */
};

/* Fills *error, which may be NULL, and returns code. */
__attribute__((format(printf, 5, 6))) int hf_setup_fail(struct hf_setup_error *error, int code, const char *file,
							uint32_t line, const char *format, ...);

/* Frees it and all that it points to (every string is malloc'ed). */
void hf_setup_free(struct hf_setup *setup);

/* The value of key for that hart: its own if it has one, else that of all; NULL if there is none. setup may be NULL. */
const struct hf_setup_value *hf_setup_get(const struct hf_setup *setup, uint32_t hart, const char *key);

/* The value is wrong: HF_ERR_SETUP_VALUE. format says what it must be: "32 or 64". error may be NULL. */
__attribute__((format(printf, 3, 4))) int hf_setup_refuse(struct hf_setup_error *error,
							  const struct hf_setup_value *value, const char *format, ...);

/* The value as a number (decimal, also with leading zeros, or 0x hex) from min to max, or fallback if there is none. HF_ERR_SETUP_VALUE if it is no
 * such number. */
int hf_setup_number(const struct hf_setup *setup, uint32_t hart, const char *key, uint64_t min, uint64_t max,
		    uint64_t fallback, uint64_t *ret_number, struct hf_setup_error *error);

/* Which of words, ending with NULL, the value is, or fallback if there is none. HF_ERR_SETUP_VALUE if it is another. */
int hf_setup_word(const struct hf_setup *setup, uint32_t hart, const char *key, const char *const *words,
		  unsigned fallback, unsigned *ret_word, struct hf_setup_error *error);

/*
 * The program that hart runs in that context and space: of the images that are not another's the one that says most
 * (hart before context before spaces; the first of equals), or NULL. One of a context looks below it, at those of every
 * context. Codecs keep the answer until one of these changes.
 */
const struct hf_program *hf_setup_program(const struct hf_setup *setup, uint32_t hart, uint64_t context,
					  uint32_t space);

/* Whether hart runs that one of the images in some context: its own go before those of every hart. HF_SETUP_ANY: all. */
bool hf_setup_runs(const struct hf_setup *setup, uint32_t hart, const struct hf_setup_image *image);

/* 32 or 64: the word length of the first image that hart runs, in whatever context, and that says one; 0 if none does.
 * hart may be HF_SETUP_ANY: of any hart. */
unsigned hf_setup_xlen(const struct hf_setup *setup, uint32_t hart);

/* Where that hart has code, in any context: "1000-103f, 80000000-80000adb", cut to size. Returns buf. */
const char *hf_setup_code_text(const struct hf_setup *setup, uint32_t hart, char *buf, size_t size);

/* Bytes of all programs, by which decoders choose how much they remember of them. setup may be NULL. */
uint64_t hf_setup_code_size(const struct hf_setup *setup);

#endif
