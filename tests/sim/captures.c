/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/sim/captures.h"

#include "tests/lib/astftest.h"
#include "tests/lib/fstest.h"
#include "tests/lib/pack.h"
#include "tests/lib/rvrun.h"
#include "tests/sim/disk.h"
#include "tests/sim/truth.h"

#include <stdio.h>
#include <string.h>

enum { INSNS = 90 };

struct sim_capture sim_capture[SIM_CAPTURES];
size_t sim_captures;

const struct sim_view *sim_view_of(const struct sim_version *version, const char *path)
{
	for (size_t i = 0; i < version->views; i++)
		if (strcmp(version->view[i].path, path) == 0)
			return &version->view[i];
	return NULL;
}

void sim_capture_put(const struct sim_capture *capture, unsigned version, bool in_place)
{
	const struct sim_version *v = &capture->version[version];

	for (size_t i = 0; i < v->files; i++)
		sim_disk_put(SIM_ARCHIVE, v->file[i].path, v->file[i].bytes.p, v->file[i].bytes.n, in_place);
}

void sim_capture_remove(const struct sim_capture *capture)
{
	for (size_t i = 0; i < capture->version[0].files; i++)
		sim_disk_remove(SIM_ARCHIVE, capture->version[0].file[i].path);
}

static void add_file(struct sim_capture *c, unsigned version, const char *path, struct hf_walk_bytes bytes)
{
	struct sim_version *v = &c->version[version];
	struct sim_file *f = &v->file[v->files++];

	CHECK(v->files <= SIM_FILES && strlen(path) < sizeof f->path);
	snprintf(f->path, sizeof f->path, "%s", path);
	f->bytes = bytes;
}

static struct sim_capture *begin(const char *path)
{
	struct sim_capture *c = &sim_capture[sim_captures++];

	CHECK(sim_captures <= SIM_CAPTURES);
	snprintf(c->path, sizeof c->path, "%s", path);
	return c;
}

/* ---- streams ---- */

/* A run of a RISC-V program, as STF. */
static struct hf_walk_bytes run_stf(unsigned version)
{
	struct hf_stream stream = {.info = {.arch = HF_ARCH_RISCV, .xlen = 64, .version = "1"}};
	struct hf_events list;
	struct hf_walk_bytes bytes;
	struct hf_run run;

	hf_run_make(&run, 0x10000, 64, HF_RUN_TRAPS | HF_RUN_CONTEXTS, INSNS + 40 * version, 11 + version);
	list = (struct hf_events){.ev = run.events.ev, .n = run.events.n};
	bytes = hf_stft_encode(&stream, 0, &list);
	hf_run_free(&run);
	return bytes;
}

static struct hf_walk_bytes harts_stf(unsigned version)
{
	return hf_fst_stf(INSNS + 30 * version, 5 + version, true);
}

/* A loop of AArch64 with loads and calls, as ASTF. */
static struct hf_walk_bytes loop_astf(unsigned version)
{
	char text[INSNS * 200];
	size_t n =
		(size_t)snprintf(text, sizeof text, "HEADER version_minor=b timestamps=1\nCONTEXT pid_valid=1 pid=5\n");
	struct hf_walk_bytes bytes;

	for (unsigned i = 0; i < INSNS / 3; i++)
		n += (size_t)snprintf(text + n, sizeof text - n,
				      "INSTR iword=d503201f pc=1000\n"
				      "INSTR iword=f9400000 pc=1004 is_read=1 ea_valid=1 ea=%x ea_size=7\n"
				      "INSTR iword=17fffffe pc=1008\n",
				      0x2000 + 8 * i * (version + 1));
	bytes = hf_astft_build(text);
	return bytes;
}

static struct hf_walk_bytes boxed(struct hf_walk_bytes stream, const char *suffix)
{
	struct hf_walk_bytes to = {0};

