/* SPDX-License-Identifier: Apache-2.0 */
/*
 * perf.data files of Linux. One with CoreSight trace (CS_ETM) is a description of that trace, which lies in it; one with
 * RISC-V trace is split into recordings, which a capture.ini has decoded; one with any other trace is refused with a reason;
 * one of samples is an ordinary file. Format:
 * tools/perf/Documentation/perf.data-file-format.txt.
 */
#include "codecs/codec.h"
#include "codecs/perf/errors.h"
#include "codecs/perf/kernel.h"
#include "codecs/perf/load.h"
#include "codecs/perf/look.h"
#include "codecs/perf/record_types.h"
#include "codecs/perf/split.h"
#include "codecs/setup/errors.h"
#include "codecs/setup/read.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int probe(const uint8_t *head, size_t n)
{
	return hf_perf_is_file(head, n) ? 100 : 0;
}

static int confirm(struct hf_src *src, bool *ret_ours)
{
	struct hf_perf_look look;
	int err = hf_perf_look(src, &look, NULL);

	*ret_ours = !err;
	return err == HF_NOTE_END ? 0 : err;
}

/* Why trace of that kind is not decoded; 0: it is. */
static int refusal(const struct hf_perf_look *look, uint64_t *ret_detail)
{
	*ret_detail = look->type;
	if (look->swapped)
		return HF_ERR_PERF_ENDIAN;
	if (look->type == HF_PERF_RISCV)
		return 0;
	if (look->type != HF_PERF_CS_ETM)
		return HF_ERR_PERF_KIND;
	*ret_detail = look->version;
	return look->version > 2 ? HF_ERR_PERF_VERSION : 0;
}

/* Without a setup it is in a container. */
static int open_stream(struct hf_src *src, const struct hf_setup *setup, struct hf_stream **ret_stream,
		       struct hf_diag *diag)
{
	struct hf_perf_look look;
	uint64_t detail = 0;
	int err, code;

	*ret_stream = NULL;
	if (setup)
		return hf_perf_split_open(setup, ret_stream);
	err = hf_perf_look(src, &look, diag);
	if (err < 0)
		return err;
	code = err ? 0 : refusal(&look, &detail);
	return hf_diag_set(diag, code ? code : HF_ERR_PERF_DATA, HF_SPACE_STREAM, HF_NOWHERE, detail);
}

/* ---- the description ---- */

/* Trace of another kind is told by its name where it has one. */
static int fail(struct hf_setup_error *error, int code, const char *name, uint64_t detail)
{
	static const char *const kinds[] = {[1] = "Intel PT", [2] = "Intel BTS", [4] = "Arm SPE", [5] = "s390 sampling",
					    [6] = "HiSilicon PTT", [7] = "PowerVM dispatch"};

	const struct hf_diag diag = {.code = code, .offset = HF_NOWHERE, .detail = detail};
	char text[HF_DIAG_SIZE];

	if (code == HF_ERR_PERF_KIND && detail < sizeof kinds / sizeof *kinds && kinds[detail])
		return hf_setup_fail(error, code, name, 0,
				     "this perf.data holds no CoreSight trace but %s (AUXTRACE_INFO type %u), which hartfs does "
				     "not decode: perf script does", kinds[detail], (unsigned)detail);
	hf_diag_format(&diag, text, sizeof text);
	return hf_setup_fail(error, code, name, 0, "%s", text);
}

/* Whether the file is that of a directory. */
static bool is_data(const char *name)
{
	const char *slash = strrchr(name, '/');

	return strcmp(slash ? slash + 1 : name, "data") == 0;
}

/* Of a directory of several files: data.0, data.1, ... as many as there are. */
static int add_more(struct hf_setup *setup, const struct hf_setup_opener *opener, const char *name)
{
	struct hf_setup_file file = {.kind = HF_SETUP_TRACE, .said_in = name};
	int err = 0;

	for (unsigned i = 0; is_data(name) && i < HF_PERF_FILES_MAX && !err; i++) {
		struct hf_src *src = NULL;
		char more[64];

		snprintf(more, sizeof more, "data.%u", i);
		file.name = more;
		err = opener->open(opener->ctx, more, &src, NULL);
		hf_src_free(src);
		if (!err)
			err = hf_setup_add_file(setup, &file);
	}
	return err == HF_ERR_NOT_FOUND ? 0 : err;
}

