/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reading descriptions: first what they say (a reader for each kind), then the files that they name. Who may open files
 * gives an opener; nothing here knows a path.
 */
#ifndef HF_SETUP_READ_H
#define HF_SETUP_READ_H

#include "codecs/setup/setup.h"

struct hf_codec;

struct hf_setup_opener {
	void *ctx;
	/* Opens a file by the name that a description has for it. *ret_src is of known size and the caller's to free.
	 * HF_ERR_NOT_FOUND: it is not there, or not ours to look at. */
	int (*open)(void *ctx, const char *name, struct hf_src **ret_src, struct hf_diag *diag);
	/*
	 * Names to fn the directories and files that lie beside the description for its programs (x.d, x.elf), as open takes
	 * them; an error of fn ends it. NULL: there are none.
	 */
	int (*list)(void *ctx, int (*fn)(void *fn_ctx, const char *name), void *fn_ctx);
	/* A file of the directory of debug files, by its path in it; errors as open. NULL: there is no such directory. */
	int (*open_debug)(void *ctx, const char *path, struct hf_src **ret_src);
	const struct hf_codec *const *codecs; /* the formats that there are, ending with NULL */
};

/* Limits of one description. */
#define HF_SETUP_ROWS_MAX 4096u                        /* values, files, parts: of each */
#define HF_SETUP_PROGRAM_MAX (UINT64_C(512) << 20)     /* bytes of all programs together */

/*
 * name is the description's own. The setup has values, parts without offsets and sizes, and files; nothing but texts
 * was opened. HF_ERR_SETUP_*, HF_ERR_LIMIT, or what reading gives; *error is set with every error.
 */
int hf_setup_read_capture(const struct hf_setup_opener *opener, const char *name, struct hf_setup **ret_setup,
			  struct hf_setup_error *error);
int hf_setup_read_snapshot(const struct hf_setup_opener *opener, const char *name, struct hf_setup **ret_setup,
			   struct hf_setup_error *error);
/* The reader for a description of that name: that of snapshots for snapshot.ini, that of a codec (hf_codec.describe) for
 * what is no *.ini. */
int hf_setup_read(const struct hf_setup_opener *opener, const char *name, struct hf_setup **ret_setup,
		  struct hf_setup_error *error);

/* Opens the files: programs are read into the setup's images, the trace files become *ret_stream, with which the setup
 * has nothing more to do. */
int hf_setup_load(struct hf_setup *setup, const struct hf_setup_opener *opener, struct hf_src **ret_stream,
		  struct hf_setup_error *error);

/* ---- for the readers ---- */

/* The format of that name, or NULL. */
const struct hf_codec *hf_setup_codec(const struct hf_setup_opener *opener, const char *name);

__attribute__((format(printf, 4, 5))) int hf_setup_warn(struct hf_setup *setup, const char *file, uint32_t line,
							const char *format, ...);
/* Says that err, HF_ERR_NOMEM or HF_ERR_LIMIT of what follows, was met there, and returns it. */
int hf_setup_no_room(struct hf_setup_error *error, int err, const char *file, uint32_t line);
/* A file as a text to walk through (ini.h), for the caller to free. */
int hf_setup_read_text(const struct hf_setup_opener *opener, const char *name, char **ret_text, size_t *ret_size,
		       struct hf_setup_error *error);
/* Strings are copied; HF_ERR_NOMEM or HF_ERR_LIMIT. */
int hf_setup_add_value(struct hf_setup *setup, uint32_t hart, const char *key, const char *value, const char *file,
		       uint32_t line);
int hf_setup_add_part(struct hf_setup *setup, uint32_t hart, const char *name, const char *framing);
int hf_setup_add_file(struct hf_setup *setup, const struct hf_setup_file *file);
int hf_setup_add_fact(struct hf_setup *setup, const char *name, const char *value);

/* Leaves it without any. */
void hf_setup_free_parts(struct hf_setup *setup);

/* Room for one more row of that size behind count others; rows is the address of the pointer to them, which was only
 * ever enlarged so. HF_ERR_NOMEM, HF_ERR_LIMIT. */
int hf_setup_room(void *rows, size_t count, size_t size);

#endif
