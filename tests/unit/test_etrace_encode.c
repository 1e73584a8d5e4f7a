/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The E-Trace encoder against the streams of the two reference encoders: from the same execution, with the same
 * parameters and habits, the same bytes. And its states: taken at any event boundary they lead to the same bytes.
 */
#include "codecs/base/errors.h"
#include "codecs/etrace/encoder.h"
#include "codecs/views.h"
#include "tests/lib/check.h"
#include "tests/lib/rvwalk.h"

#include <stdarg.h>
#include <sys/stat.h>

struct bytes {
	uint8_t *p;
	size_t n;
};

static struct bytes encode(const struct hf_rvtrace *trace, const char *params)
{
	struct hf_enc_env env = {.params = params};
	struct hf_sink sink;
	struct hf_enc *enc;
	struct bytes out;

	CHECK_EQ(hf_sink_init_memory(&sink, 1 << 16), 0);
	CHECK_EQ(hf_enc_new(&hf_view_etrace, &trace->stream, 0, &env, &enc), 0);
	hf_enc_put(enc, trace->events, trace->count, &sink);
	hf_enc_end(enc, &sink);
	CHECK_EQ(sink.err, 0);
	out.n = (size_t)(sink.p - sink.start);
	out.p = malloc(out.n + 1);
	CHECK(out.p);
	memcpy(out.p, sink.start, out.n);
	hf_enc_free(enc);
	hf_sink_fini_memory(&sink);
	return out;
}

/* ---- states ---- */

/*
 * From a state taken at any event boundary the rest of the bytes is the same: by putting a fresh encoder in place of
 * the old one at every one of them.
 */
static void check_states(const struct hf_rvtrace *trace, const char *params, size_t limit)
{
	static uint8_t blob[HF_STATE_MAX], again[HF_STATE_MAX];
	struct hf_enc_env env = {.params = params};
	const struct bytes want = encode(trace, params);
	struct hf_sink sink;
	struct hf_enc *enc;
	size_t largest = 0;

	CHECK_EQ(hf_sink_init_memory(&sink, 1 << 16), 0);
	CHECK_EQ(hf_enc_new(&hf_view_etrace, &trace->stream, 0, &env, &enc), 0);
	for (size_t i = 0; i < trace->count; i++) {
		hf_enc_put(enc, &trace->events[i], 1, &sink);
		if (i < limit) {
			size_t n = hf_enc_save(enc, blob);

			CHECK(n <= HF_STATE_MAX);
			largest = n > largest ? n : largest;
			hf_enc_free(enc);
			CHECK_EQ(hf_enc_new(&hf_view_etrace, &trace->stream, 0, &env, &enc), 0);
			CHECK(hf_enc_load(enc, blob, n - 1) != 0);
			CHECK_EQ(hf_enc_load(enc, blob, n), 0);
			CHECK_EQ(hf_enc_save(enc, again), n);
			CHECK(memcmp(blob, again, n) == 0);
		}
	}
	hf_enc_end(enc, &sink);
	if ((size_t)(sink.p - sink.start) != want.n || memcmp(sink.start, want.p, want.n) != 0) {
		fprintf(stderr, "%s: from states %zu bytes, else %zu\n", params, (size_t)(sink.p - sink.start), want.n);
		exit(1);
	}
	printf("%s: states up to %zu bytes\n", params, largest);
	hf_enc_free(enc);
	hf_sink_fini_memory(&sink);
	free(want.p);
}

/* ---- the streams of the corpus ---- */