static int make_setup(const struct hf_setup_opener *opener, const char *name, const char *format, struct hf_setup *setup)
{
	const struct hf_setup_file own = {.kind = HF_SETUP_DESCRIPTION, .name = name, .said_in = name};
	int err = hf_setup_add_file(setup, &own);

	setup->format = strdup(format);
	setup->reader = &hf_codec_perf;
	if (!err)
		err = setup->format ? add_more(setup, opener, name) : HF_ERR_NOMEM;
	if (strcmp(format, hf_codec_perf.name) == 0)
		return err;
	if (!err && is_data(name))
		err = hf_perf_add_program(setup, HF_PERF_KCORE);
	if (!err && is_data(name))
		err = hf_perf_add_program(setup, HF_PERF_KALLSYMS);
	if (!err && opener->list)
		err = opener->list(opener->ctx, hf_perf_add_program, setup);
	return err;
}

static int describe(const struct hf_setup_opener *opener, const char *name, struct hf_setup **ret_setup,
		    struct hf_setup_error *error)
{
	struct hf_perf_look look;
	struct hf_src *src = NULL;
	uint8_t head[8];
	uint64_t detail;
	size_t n;
	int code, err = opener->open(opener->ctx, name, &src, NULL);

	*error = (struct hf_setup_error){.line = 0};
	*ret_setup = NULL;
	if (!err)
		err = hf_src_read_all(src, 0, head, sizeof head, &n, NULL);
	if (!err)
		err = hf_perf_is_file(head, n) ? hf_perf_look(src, &look, NULL) : HF_NOTE_END;
	hf_src_free(src);
	if (err == HF_NOTE_END)
		return HF_ERR_NOT_FOUND;
	if (err)
		return hf_setup_fail(error, err, name, 0, "it cannot be read: %s", hf_err_text(err, (char[HF_DIAG_SIZE]){0}));
	code = refusal(&look, &detail);
	snprintf(error->format, sizeof error->format, "%s", code || look.type == HF_PERF_RISCV ? hf_codec_perf.name : "ete");
	if (code)
		return fail(error, code, name, detail);
	*ret_setup = calloc(1, sizeof **ret_setup);
	err = *ret_setup ? make_setup(opener, name, error->format, *ret_setup) : HF_ERR_NOMEM;
	if (!err)
		return 0;
	hf_setup_free(*ret_setup);
	*ret_setup = NULL;
	return hf_setup_no_room(error, err, name, 0);
}

/* ---- the trace of another description ---- */

static int split(struct hf_setup *setup, struct hf_src *const *src, size_t count, struct hf_src **ret_stream,
		 struct hf_setup_error *error)
{
	const struct hf_setup_file *file = setup->files;
	struct hf_perf_look look;
	uint64_t detail;
	int err = hf_perf_look(src[0], &look, NULL), code = err ? 0 : refusal(&look, &detail);

	while (file->kind != HF_SETUP_TRACE)
		file++;
	if (!err && !code && look.type == HF_PERF_RISCV)
		return hf_perf_split(setup, file->name, src, count, ret_stream, error);
	for (size_t i = 0; i < count; i++)
		hf_src_free(src[i]);
	if (err < 0)
		return hf_setup_fail(error, err, file->said_in, file->line, "'%.120s' cannot be read: %s", file->name,
				     hf_err_text(err, (char[HF_DIAG_SIZE]){0}));
	if (code)
		return fail(error, code, file->name, detail);
	return hf_setup_fail(error, HF_ERR_SETUP_FILE, file->said_in, file->line,
			     "'%.120s' is a perf.data %s", file->name,
			     err ? "without trace (no AUXTRACE_INFO record)"
				 : "of CoreSight, which is a capture by itself: move it out of here");
}

static const char *const suffixes[] = {NULL};

const struct hf_codec hf_codec_perf = {
	.name = "perf",
	.title = "perf.data",
	.version = 7,
	.suffixes = suffixes,
	.probe = probe,
	.confirm = confirm,
	.otherwise = "a perf.data without trace (no AUXTRACE_INFO record) is an ordinary file: perf report reads it, and "
		     "perf record -e cs_etm// records trace",
	.describe = describe,
	.load = hf_perf_load,
	.split = split,
	.open = open_stream,
	.close = hf_perf_split_close,
	.dec = &hf_perf_split_ops,
	.records = &hf_perf_split_ops,
};
