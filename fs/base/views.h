/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The views by number, which of them are offered, and what their bytes depend on besides the events and symbols.
 */
#ifndef HF_FS_VIEWS_H
#define HF_FS_VIEWS_H

#include "codecs/codec.h"
#include "fs/base/modes.h"

/* The views by number: those of hf_views in their order, then records.txt and program.elf, which has no encoder (its
 * ops only describe it). */
enum {
#define HF_VIEW(name) HF_VIEW_INDEX_##name,
#include "codecs/views.def"
#undef HF_VIEW
	HF_ENC_COUNT,
	HF_VIEW_RECORDS = HF_ENC_COUNT,
	HF_VIEW_PROGRAM,
	HF_VIEW_COUNT,
	/* Behind them the files that lie beside an encoder's own in its directory, which have no tables. */
	HF_SIDES_MAX = 16,
	HF_VIEW_ALL = HF_VIEW_COUNT + HF_SIDES_MAX,
};

/* The name of program.elf and what it needs of a stream; it encodes nothing. */
extern const struct hf_enc_ops hf_view_program;

/* NULL if there is no such file. view < HF_VIEW_ALL. */
const struct hf_enc_ops *hf_fs_view_ops(size_t view);
/* A file beside an encoder's own: *ret_view is the number of that. NULL: it is none. */
const struct hf_side_file *hf_fs_side(size_t view, size_t *ret_view);
/* How much of a view's name is the directory it lies in: 0 if in that of the hart. *ret_name (may be NULL) is the rest.
 */
size_t hf_view_dir(size_t view, const char **ret_name);
/* Whether these length bytes name it: by its file, or by its directory. */
bool hf_view_is_named(size_t view, const char *name, size_t length);

/* hf_fs_knows_views, hf_fs_view_name. */
bool hf_views_known(const char *list);
bool hf_views_name(size_t i, char *buf, size_t size);

struct hf_views {
	bool wanted[HF_VIEW_ALL];   /* hf_fs_options.views */
	char common[128];           /* what the bytes of every view depend on */
	char *params[HF_VIEW_ALL];  /* the same with the view's own parameters; NULL: no more */
	char *options[HF_VIEW_ALL]; /* those alone, for its encoder; NULL: none */
	struct hf_modes bbv_modes;  /* of which vectors are; none named: of all */
};

/* list: names, comma-separated; NULL: all. */
void hf_views_choose(struct hf_views *views, const char *list);
/* params: of hf_params_read. expansion, all_sums: hf_fs_options. Loads the disassembler. To be ended also after an error. */
int hf_views_init(struct hf_views *views, const char *params, uint64_t expansion, bool all_sums);
void hf_views_fini(struct hf_views *views);
/* Everything that the view's bytes depend on besides the events and symbols. */
const char *hf_view_params(const struct hf_views *views, size_t view);
/* The view that shows symbols; HF_VIEW_COUNT: none does. */
size_t hf_views_naming(void);
/* The view whose lines are merged by time over all harts, one of HF_ENC_TIMES; HF_VIEW_COUNT: there is none. */
size_t hf_views_merged(void);
/* What it wants of them, enum hf_symbols_options. */
unsigned hf_views_symbols(const struct hf_views *views);

/* What has parameters: a view, or files of profiles. check: as hf_enc_ops.check_params; NULL: it has none. */
struct hf_taker {
	const char *name;
	int (*check)(const char *params, char *why, size_t size);
};
/* False: there is no such one, nor any behind it. */
bool hf_views_taker(size_t i, struct hf_taker *ret_taker);
/* The parameters of one in such a list, without its name; malloc'ed, NULL: out of memory. */
char *hf_params_of(const char *params, const char *view);

#endif