static const struct {
	const char *name, *habits;
	unsigned flags;
} streams[] = {
	{"c111_delta", "profile=c111", 0},
	{"c111_full", "profile=c111,options=full_address", 0},
	{"c111_ir", "profile=c111,options=implicit_return", 0},
	{"c111_bp", "profile=c111,options=branch_prediction", 0},
	{"c111_jtc", "profile=c111,options=jump_target_cache", 0},
	{"c111_ir_bp", "profile=c111,options=implicit_return+branch_prediction", 0},
	{"c111_all", "profile=c111,options=implicit_return+branch_prediction+jump_target_cache", 0},
	{"literal_delta", "profile=c111", 0},
	{"strict_basic", "profile=python,resync_packets=16", 0},
	{"strict_full", "profile=python,options=full_address,resync_packets=32", 0},
	{"strict_noresync", "profile=python", 0},
	{"itype3_basic", "profile=python,resync_packets=16", HF_RVTRACE_ECALL_RETIRES | HF_RVTRACE_TVAL8},
	{"itype3_full", "profile=python,options=full_address,resync_packets=32",
	 HF_RVTRACE_ECALL_RETIRES | HF_RVTRACE_TVAL8},
	{"itype4_basic", "profile=python,resync_packets=16", HF_RVTRACE_ECALL_RETIRES},
	{"lean", "profile=python", HF_RVTRACE_ECALL_RETIRES | HF_RVTRACE_TVAL8},
};

static const char *corpus;

static const char *path(const char *format, ...) __attribute__((format(printf, 1, 2)));
static const char *path(const char *format, ...)
{
	static char buf[1024];
	va_list args;
	int n = snprintf(buf, sizeof buf, "%s/etrace/", corpus);

	va_start(args, format);
	vsnprintf(buf + n, sizeof buf - (size_t)n, format, args);
	va_end(args);
	return buf;
}

/* The parameters of a capture.ini as view parameters behind what stands in params[room]. */
static void add_parameters(char *params, size_t room, const char *ini)
{
	const char *line = strstr(ini, "[parameters]\n");

	CHECK(line);
	for (line = strchr(line, '\n') + 1; *line && *line != '['; line += strcspn(line, "\n"), line += *line == '\n') {
		char key[64], value[64];
		size_t n = strlen(params);

		if (sscanf(line, "%63[a-z_0-9] = %63[^\n]", key, value) == 2)
			snprintf(params + n, room - n, "%s%s=%s", n ? "," : "", key, value);
	}
}

static void show_difference(const struct bytes *got, const uint8_t *want, size_t want_n)
{
	size_t i = 0, number = 0;

	for (; i < got->n && i < want_n; number++) {
		size_t n = 1 + (got->p[i] & 31);

		if (memcmp(got->p + i, want + i, n) != 0 || i + n > want_n)
			break;
		i += n;
	}
	fprintf(stderr, "  packet %zu: ", number);
	for (size_t k = 0; k < 20 && i + k < got->n; k++)
		fprintf(stderr, "%02x ", got->p[i + k]);
	fprintf(stderr, "\n  wanted:   ");
	for (size_t k = 0; k < 20 && i + k < want_n; k++)
		fprintf(stderr, "%02x ", want[i + k]);
	fprintf(stderr, "\n");
}

static void compare_stream(const struct hf_rvtrace *trace, const char *program, const char *config, const char *habits)
{
	char params[1024];
	size_t n, want_n;
	char *ini = hf_rvtrace_read_file(path("%s/%s/capture.ini", program, config), SIZE_MAX, &n), *want;
	struct bytes got;

	want = hf_rvtrace_read_file(path("%s/%s/packets.te_inst_raw", program, config), SIZE_MAX, &want_n);
	CHECK(ini && want);
	snprintf(params, sizeof params, "%s", habits);
	add_parameters(params, sizeof params, ini);
	got = encode(trace, params);
	if (got.n != want_n || memcmp(got.p, want, want_n) != 0) {
		fprintf(stderr, "%s/%s: %zu bytes and not %zu\n", program, config, got.n, want_n);
		show_difference(&got, (uint8_t *)want, want_n);
		exit(1);
	}
	free(ini);
	free(want);
	free(got.p);
}

