#include "tests/lib/etetest.h"

#include "codecs/setup/read.h"
#include "tests/lib/check.h"

#include <fcntl.h>

extern const struct hf_codec hf_codec_ete;

static int open_in(void *ctx, const char *name, struct hf_src **ret_src, struct hf_diag *diag)
{
	char path[4096];
	int fd;

	snprintf(path, sizeof path, "%s/%s", (const char *)ctx, name);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	return fd < 0 ? HF_ERR_NOT_FOUND : hf_src_file_new(fd, ret_src, diag);
}

void ete_open(struct ete_capture *c, const char *dir)
{
	struct hf_setup_opener opener = {.ctx = (void *)dir, .open = open_in};
	struct hf_setup_error error = {.line = 0};
	struct hf_diag diag = {.code = 0};

	if (hf_setup_read_snapshot(&opener, "snapshot.ini", &c->setup, &error) ||
	    hf_setup_load(c->setup, &opener, &c->src, &error)) {
		fprintf(stderr, "%s: %s:%u: %s\n", dir, error.file, error.line, error.text);
		exit(1);
	}
	if (hf_stream_open(&hf_codec_ete, c->src, c->setup, &c->stream, &diag)) {
		fprintf(stderr, "%s: %s\n", dir, hf_err_name(diag.code));
		exit(1);
	}
}

void ete_close(struct ete_capture *c)
{
	hf_stream_close(c->stream);
	hf_src_free(c->src);
	hf_setup_free(c->setup);
}

struct hf_event *ete_events(const struct ete_capture *c, uint32_t hart, size_t batch, size_t *ret_n)
{
	struct hf_event *all = NULL;
	struct hf_dec *dec;
	size_t n = 0, cap = 0, got;
	int err;

	CHECK_EQ(hf_dec_new(c->stream, c->src, hart, &dec), 0);
	do {
		if (cap - n < batch) {
			cap = 2 * cap + batch + 4096;
			all = realloc(all, cap * sizeof *all);
			CHECK(all);
		}
		err = hf_dec_next(dec, all + n, batch, &got);
		n += got;
	} while (!err);
	CHECK_EQ(err, HF_NOTE_END);
	hf_dec_free(dec);
	*ret_n = n;
	return all;
}

const char *ete_corpus(void)
{
	static char path[4096];
	const char *corpus = getenv("HARTFS_CORPUS");

	if (!corpus || !*corpus) {
		fprintf(stderr, "SKIPPED: HARTFS_CORPUS is not set\n");
		exit(77);
	}
	snprintf(path, sizeof path, "%s/ete", corpus);
	return path;
}
