/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whoever changes the bytes of a view, of records.txt or of a side file steps a version: else an index made before the
 * change promises other bytes. versions.txt has, for each sample, hart and view, the versions and a hash of the bytes:
 * "SAMPLE HART VIEW CODEC-VERSION VIEW-VERSION HASH". HARTFS_VERSIONS=write writes it anew.
 */
#include "codecs/isa/disasm.h"
#include "tests/codec/loops.h"

#include <inttypes.h>
#include <xxhash.h>

/* The disassembler is LLVM's: of another one the text is another, and so is the key of its view tables. */
#define LLVM "LLVM 19.1.7"

static struct hf_disasm *disasm;
static char *known; /* versions.txt, with a newline before it */
static FILE *written;
static unsigned wrong;

static void hash_view(const struct sample *s, const struct hf_enc_ops *ops, uint32_t hart, const struct hf_events *list,
		      struct hf_sink *sink)
{
	const struct hf_enc_env env = {.params = "", .disasm = disasm};
	struct hf_enc *enc;

	CHECK_EQ(hf_enc_new(ops, s->stream, hart, &env, &enc), 0);
	hf_enc_put(enc, list->ev, list->n, sink);
	hf_enc_end(enc, sink);
	for (const struct hf_side_file *file = ops->side; file && file->name; file++)
		file->write(&(struct hf_side){.stream = s->stream, .hart = hart, .env = &env}, sink);
	hf_enc_free(enc);
	CHECK_EQ(sink->err, 0);
}

static bool is_known(const char *key, const char *rest)
{
	char line[336];

	snprintf(line, sizeof line, "\n%s %s", key, rest);
	return strstr(known, line);
}

/* key: "SAMPLE HART VIEW"; value: "CODEC-VERSION VIEW-VERSION HASH". */
static void compare(const char *key, const char *value)
{
	char versions[32];

	if (is_known(key, value))
		return;
	snprintf(versions, sizeof versions, "%.*s", (int)(strrchr(value, ' ') + 1 - value), value);
	printf("%s: %s\n", key,
	       is_known(key, versions) ? "the bytes are others, and no version was stepped"
	       : is_known(key, "")     ? "a version was stepped"
				       : "this is new");
	wrong++;
}

static void check_view(const struct sample *s, const struct hf_enc_ops *ops, uint32_t hart,
		       const struct hf_events *list)
{
	struct hf_sink sink;
	char key[256], value[64];

	if (strcmp(ops->name, "listing") == 0 && strcmp(hf_disasm_version(), LLVM) != 0)
		return;
	sample_about("%s hart %u, the view %s", s->name, hart, ops->name);
	CHECK_EQ(hf_sink_init_memory(&sink, 1 << 16), 0);
	hash_view(s, ops, hart, list, &sink);
	snprintf(key, sizeof key, "%s %" PRId32 " %s", s->name, (int32_t)hart, ops->name);
	snprintf(value, sizeof value, "%u %u %016" PRIx64 "\n", s->codec->version, ops->version,
		 (uint64_t)XXH3_64bits(sink.start, (size_t)(sink.p - sink.start)));
	hf_sink_fini_memory(&sink);
	if (written)
		CHECK(fprintf(written, "%s %s", key, value) > 0);
	else
		compare(key, value);
}

static void check(struct sample *s)
{
	for (size_t h = 0; h < s->hart_count; h++) {
		struct hf_events list = sample_all(s, s->harts[h], 256);

		if (s->harts[h] == HF_HART_RECORDS)
			check_view(s, &hf_enc_records, s->harts[h], &list);
		for (size_t i = 0; hf_views[i] && s->harts[h] != HF_HART_RECORDS; i++)
			if (!hf_enc_refusal(hf_views[i], &s->stream->info))
				check_view(s, hf_views[i], s->harts[h], &list);
		hf_events_free(&list);
	}
}

static char *load(const char *path)
{
	FILE *file = fopen(path, "r");
	char *text = calloc(1, 1 << 20);

	CHECK(file && text);
	*text = '\n';
	CHECK(fread(text + 1, 1, (1 << 20) - 2, file) < (1 << 20) - 2);
	fclose(file);
	return text;
}

void loop_versions(struct samples *all)
{
	const char *how = getenv("HARTFS_VERSIONS");
	char path[4096];

	snprintf(path, sizeof path, "%s/../codec/versions.txt", getenv("HARTFS_DATA"));
	if (how && strcmp(how, "write") == 0)
		CHECK((written = fopen(path, "w")));
	else
		known = load(path);
	if (strcmp(hf_disasm_version(), LLVM) != 0)
		printf("SKIPPED: the listings, which are compared for %s only; this is %s\n", LLVM,
		       hf_disasm_version());
	CHECK_EQ(hf_disasm_new(&disasm), 0);
	samples_each(all, check);
	hf_disasm_free(disasm);
	if (written)
		CHECK_EQ(fclose(written), 0);
	if (wrong)
		printf("Step the version of the codec or of the view where the bytes were meant to change; then\n"
		       "  HARTFS_VERSIONS=write build/release/tests/codec_loops versions\nwrites "
		       "tests/codec/versions.txt.\n");
	free(known);
	CHECK_EQ(wrong, 0);
}
