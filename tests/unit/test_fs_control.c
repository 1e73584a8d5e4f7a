/* SPDX-License-Identifier: Apache-2.0 */
/* What the file system says of itself and of captures without being read: extended attributes, .hartfs, the log ring. */
#include "fs/base/log_ring.h"
#include "tests/lib/fstest.h"
#include "codecs/base/sink.h"

static struct hf_fst t;

static void write_capture(const char *path)
{
	struct hf_walk_bytes stf = hf_fst_stf(100, 3, false);

	hf_fst_write(&t, path, stf.p, stf.n);
	hf_bytes_free(&stf);
}

/* The attribute as text, "" if there is none; in a static buffer. */
static const char *attribute(const char *path, const char *name)
{
	static char value[HF_FS_XATTR_SIZE + 1];
	struct hf_attr attr;
	size_t n;
	int err;

	CHECK_EQ(hf_fst_lookup(&t, path, &attr), 0);
	err = hf_fs_xattr(t.fs, attr.st.st_ino, name, value, &n);
	CHECK(err == 0 || (err == HF_NOTE_END && n == 0));
	value[n] = '\0';
	hf_fs_forget(t.fs, attr.st.st_ino, 1);
	return value;
}

/* Every name in the list has a value; how many there are. */
static size_t count_attributes(const char *path)
{
	char names[HF_FS_XATTR_SIZE];
	struct hf_attr attr;
	size_t n, count = 0;

	CHECK_EQ(hf_fst_lookup(&t, path, &attr), 0);
	CHECK_EQ(hf_fs_xattr_list(t.fs, attr.st.st_ino, names, &n), 0);
	for (size_t at = 0; at < n; at += strlen(names + at) + 1, count++)
		CHECK(*attribute(path, names + at));
	hf_fs_forget(t.fs, attr.st.st_ino, 1);
	return count;
}

static void test_attributes(void)
{
	struct hf_diag diag;

	hf_fst_begin(&t);
	write_capture("run.stf");
	hf_fst_write_text(&t, "bad.stf", "no trace");
	hf_fst_write_text(&t, "notes.md", "text");
	hf_fst_open(&t, &(struct hf_fs_options){.no_index = true});
	/* Asking starts and awaits nothing. */
	CHECK_STR(attribute("run@stf", "user.hartfs.state"), "unknown");
	CHECK_STR(attribute("run@stf", "user.hartfs.format"), "stf");
	CHECK_STR(attribute("run@stf", "user.hartfs.instructions"), "");
	CHECK_STR(attribute("run@stf", "user.hartfs.state"), "unknown");
	CHECK(count_attributes("run@stf") >= 4);

	CHECK_EQ(hf_fs_index(t.fs, "run.stf", NULL, NULL, &diag), 0);
	CHECK_STR(attribute("run@stf", "user.hartfs.state"), "ready");
	CHECK_STR(attribute("run@stf", "user.hartfs.capture"), "run.stf");
	CHECK_STR(attribute("run@stf", "user.hartfs.container"), "none");
	CHECK_STR(attribute("run@stf", "user.hartfs.isa"), "rv64");
	CHECK_STR(attribute("run@stf", "user.hartfs.harts"), "1");
	CHECK_STR(attribute("run@stf", "user.hartfs.hart"), "");
	CHECK_STR(attribute("run@stf/hart0", "user.hartfs.hart"), "0");
	CHECK(strtoull(attribute("run@stf/hart0/listing.txt", "user.hartfs.instructions"), NULL, 10) > 50);
	CHECK_STR(attribute("run@stf/info.json", "user.hartfs.format"), "stf");
	CHECK_STR(attribute("run@stf", "user.hartfs.error"), "");
	CHECK_STR(attribute("run@stf", "user.hartfs.no"), "");
	CHECK_STR(attribute("run@stf", "security.selinux"), "");

	CHECK(hf_fs_index(t.fs, "bad.stf", NULL, NULL, &diag) < 0);
	CHECK(*attribute("bad@stf", "user.hartfs.error"));
	CHECK_STR(attribute("bad@stf", "user.hartfs.problems"), "1");

	CHECK_EQ(count_attributes("notes.md"), 0);
	CHECK_EQ(count_attributes("run.stf"), 0);
	CHECK_EQ(count_attributes(".hartfs/status.json"), 0);
	CHECK_EQ(count_attributes(""), 0);
	hf_fst_end(&t);
}

static void note_failure(void *ctx, const char *path, const struct hf_diag *diag)
{
	char *paths = ctx;

	CHECK(diag->code < 0);
	strcat(strcat(paths, path), " ");
}

static void test_failures(void)
{
	char paths[256] = "", *status;

	hf_fst_begin(&t);
	write_capture("good.stf");
	hf_fst_write_text(&t, "sub/b.stf", "no trace");
	hf_fst_write_text(&t, "a.stf", "");
	hf_fst_open(&t, NULL);
	hf_fs_index_all(t.fs);
	hf_fs_idle(t.fs);
	CHECK_EQ(hf_fs_failures(t.fs, note_failure, paths), 2);
	CHECK_STR(paths, "a.stf sub/b.stf ");
	CHECK_EQ(hf_fs_failures(t.fs, NULL, NULL), 2);
	status = hf_fst_text(&t, ".hartfs/status.json");
	CHECK(strstr(status, "\"capture\": \"sub/b.stf\""));
	CHECK(!strstr(status, "good.stf"));
	free(status);
	hf_fst_end(&t);
}

