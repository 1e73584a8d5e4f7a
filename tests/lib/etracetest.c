#include "tests/lib/etracetest.h"

#include "codecs/setup/read.h"

#include <fcntl.h>
#include <unistd.h>

struct place {
	char folder[4096];
};

static int open_file(void *ctx, const char *name, struct hf_src **ret_src, struct hf_diag *diag)
{
	const struct place *place = ctx;
	char path[8192];
	int fd;

	snprintf(path, sizeof path, "%s/%s", place->folder, name);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	return fd < 0 ? HF_ERR_NOT_FOUND : hf_src_file_new(fd, ret_src, diag);
}

static bool read_setup(struct hf_etracet *t, const char *ini)
{
	struct place place;
	const struct hf_setup_opener opener = {.ctx = &place, .open = open_file};
	struct hf_setup_error error = {0};
	const char *name = strrchr(ini, '/');

	CHECK(name && (size_t)(name - ini) < sizeof place.folder);
	memcpy(place.folder, ini, (size_t)(name - ini));
	place.folder[name - ini] = 0;
	*t = (struct hf_etracet){0};
	if (!hf_setup_read(&opener, name + 1, &t->setup, &error) &&
	    !hf_setup_load(t->setup, &opener, &t->src, &error))
		return true;
	fprintf(stderr, "%s:%u: %s\n", ini, error.line, error.text);
	hf_setup_free(t->setup);
	return false;
}

static bool open_stream(struct hf_etracet *t, const char *ini)
{
	struct hf_diag diag = {0};
	int err = hf_stream_open(&hf_codec_etrace, t->src, t->setup, &t->stream, &diag);

	if (!err)
		return true;
	fprintf(stderr, "%s: %s, line %llu\n", ini, hf_err_name(err), (unsigned long long)diag.detail);
	hf_src_free(t->src);
	hf_setup_free(t->setup);
	return false;
}

bool hf_etracet_open(struct hf_etracet *t, const char *ini)
{
	return read_setup(t, ini) && open_stream(t, ini);
}

bool hf_etracet_open_bytes(struct hf_etracet *t, const char *ini, const void *bytes, size_t n)
{
	if (!read_setup(t, ini))
		return false;
	hf_src_free(t->src);
	CHECK_EQ(hf_src_memory_new(bytes, n, &t->src), 0);
	for (size_t i = 0; i < t->setup->part_count; i++)
		t->setup->parts[i].size = n;
	return open_stream(t, ini);
}

void hf_etracet_close(struct hf_etracet *t)
{
	hf_stream_close(t->stream);
	hf_src_free(t->src);
	hf_setup_free(t->setup);
}

void hf_etracet_value(struct hf_setup *setup, const char *key, const char *value)
{
	setup->values = realloc(setup->values, (setup->value_count + 1) * sizeof *setup->values);
	CHECK(setup->values);
	setup->values[setup->value_count++] = (struct hf_setup_value){
		.hart = HF_SETUP_ANY, .key = strdup(key), .value = strdup(value), .file = strdup("test"), .line = 1};
}
