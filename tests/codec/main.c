/* SPDX-License-Identifier: Apache-2.0 */
/* LOOP [CODEC]: runs that loop over the samples of all codecs, or of that one. */
#include "tests/codec/loops.h"

static const struct {
	const char *name;
	void (*run)(struct samples *all);
	bool corpus; /* it takes the captures of the corpus too */
} loops[] = {
#define LOOP(name, corpus) {#name, loop_##name, corpus},
#include "tests/codec/loops.def"
#undef LOOP
};

int main(int argc, char **argv)
{
	const char *data = getenv("HARTFS_DATA");
	struct samples all;
	char dir[4096];

	if (argc < 2 || !data) {
		fprintf(stderr, "usage: HARTFS_DATA=tests/data %s LOOP [CODEC]\n", argv[0]);
		return 2;
	}
	snprintf(dir, sizeof dir, "%s/../codec/samples", data);
	for (size_t i = 0; i < sizeof loops / sizeof *loops; i++) {
		if (strcmp(loops[i].name, argv[1]) != 0)
			continue;
		samples_begin(&all, hf_codecs, dir, argc > 2 ? argv[2] : NULL);
		if (loops[i].corpus && argc == 2)
			samples_add_corpus(&all, dir, argv[1]);
		loops[i].run(&all);
		samples_end(&all);
		return 0;
	}
	fprintf(stderr, "there is no loop %s\n", argv[1]);
	return 2;
}