/* Each sample after the HELP and TYPE of its family, each family once. */
static void check_prometheus(char *text)
{
	char family[128] = "", type[16] = "", seen[8192] = "\n";

	for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n")) {
		char name[128], key[160], *end;
		size_t n = strcspn(line, "{ ");

		if (sscanf(line, "# HELP %127s", name) == 1) {
			snprintf(key, sizeof key, "\n%s\n", name);
			CHECK(!strstr(seen, key));
			strcat(strcat(seen, name), "\n");
			continue;
		}
		if (sscanf(line, "# TYPE %127s %15s", name, type) == 2) {
			CHECK(strcmp(type, "gauge") == 0 || strcmp(type, "counter") == 0 || strcmp(type, "histogram") == 0);
			CHECK((strcmp(type, "counter") == 0) ==
			      (strlen(name) > 6 && strcmp(name + strlen(name) - 6, "_total") == 0));
			snprintf(family, sizeof family, "%s", name);
			continue;
		}
		CHECK(strncmp(line, family, strlen(family)) == 0);
		CHECK(strlen(family) == n || strcmp(type, "histogram") == 0);
		if (line[n] == '{') {
			end = strchr(line, '}');
			CHECK(end && end[1] == ' ' && strchr(line, '"'));
			n = (size_t)(end - line) + 1;
		}
		strtod(line + n + 1, &end);
		CHECK(end > line + n + 1 && !*end);
	}
}

/* Of one kind of request the buckets only grow, from a millionth of a second to all, which are as many as were counted. */
static void check_latency(const char *text, const char *request, uint64_t at_least)
{
	uint64_t n = 0, before = 0, count;
	unsigned buckets = 0;
	char key[128];
	const char *at;

	snprintf(key, sizeof key, "hartfs_request_seconds_bucket{request=\"%s\",le=\"", request);
	for (at = strstr(text, key); at; at = strstr(at + 1, key), buckets++, before = n) {
		CHECK(buckets || strncmp(at + strlen(key), "0.000001\"", 9) == 0);
		n = strtoull(strchr(at, '}') + 1, NULL, 10);
		CHECK(n >= before);
	}
	CHECK_EQ(buckets, 26);
	snprintf(key, sizeof key, "hartfs_request_seconds_count{request=\"%s\"} ", request);
	CHECK((at = strstr(text, key)));
	count = strtoull(at + strlen(key), NULL, 10);
	CHECK(count == n && count >= at_least);
}

static void test_metrics(void)
{
	struct hf_walk_bytes listing;
	char *text;

	hf_fst_begin(&t);
	write_capture("run.stf");
	hf_fst_open(&t, NULL);
	hf_fs_index_all(t.fs);
	hf_fs_idle(t.fs);
	listing = hf_fst_read(&t, "run@stf/hart0/listing.txt", 4096);
	hf_bytes_free(&listing);
	text = hf_fst_text(&t, ".hartfs/metrics.prom");
	CHECK(strstr(text, "\nhartfs_captures{state=\"ready\"} 1\n"));
	CHECK(strstr(text, "\nhartfs_indexed_total 1\n"));
	CHECK(strstr(text, "\nhartfs_chunks_made_total ") && !strstr(text, "\nhartfs_chunks_made_total 0\n"));
	CHECK(!strstr(text, "\nhartfs_reads_total{file=\"view\"} 0\n"));
	CHECK(strstr(text, "\nhartfs_read_errors_total 0\n"));
	check_latency(text, "read_view", 1);
	check_latency(text, "lookup", 0);
	check_latency(text, "open", 1);
	check_latency(text, "list", 0);
	check_prometheus(text);
	free(text);
	hf_fst_end(&t);
}

static void test_log_ring(void)
{
	struct hf_log_ring *ring;
	char line[32], *text;
	struct hf_sink sink;

	CHECK_EQ(hf_log_ring_new(40, &ring), 0);
	for (int i = 0; i < 1000; i++) {
		int n = snprintf(line, sizeof line, "%0*d\n", i % 17, i);

		hf_log_ring_add(ring, line, (size_t)n);
		CHECK_EQ(hf_sink_init_memory(&sink, 0), 0);
		hf_log_ring_write(ring, &sink);
		hf_sink_write(&sink, "", 1);
		text = (char *)sink.start;
		/* Whole lines, as many as there is room for, the newest last. */
		CHECK(strlen(text) <= 40 && (i < 20 || strlen(text) > 40 - 17));
		CHECK(strlen(text) >= (size_t)n && strcmp(text + strlen(text) - (size_t)n, line) == 0);
		CHECK(i < 20 || atoi(text) >= i - 20);
		hf_sink_fini_memory(&sink);
	}
	hf_log_ring_add(ring, "0123456789012345678901234567890123456789\n", 41);
	hf_fst_begin(&t);
	hf_fst_open(&t, &(struct hf_fs_options){.log_ring = ring});
	text = hf_fst_text(&t, ".hartfs/log.txt");
	CHECK(strlen(text) > 20 && strlen(text) <= 40);
	free(text);
	hf_fst_end(&t);
	hf_log_ring_free(ring);
}

int main(void)
{
	test_attributes();
	test_failures();
	test_metrics();
	test_log_ring();
	return 0;
}
