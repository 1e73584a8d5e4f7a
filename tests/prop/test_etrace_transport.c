/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The view etrace/ in every framing: read back through its own description it gives the same instructions, traps and
 * accesses, and from any byte on, where messages can be found in the middle, the same tail.
 */
#include "codecs/base/errors.h"
#include "codecs/etrace/encoder.h"
#include "codecs/views.h"
#include "tests/lib/check.h"
#include "tests/lib/etraceloop.h"

#define ALL (HF_RVWALK_TRAPS | HF_RVWALK_DOUBLE | HF_RVWALK_HOLES | HF_RVWALK_MODES | HF_RVWALK_CONTEXTS)
#define INSNS 2500

static struct hf_rvwalk walk;

static void make(struct hf_rvtrace *trace, uint64_t seed, unsigned flags)
{
	hf_rvwalk_program(&walk, 0x80000000, seed & 1 ? 64 : 32, seed);
	hf_rvtrace_init(trace, walk.xlen);
	hf_rvwalk_run(&walk, trace, INSNS, flags);
}

/* ---- there and back ---- */

static void test_back(const char *params, unsigned flags)
{
	const unsigned what = HF_ETL_INSNS | HF_ETL_TRAPS | (flags & HF_RVWALK_MEM ? HF_ETL_MEM : 0);

	for (uint64_t seed = 1; seed <= 4; seed++) {
		struct hf_rvtrace trace, got;
		struct hf_etl l;

		make(&trace, seed, flags);
		hf_rvtrace_init(&got, walk.xlen);
		hf_etl_make_walk(&l, &trace, params, &walk);
		hf_etl_decode(&l, 0, &got, NULL);
		hf_etl_check_same(&l, &trace, &got, what, params);
		/* nothing is lost but what was */
		CHECK(hf_etl_count(&got, HF_EVENT_GAP) <= hf_etl_count(&trace, HF_EVENT_GAP));
		hf_etl_free(&l);
		hf_rvtrace_fini(&got);
		hf_rvtrace_fini(&trace);
	}
}

static const char *const framings[] = {
	"framing=te_inst_raw", "framing=te_inst_raw,alignment=zeros", "framing=te_inst_raw,alignment=blocks,block_bytes=64",
	"framing=te_inst_raw,alignment=blocks", "framing=encap", "framing=encap,srcid_bits=0,alignment=none",
	"framing=encap,srcid_bits=3", "framing=encap,srcid_bits=13,timestamp_bytes=2",
	"framing=encap,srcid_bits=16,type_bits=5,timestamp_bytes=8", "framing=encap,alignment=blocks,block_bytes=100",
	"framing=encap,compression=none", "framing=encap,compression=address,type_bits=1", "framing=smi",
	"framing=smi,srcid_bits=0,timestamp_bytes=2", "framing=smi,srcid_bits=11,type_bits=2,timestamp_bytes=3",
	"framing=coresight", "framing=coresight,timestamp_bytes=2,type_bits=1", "framing=coresight,alignment=none",
};
static const char *const records[] = {
	"framing=pulp", "framing=esp32", "framing=esp32,alignment=blocks,block_bytes=64",
};
#define COUNT(list) (sizeof(list) / sizeof(list)[0])

static void test_all_back(void)
{
	static const char *const versions[] = {"1.1.1", "2.0", "2.1"};
	char params[256];

	for (size_t v = 0; v < 3; v++) {
		const unsigned flags = v ? ALL : ALL & ~(unsigned)(HF_RVWALK_DOUBLE | HF_RVWALK_TRAPS);

		for (size_t i = 0; i < COUNT(framings); i++) {
			snprintf(params, sizeof params, "version=%s,sync_instructions=100,%s", versions[v], framings[i]);
			test_back(params, flags);
			if (strstr(framings[i], "type_bits") || !strstr(framings[i], "srcid_bits=0")) {
				snprintf(params, sizeof params, "version=%s,sync_instructions=300,data=1,%s", versions[v],
					 framings[i]);
				test_back(params, flags | HF_RVWALK_MEM);
			}
		}
		for (size_t i = 0; i < COUNT(records); i++) {
			snprintf(params, sizeof params, "version=%s,%s", versions[v], records[i]);
			test_back(params, flags);
		}
	}
}

/* ---- the manual ---- */