static void check_all_states(const struct hf_rvtrace *trace, size_t limit)
{
	static const char *const params[] = {
		"", "sync_instructions=7", "sync_instructions=100,options=none",
		"sync_instructions=64,options=implicit_return+branch_prediction+jump_target_cache",
		"options=full_address+jump_target_cache,sync_instructions=0,version=1.1.1,cache_size=8",
		"version=2.1,link_registers=x1+x5", "profile=c111,options=implicit_return,call_counter_size=9",
		"data=1,sync_instructions=50", "data=1,lrid_width=3,sync_instructions=0",
		"data=1,data_diff=reference,no_data=1,version=2.1", "context=pid,filter_privilege=M+S,sync_instructions=1",
		"profile=c111,trap_reporting=figure,resync_packets=16", "framing=coresight,timestamp_bytes=2",
		"version=2.1,return_stack_size=2,call_counter_size=3,sync_instructions=0", "framing=esp32,alignment=blocks,block_bytes=64",
	};

	for (size_t i = 0; i < sizeof params / sizeof params[0]; i++)
		check_states(trace, params[i], limit);
}

static void check_walk_states(void)
{
	static struct hf_rvwalk walk;
	struct hf_rvtrace trace;

	hf_rvwalk_program(&walk, 0x80000000, 64, 9);
	hf_rvtrace_init(&trace, 64);
	hf_rvwalk_run(&walk, &trace, 3000, HF_RVWALK_TRAPS | HF_RVWALK_DOUBLE | HF_RVWALK_HOLES | HF_RVWALK_MODES |
		      HF_RVWALK_CONTEXTS | HF_RVWALK_MEM);
	check_all_states(&trace, SIZE_MAX);
	hf_rvtrace_fini(&trace);
}

static unsigned compare_program(const char *program)
{
	const unsigned xlen = strncmp(program, "embench", 7) == 0 || strcmp(program, "xrle") == 0 ? 32 : 64;
	unsigned count = 0;
	size_t n;
	char *csv = hf_rvtrace_read_file(path("%s/trace.csv.xz", program), SIZE_MAX, &n);

	csv = csv ? csv : hf_rvtrace_read_file(path("%s/trace.csv", program), SIZE_MAX, &n);
	CHECK(csv);
	for (size_t i = 0; i < sizeof streams / sizeof streams[0]; i++) {
		static const char *const syncs[] = {"_rs16", "_rs4096", ""};
		struct hf_rvtrace trace;

		hf_rvtrace_parse(&trace, csv, xlen, streams[i].flags);
		for (unsigned k = 0; k < 3; k++) {
			char config[64], habits[128];
			struct stat st;

			snprintf(config, sizeof config, "%s%s", streams[i].name, syncs[k]);
			snprintf(habits, sizeof habits, "%s%s", streams[i].habits,
				 k == 0 ? ",resync_packets=16" : k == 1 ? ",resync_packets=4096" : "");
			if (stat(path("%s/%s", program, config), &st))
				continue;
			compare_stream(&trace, program, config, habits);
			count++;
		}
		hf_rvtrace_fini(&trace);
	}
	free(csv);
	return count;
}

static void test_corpus(void)
{
	static const char *const programs[] = {
		"br_j_asm", "corner", "dhrystone", "towers", "test_discon_branch_exception", "embench-crc32",
		"embench-huffbench", "embench-sglib-combined", "embench-statemate", "xrle",
	};
	unsigned count = 0;

	for (size_t i = 0; i < sizeof programs / sizeof programs[0]; i++)
		count += compare_program(programs[i]);
	printf("%u streams of the reference encoders come out byte for byte\n", count);
	CHECK(count > 100);
}

/* ---- branches as predicted ---- */

/* The largest number of them in a packet of these bytes. */
static uint64_t most_predicted(const uint8_t *p, const uint8_t *end, const struct hf_etrace_params *params)
{
	struct hf_etrace_packet pkt;
	uint64_t most = 0;

	for (; p < end; p += 1 + (*p & 31)) {
		CHECK_EQ(hf_etrace_packet_read(params, params->modes, p + 1, *p & 31, &pkt), 0);
		if (pkt.format == 0 && pkt.branch_count + UINT64_C(31) > most)
			most = pkt.branch_count + UINT64_C(31);
	}
	return most;
}

static unsigned support_packets(const uint8_t *p, const uint8_t *end, const struct hf_etrace_params *params)
{
	struct hf_etrace_packet pkt;
	unsigned count = 0;

	for (; p < end; p += 1 + (*p & 31)) {
		CHECK_EQ(hf_etrace_packet_read(params, params->modes, p + 1, *p & 31, &pkt), 0);
		count += hf_etrace_is_support(&pkt);
	}
	return count;
}

