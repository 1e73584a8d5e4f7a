/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Two captures in which no packet is, each of so many zeros that reading them takes long, have all the threads that index:
 * a small one that somebody looks at does not wait for them. In each packet format, and in each container.
 */
#include "fs/whole.h"
#include "tests/lib/fstest.h"
#include "tests/lib/pack.h"

#include <unistd.h>

/* Both the size of a file without blocks, and that of what a packed one stands for. */
#define SIZE (UINT64_C(20) << 30)
#define MEMBER ((size_t)32 << 20)

static struct hf_fst t;

static const char *const names[] = {"zeros1", "zeros2"};

static const char *path_of(const char *name, const char *file)
{
	static char path[64];

	snprintf(path, sizeof path, "%s/%s", name, file);
	return path;
}

/* No two are the same capture. */
static void write_holes(const char *name, const char *file)
{
	hf_fst_write(&t, path_of(name, file), "", 0);
	CHECK_EQ(truncate(hf_fst_path(&t, path_of(name, file)), (off_t)SIZE + 16 * (name[5] - '0')), 0);
}

static void write_packed(const char *name, const char *file, const struct hf_walk_bytes *member)
{
	const size_t count = SIZE / MEMBER + (size_t)(name[5] - '0');
	uint8_t *all = malloc(member->n * count);

	CHECK(all);
	for (size_t i = 0; i < count; i++)
		memcpy(all + i * member->n, member->p, member->n);
	hf_fst_write(&t, path_of(name, file), all, member->n * count);
	free(all);
}

static enum hf_capture_state state_of(const char *name)
{
	struct hf_capture *capture = NULL;
	enum hf_capture_state state = HF_CAPTURE_UNKNOWN;

	if (hf_capture_at(&t.fs->captures, name, &capture) || !capture)
		return state;
	pthread_mutex_lock(&capture->lock);
	state = capture->state;
	pthread_mutex_unlock(&capture->lock);
	return state;
}

/* What is described in both directories is being indexed, and still is when the small one is ready. */
static void check(const char *what)
{
	const struct hf_fs_options options = {.expansion = HF_NOWHERE};
	struct hf_walk_bytes small = hf_fst_stf(10000, 1, false);

	hf_fst_open(&t, &options);
	hf_fs_index_all(t.fs);
	for (size_t i = 0; i < 2; i++)
		CHECK_COMES(state_of(names[i]) == HF_CAPTURE_INDEXING);
	/* It was not there to be first. */
	hf_fst_write(&t, "small.stf", small.p, small.n);
	CHECK(hf_fst_comes(&t, "small@stf/hart0/listing.txt"));
	for (size_t i = 0; i < 2; i++) {
		if (state_of(names[i]) != HF_CAPTURE_INDEXING)
			fprintf(stderr, "%s: %s: state %d\n", what, names[i], state_of(names[i]));
		CHECK_EQ(state_of(names[i]), HF_CAPTURE_INDEXING);
	}
	hf_fst_close(&t);
	hf_bytes_free(&small);
}

static void check_format(const char *lines)
{
	char text[256];

	hf_fst_begin(&t);
	for (size_t i = 0; i < 2; i++) {
		write_holes(names[i], "trace.bin");
		snprintf(text, sizeof text, "[capture]\ntrace = trace.bin\n%s\n", lines);
		hf_fst_write_text(&t, path_of(names[i], "capture.ini"), text);
	}
	check(lines);
	hf_fst_end(&t);
}

static void check_snapshot(void)
{
	static const char *const files[][2] = {
		{"snapshot.ini", "[snapshot]\nversion=1.0\n[device_list]\ndevice0=cpu.ini\ndevice1=ete.ini\n"
				 "[trace]\nmetadata=trace.ini\n"},
		{"cpu.ini", "[device]\nname=cpu_0\nclass=core\ntype=Cortex-A710\n"},
		{"ete.ini", "[device]\nname=ETE_0\nclass=trace_source\ntype=ETE\n[regs]\nTRCTRACEIDR(0x010)=0x10\n"},
		{"trace.ini", "[trace_buffers]\nbuffers=b\n[b]\nname=b\nfile=trace.bin\nformat=source_data\n"
			      "[core_trace_sources]\ncpu_0=ETE_0\n[source_buffers]\nETE_0=b\n"},
	};

	hf_fst_begin(&t);
	for (size_t i = 0; i < 2; i++) {
		write_holes(names[i], "trace.bin");
		for (size_t k = 0; k < sizeof files / sizeof *files; k++)
			hf_fst_write_text(&t, path_of(names[i], files[k][0]), files[k][1]);
	}
	check("snapshot");
	hf_fst_end(&t);
}

static void check_container(const char *suffix, void (*pack)(struct hf_walk_bytes *to, const void *data, size_t n))
{
	struct hf_walk_bytes member = {.n = 0};
	uint8_t *zeros = calloc(1, MEMBER);
	char file[32], text[128];

	CHECK(zeros);
	pack(&member, zeros, MEMBER);
	free(zeros);
	snprintf(file, sizeof file, "trace.bin%s", suffix);
	snprintf(text, sizeof text, "[capture]\nformat = etrace\nframing = encap\ntrace = %s\n", file);
	hf_fst_begin(&t);
	for (size_t i = 0; i < 2; i++) {
		write_packed(names[i], file, &member);
		hf_fst_write_text(&t, path_of(names[i], "capture.ini"), text);
	}
	check(suffix);
	hf_fst_end(&t);
	hf_bytes_free(&member);
}

static void pack_gzip(struct hf_walk_bytes *to, const void *data, size_t n)
{
	hf_pack_gzip(to, data, n, 1, 0);
}

static void pack_zstd(struct hf_walk_bytes *to, const void *data, size_t n)
{
	hf_pack_zstd(to, data, n, 0, 0);
}

static void pack_xz(struct hf_walk_bytes *to, const void *data, size_t n)
{
	hf_pack_xz(to, data, n, 0, 0);
}

int main(void)
{
	static const char *const formats[] = {
		"format = etrace\nframing = encap",
		"format = etrace\nframing = pulp",
		"format = ntrace",
		"format = ntrace\nword_bytes = 4",
		"format = ntrace\nframing = coresight",
	};

	for (size_t i = 0; i < sizeof formats / sizeof *formats; i++)
		check_format(formats[i]);
	check_snapshot();
	check_container(".gz", pack_gzip);
	check_container(".zst", pack_zstd);
	check_container(".xz", pack_xz);
	return 0;
}