/* Every parameter that is taken stands in the manual's section about the view. */
static void test_manual(void)
{
	const char *data = getenv("HARTFS_DATA");
	char path[1024], *text, *section, *end;
	size_t n;

	if (!data)
		return;
	snprintf(path, sizeof path, "%s/../../mountd/hartfs-etrace.5.md", data);
	text = hf_rvtrace_read_file(path, SIZE_MAX, &n);
	CHECK(text);
	section = strstr(text, "# THE VIEW etrace/");
	CHECK(section);
	end = strstr(section, "\n# ");
	CHECK(end);
	*end = 0;
	for (size_t i = 0; hf_etrace_keys[i].key; i++) {
		char params[128], why[200] = "";

		snprintf(params, sizeof params, "%s=1", hf_etrace_keys[i].key);
		hf_view_etrace.check_params(params, why, sizeof why);
		if (strstr(why, "has no parameter"))
			continue;
		if (!strstr(section, hf_etrace_keys[i].key))
			fprintf(stderr, "the manual does not have %s\n", hf_etrace_keys[i].key);
		CHECK(strstr(section, hf_etrace_keys[i].key));
	}
	free(text);
}

/* ---- every combination ---- */

/* Works, or is refused with a parameter's name. */
static void test_combination(const struct hf_rvtrace *trace, const char *params, unsigned *ret_works)
{
	const unsigned what = HF_ETL_INSNS | (strstr(params, "data=1") ? HF_ETL_MEM : 0);
	char why[200] = "";
	struct hf_rvtrace got;
	struct hf_etl l;

	if (hf_view_etrace.check_params(params, why, sizeof why)) {
		bool named = false;

		for (size_t i = 0; hf_etrace_keys[i].key; i++)
			named |= strstr(why, hf_etrace_keys[i].key) != NULL;
		if (!named)
			fprintf(stderr, "%s: %s\n", params, why);
		CHECK(named || strstr(why, "data=1"));
		return;
	}
	hf_rvtrace_init(&got, walk.xlen);
	hf_etl_make_walk(&l, trace, params, &walk);
	hf_etl_decode(&l, 0, &got, NULL);
	if (strstr(params, "profile=exact"))
		hf_etl_check_same(&l, trace, &got, what, params);
	hf_etl_free(&l);
	hf_rvtrace_fini(&got);
	++*ret_works;
}

static void test_combinations(void)
{
	static const char *const versions[] = {"1.1.1", "2.0", "2.1"}, *const profiles[] = {"exact", "c111", "python"};
	static const char *const names[] = {"te_inst_raw", "encap", "smi", "coresight", "pulp", "esp32"};
	static const char *const modes[] = {"full_address", "implicit_return", "branch_prediction", "jump_target_cache",
					    "implicit_exception"};
	unsigned works = 0;
	struct hf_rvtrace trace;

	hf_rvwalk_program(&walk, 0x80000000, 64, 5);
	hf_rvtrace_init(&trace, walk.xlen);
	hf_rvwalk_run(&walk, &trace, 200, HF_RVWALK_MODES | HF_RVWALK_MEM);
	for (unsigned i = 0; i < 3 * 3 * 6 * 2 * 32; i++) {
		const unsigned set = i / 108;
		char params[256], options[128] = "none";

		for (unsigned k = 0; k < 5; k++)
			if (set >> k & 1)
				snprintf(options + (set & ((1u << k) - 1) ? strlen(options) : 0), 40, "%s%s",
					 set & ((1u << k) - 1) ? "+" : "", modes[k]);
		snprintf(params, sizeof params, "version=%s,profile=%s,framing=%s,data=%u,options=%s,mtvec=0x80000000",
			 versions[i % 3], profiles[i / 3 % 3], names[i / 9 % 6], i / 54 % 2, options);
		test_combination(&trace, params, &works);
	}
	CHECK(works > 1000);
	hf_rvtrace_fini(&trace);
}

/* ---- from the middle ---- */

/* From every byte of the first half on, the second half comes out, and nothing else than a gap besides. */
static void test_middle(const char *params)
{
	struct hf_rvtrace trace, whole;
	struct hf_etl l;

	make(&trace, 7, 0);
	hf_rvtrace_init(&whole, walk.xlen);
	hf_etl_make_walk(&l, &trace, params, &walk);
	hf_etl_decode(&l, 0, &whole, NULL);
	CHECK_EQ(whole.retired, trace.retired);
	CHECK_EQ(hf_etl_count(&whole, HF_EVENT_GAP), 0);
	for (size_t skip = 1; skip < l.size / 2; skip += 7) {
		/* what lies before, in whole units of the transport, is only not there */
		const bool frames = strstr(params, "coresight"), blocks = strstr(params, "blocks");
		const size_t from = frames ? skip / 16 * 16 : blocks ? skip / 64 * 64 : skip;
		struct hf_rvtrace got;

		hf_rvtrace_init(&got, walk.xlen);
		hf_etl_decode(&l, from, &got, NULL);
		CHECK_EQ(hf_etl_same_tail(&whole, &got), got.retired);
		CHECK(got.retired > INSNS / 3);
		CHECK(hf_etl_count(&got, HF_EVENT_GAP) <= 1);
		hf_rvtrace_fini(&got);
	}
	hf_etl_free(&l);
	hf_rvtrace_fini(&whole);
	hf_rvtrace_fini(&trace);
}