/* A loop that goes on for longer than a reader takes in one packet. */
static void test_predicted_max(void)
{
	struct hf_enc_env env = {.params = "options=branch_prediction,bpred_size=2,sync_instructions=0"};
	struct hf_etrace_config config;
	struct hf_etrace_enc *e;
	struct hf_rvtrace trace;
	struct hf_sink sink;
	struct hf_enc *enc;

	hf_rvtrace_init(&trace, 64);
	for (unsigned i = 0; i < 200; i++)
		hf_rvtrace_insn(&trace, 0x80000000 + i % 2 * 4, i % 2 ? 0xfeb51ee3 : 0x00000013, HF_MODE_M);
	CHECK_EQ(hf_sink_init_memory(&sink, 1 << 12), 0);
	CHECK_EQ(hf_enc_new(&hf_view_etrace, &trace.stream, 0, &env, &enc), 0);
	CHECK_EQ(hf_etrace_config_read(&config, env.params, &trace.stream, 0, NULL, 0), 0);
	e = (struct hf_etrace_enc *)enc;
	hf_enc_put(enc, trace.events, 150, &sink);
	CHECK(e->s.pbc > 31);
	e->s.pbc += HF_ETRACE_PREDICTED_MAX - e->s.branches - 5;
	e->s.branches = HF_ETRACE_PREDICTED_MAX - 5;
	hf_enc_put(enc, trace.events + 150, trace.count - 150, &sink);
	hf_enc_end(enc, &sink);
	CHECK_EQ(most_predicted(sink.start, sink.p, &config.params), HF_ETRACE_PREDICTED_MAX);
	hf_enc_free(enc);
	hf_sink_fini_memory(&sink);
	hf_rvtrace_fini(&trace);
}

/* Addresses that are wider than packets have them: a jump leads where the program says all the same. */
static void test_narrow_addresses(void)
{
	struct hf_enc_env env = {.params = "options=none,iaddress_width=39,sync_instructions=0"};
	const uint64_t base = UINT64_C(0xffffffff80000000);
	struct hf_etrace_config config;
	struct hf_rvtrace trace;
	struct hf_sink sink;
	struct hf_enc *enc;

	hf_rvtrace_init(&trace, 64);
	for (unsigned i = 0; i < 200; i++)
		hf_rvtrace_insn(&trace, base + i % 2 * 4, i % 2 ? 0xffdff06f : 0x00000013, HF_MODE_S);
	CHECK_EQ(hf_sink_init_memory(&sink, 1 << 12), 0);
	CHECK_EQ(hf_enc_new(&hf_view_etrace, &trace.stream, 0, &env, &enc), 0);
	CHECK_EQ(hf_etrace_config_read(&config, env.params, &trace.stream, 0, NULL, 0), 0);
	hf_enc_put(enc, trace.events, trace.count, &sink);
	hf_enc_end(enc, &sink);
	CHECK_EQ(support_packets(sink.start, sink.p, &config.params), 2); /* the first and the last */
	hf_enc_free(enc);
	hf_sink_fini_memory(&sink);
	hf_rvtrace_fini(&trace);
}

/* A parameter that leaves little room, or none, for the defaults behind it. */
static void test_long_parameter(void)
{
	char params[4096], why[256];

	for (int size = 1; size < 4000; size++) {
		snprintf(params, sizeof params, "version=%0*d", size, 7);
		CHECK_EQ(hf_etrace_config_check(params, why, sizeof why), HF_ERR_SETUP_VALUE);
	}
}

int main(void)
{
	check_walk_states();
	test_long_parameter();
	test_predicted_max();
	test_narrow_addresses();
	corpus = getenv("HARTFS_CORPUS");
	if (!corpus) {
		fprintf(stderr, "HARTFS_CORPUS is not set: no streams to compare with\n");
		return 77;
	}
	test_corpus();
	return 0;
}