	if (strcmp(suffix, ".gz") == 0) {
		hf_pack_gzip(&to, stream.p, stream.n / 2, 6, 0);
		hf_pack_gzip(&to, stream.p + stream.n / 2, stream.n - stream.n / 2, 6, 0);
	} else if (strcmp(suffix, ".cut") == 0) {
		hf_pack_gzip(&to, stream.p, stream.n, 6, 0);
		to.n -= to.n / 3;
	} else if (strcmp(suffix, ".xz") == 0) {
		hf_pack_xz(&to, stream.p, stream.n, 4, 300);
	} else if (strcmp(suffix, ".lzma") == 0) {
		hf_pack_lzma(&to, stream.p, stream.n);
	} else if (strcmp(suffix, ".zst") == 0) {
		hf_pack_zstd(&to, stream.p, stream.n, HF_PACK_CHECKSUM, 0);
	} else {
		return stream;
	}
	hf_bytes_free(&stream);
	return to;
}

static void add_stream(const char *path, struct hf_walk_bytes (*make)(unsigned version), const char *suffix)
{
	struct sim_capture *c = begin(path);

	for (unsigned v = 0; v < SIM_VERSIONS; v++)
		add_file(c, v, path, boxed(make(v), suffix));
	sim_truth_make(c);
}

/* ---- views that are captures again ---- */

static void add_derived(const char *path, const struct sim_capture *of, const char *view)
{
	struct sim_capture *c = begin(path);
	const size_t n = strlen(view);

	for (unsigned v = 0; v < SIM_VERSIONS; v++)
		for (size_t i = 0; i < of->version[v].views; i++) {
			const struct sim_view *from = &of->version[v].view[i];
			struct hf_walk_bytes copy = {0};
			char to[128];

			if (from->is_dir || from->by_name || strncmp(from->path, view, n) != 0 || from->path[n] != '/')
				continue;
			hf_bytes_add(&copy, from->bytes.p, from->bytes.n);
			snprintf(to, sizeof to, "%s%s", path, from->path + n);
			add_file(c, v, to, copy);
		}
	CHECK(c->version[0].files && c->version[0].files == c->version[1].files);
	sim_truth_make(c);
}

/* The file's own bytes, or lines with its name. */
static bool is_of_file(const char *path)
{
	return strncmp(path, "source.", 7) == 0 || strcmp(path, "errors.txt") == 0;
}

/* The same stream in whatever container has the same views. */
static void check_same_views(const struct sim_capture *a, const struct sim_capture *b)
{
	for (unsigned v = 0; v < SIM_VERSIONS; v++)
		for (size_t i = 0; i < a->version[v].views; i++) {
			const struct sim_view *one = &a->version[v].view[i],
					      *two = sim_view_of(&b->version[v], one->path);

			if (one->loose || is_of_file(one->path))
				continue;
			if (!two || one->bytes.n != two->bytes.n ||
			    (one->bytes.n && memcmp(one->bytes.p, two->bytes.p, one->bytes.n))) {
				fprintf(stderr, "%s/%s is not that of %s\n", b->view_dir, one->path, a->view_dir);
				exit(1);
			}
		}
}

void sim_captures_make(void)
{
	const struct sim_capture *run, *arm;

	add_stream("run.stf", run_stf, "");
	run = &sim_capture[0];
	add_stream("box/run.stf.xz", run_stf, ".xz");
	add_stream("box/run.stf.gz", run_stf, ".gz");
	add_stream("box/run.stf.zst", run_stf, ".zst");
	add_stream("run.stf.lzma", run_stf, ".lzma");
	for (size_t i = 1; i < sim_captures; i++)
		check_same_views(run, &sim_capture[i]);
	add_stream("harts.stf.gz", harts_stf, ".gz");
	add_stream("box/cut.stf.gz", harts_stf, ".cut");
	add_stream("arm.astf", loop_astf, "");
	arm = &sim_capture[sim_captures - 1];
	add_stream("arm.astf.xz", loop_astf, ".xz");
	check_same_views(arm, &sim_capture[sim_captures - 1]);
	add_derived("etrace", run, "hart0/etrace");
	add_derived("box/ntrace", run, "hart0/ntrace");
	add_derived("ete", arm, "hart0/ete");
}
