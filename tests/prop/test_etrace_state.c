/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A decoder that is entered by a state goes on exactly as the one that gave it: at every event of small captures, with
 * states taken as they usually are and wherever one can be taken, and for batches of any size.
 */
#include "tests/lib/etracetest.h"

#define COMPARED 400 /* events behind each entry */

struct sample {
	const char *name; /* beneath the corpus */
	uint32_t hart;
	size_t step; /* every so many events */
};

static const struct sample samples[] = {
	{"br_j_asm/c111_all_rs16/capture.ini", 0, 11},	 {"corner/safe_all_rs4096/capture.ini", 0, 7},
	{"corner/safe_irstack_rs16/capture.ini", 0, 13}, {"corner/literal_delta_rs16/capture.ini", 0, 13},
	{"corner/strict_noresync/capture.ini", 0, 13},	 {"corner/c111_ir_rs4096/capture.ini", 0, 13},
	{"towers/c111_ir_bp_rs4096/capture.ini", 0, 41}, {"xrle/c111_bp_rs4096/capture.ini", 0, 3001},
	{"dhrystone/c111_all_rs4096/capture.ini", 0, 2003}, {"framing/encap_2hart_sync.ini", 1, 29},
	{"framing/atb_coresight_2id.ini", 0x11, 37},	 {"framing/encap_src8_ts2.ini", 3, 31},
};

static struct hf_etrace_dec *start(const struct hf_etracet *t, uint32_t hart, bool often)
{
	struct hf_dec *dec;
	struct hf_etrace_dec *d;

	CHECK_EQ(hf_dec_new(t->stream, t->src, hart, &dec), 0);
	d = (struct hf_etrace_dec *)dec;
	if (hart != HF_HART_RECORDS && often) {
		d->sync_distance = d->full_distance = 1;
		d->retry = 1;
	}
	return d;
}

/* Events from the entry on equal those of list from at on. */
static void check_entry(struct hf_dec *dec, const uint8_t *blob, size_t size, uint64_t discard,
			const struct hf_events *list, size_t at)
{
	struct hf_event ev[COMPARED];
	size_t n, want = list->n - at < COMPARED ? list->n - at : COMPARED;

	CHECK_EQ(hf_dec_load(dec, blob, size, discard), 0);
	for (size_t i = 0; i < want; i += n) {
		CHECK_EQ(hf_dec_next(dec, ev, want - i, &n), 0);
		for (size_t k = 0; k < n; k++)
			CHECK(memcmp(&ev[k], &list->ev[at + i + k], sizeof *ev) == 0);
	}
}

static void check_sample(const struct sample *s, uint32_t hart, bool often)
{
	struct hf_etracet t;
	struct hf_events list;
	struct hf_etrace_dec *d, *other;
	char path[4096];
	uint8_t blob[HF_STATE_MAX];
	size_t largest = 0, n;
	uint64_t furthest = 0;

	snprintf(path, sizeof path, "%s/etrace/%s", hf_stft_corpus(), s->name);
	CHECK(hf_etracet_open(&t, path));
	list = hf_stft_events(t.stream, t.src, hart, 500);
	d = start(&t, hart, often);
	other = start(&t, hart, often);
	for (size_t i = 0; i < list.n; i++) {
		struct hf_event ev;

		if (i % s->step == 0) {
			uint64_t discard;
			size_t size = hf_dec_save(&d->dec, blob, &discard);

			CHECK(size <= HF_STATE_MAX);
			largest = size > largest ? size : largest;
			furthest = discard > furthest ? discard : furthest;
			check_entry(&other->dec, blob, size, discard, &list, i);
		}
		CHECK_EQ(hf_dec_next(&d->dec, &ev, 1, &n), 0);
		CHECK(memcmp(&ev, &list.ev[i], sizeof ev) == 0);
	}
	printf("%s hart %u: %zu events, states of at most %zu bytes and %llu events\n", s->name, hart, list.n, largest,
	       (unsigned long long)furthest);
	hf_dec_free(&d->dec);
	hf_dec_free(&other->dec);
	hf_events_free(&list);
	hf_etracet_close(&t);
}

int main(void)
{
	for (size_t i = 0; i < sizeof samples / sizeof samples[0]; i++) {
		check_sample(&samples[i], samples[i].hart, false);
		check_sample(&samples[i], samples[i].hart, true);
		check_sample(&samples[i], HF_HART_RECORDS, false);
	}
	return 0;
}