/* ---- whose it is, and when ---- */

static void test_source(const char *params, uint32_t hart, uint32_t want)
{
	struct hf_rvtrace trace, got;
	struct hf_etl_code code;
	struct hf_etl l;
	uint32_t source;

	make(&trace, 3, 0);
	code = hf_etl_code_of(&walk);
	hf_rvtrace_init(&got, walk.xlen);
	hf_etl_make(&l, &trace, params, hart, &code);
	hf_etl_decode(&l, 0, &got, &source);
	CHECK_EQ(source, want);
	CHECK_EQ(got.retired, trace.retired);
	hf_etl_free(&l);
	hf_rvtrace_fini(&got);
	hf_rvtrace_fini(&trace);
}

/* Times come with the packet behind them: they increase, and are times of the source. */
static void test_times(const char *params)
{
	struct hf_rvtrace trace, got;
	struct hf_etl l;
	uint64_t last = 0;
	size_t n = 0;

	make(&trace, 9, HF_RVWALK_CONTEXTS);
	hf_rvtrace_init(&got, walk.xlen);
	hf_etl_make_walk(&l, &trace, params, &walk);
	hf_etl_decode(&l, 0, &got, NULL);
	for (size_t i = 0; i < got.count; i++) {
		const uint64_t time = got.events[i].time.value;

		if (got.events[i].kind != HF_EVENT_TIMESTAMP)
			continue;
		CHECK(time > last && time < trace.count);
		CHECK_EQ(trace.events[time + 1].kind, HF_EVENT_TIMESTAMP); /* see change_context() */
		last = time;
		n++;
	}
	CHECK(n > 10);
	hf_etl_free(&l);
	hf_rvtrace_fini(&got);
	hf_rvtrace_fini(&trace);
}

/* ---- what is refused ---- */

static void test_refused(void)
{
	static const struct {
		const char *params, *named;
	} bad[] = {
		{"framing=usb", "framing"},
		{"srcid_bits=8", "srcid_bits"},
		{"framing=coresight,srcid_bits=8", "srcid_bits"},
		{"type_bits=1", "type_bits"},
		{"framing=pulp,timestamp_bytes=2", "timestamp_bytes"},
		{"framing=pulp,data=1", "data"},
		{"framing=esp32,data=1", "data"},
		{"framing=encap,data=1,type_bits=0", "type_bits"},
		{"framing=smi,type_bits=0", "type_bits"},
		{"framing=pulp,alignment=zeros", "alignment"},
		{"framing=coresight,alignment=blocks", "alignment"},
		{"alignment=blocks,block_bytes=40", "block_bytes"},
		{"block_bytes=1024", "block_bytes"},
		{"framing=encap,srcid_bits=17", "srcid_bits"},
		{"framing=esp32,time_width=64,context=pid,ecause_width=20", "ecause_width"},
		{"time_width=64,context_width=64,ecause_width=40", "time_width"},
	};
	char why[200];

	for (size_t i = 0; i < COUNT(bad); i++) {
		why[0] = 0;
		CHECK_EQ(hf_view_etrace.check_params(bad[i].params, why, sizeof why), HF_ERR_SETUP_VALUE);
		if (!strstr(why, bad[i].named))
			fprintf(stderr, "%s: %s\n", bad[i].params, why);
		CHECK(strstr(why, bad[i].named));
	}
}

int main(void)
{
	test_refused();
	test_manual();
	test_all_back();
	test_combinations();
	test_middle("framing=encap,sync_instructions=50");
	test_middle("framing=encap,sync_instructions=50,timestamp_bytes=4,srcid_bits=13");
	test_middle("framing=smi,sync_instructions=50");
	test_middle("framing=coresight,sync_instructions=50");
	test_middle("framing=te_inst_raw,alignment=zeros,sync_instructions=50");
	test_middle("framing=te_inst_raw,alignment=blocks,block_bytes=64,sync_instructions=50");
	test_middle("framing=esp32,alignment=blocks,block_bytes=64,sync_instructions=50");
	test_source("framing=encap", 5, 5);
	test_source("framing=encap,srcid_bits=2", 5, 1);
	test_source("framing=smi", 9, 9);
	test_source("framing=coresight", 9, 9);
	test_source("framing=coresight", 0, 16);
	test_source("framing=coresight", 300, 16);
	test_times("framing=encap,timestamp_bytes=4,sync_instructions=20");
	test_times("framing=smi,timestamp_bytes=4,sync_instructions=20");
	test_times("framing=coresight,timestamp_bytes=8,sync_instructions=20");
	test_times("framing=pulp,sync_instructions=20");
	return 0;
}
