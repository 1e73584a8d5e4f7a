/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What shows a format: a stream that shows it is taken for its own codec's and for no other's, a description's values
 * are found good, and no beginning of a stream, however short, makes any codec surer than the whole head does.
 */
#include "tests/codec/loops.h"

static const struct hf_codec *const *codecs;

static const struct hf_codec *surest(const uint8_t *head, size_t n)
{
	const struct hf_codec *best = NULL;
	int most = 0;

	for (size_t i = 0; codecs[i]; i++) {
		const int bid = codecs[i]->probe ? codecs[i]->probe(head, n) : 0;

		CHECK(bid >= 0 && bid <= 100);
		if (bid > most)
			best = codecs[i];
		CHECK(!bid || bid != most);
		most = bid > most ? bid : most;
	}
	return best;
}

static void check(struct sample *s)
{
	const size_t n = s->bytes.n < HF_PROBE_SIZE ? s->bytes.n : HF_PROBE_SIZE;
	const struct hf_codec *found = surest(s->bytes.p, n);
	struct hf_setup_error error;
	bool ours = true;

	if (s->setup) {
		CHECK(!s->codec->check || s->codec->check(s->setup, &error) == 0);
		CHECK(!s->codec->remark || s->codec->remark(s->setup) == 0);
		CHECK(s->path || !s->setup->warning_count);
	} else {
		CHECK(found == s->codec);
		CHECK(!found->confirm || found->confirm(s->src, &ours) == 0);
		CHECK(ours);
	}
	for (size_t k = 0; k < n; k++) {
		/* a copy of that size, so that a sanitizer sees what is read behind it */
		uint8_t *head = malloc(k ? k : 1);
		const struct hf_codec *early;

		CHECK(head);
		memcpy(head, s->bytes.p, k);
		early = surest(head, k);
		CHECK(!early || early == found);
		free(head);
	}
}

void loop_probe(struct samples *all)
{
	codecs = all->codecs;
	samples_each(all, check);
}
