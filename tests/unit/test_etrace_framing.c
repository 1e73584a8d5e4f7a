/* SPDX-License-Identifier: Apache-2.0 */
/* Framings: single messages, the corpus' samples of each, streams that are entered in the middle, parameters. */
#include "codecs/base/errors.h"
#include "codecs/etrace/errors.h"
#include "codecs/etrace/framing.h"
#include "tests/lib/etracetest.h"

static struct hf_etrace_params transport(enum hf_etrace_framing framing, unsigned source, unsigned time, unsigned type)
{
	struct hf_etrace_params p;

	hf_etrace_params_default(&p, 64);
	p.framing = (uint8_t)framing;
	p.srcid_bits = (uint8_t)source;
	p.timestamp_bytes = (uint8_t)time;
	p.type_bits = (uint8_t)type;
	return p;
}

/* SMI with a 6-bit index and a type of 2 bits, and ATB's header of one byte. */
static void test_single(void)
{
	struct hf_etrace_params p = transport(HF_ETRACE_FRAMING_SMI, 6, 0, 0);
	struct hf_etrace_message msg;

	CHECK_EQ(hf_etrace_message_read(&p, HF_ETRACE_FRAMING_SMI, (const uint8_t *)"\x06\x81\x32\4\0\0\2", 7, &msg), 7);
	CHECK_EQ(msg.source, 1);
	CHECK_EQ(msg.kind, HF_ETRACE_MESSAGE_INSTRUCTION);
	CHECK_EQ(msg.length, 5);
	CHECK(memcmp(msg.payload, "\x32\4\0\0\2", 5) == 0);
	p = transport(HF_ETRACE_FRAMING_CORESIGHT, 0, 0, 0);
	CHECK_EQ(hf_etrace_message_read(&p, HF_ETRACE_FRAMING_CORESIGHT, (const uint8_t *)"\5\x32\4\0\0\2", 6, &msg), 6);
	CHECK_EQ(msg.length, 5);
	/* a source id of 3 bits and a type of 1: the payload begins in the middle of a byte */
	p = transport(HF_ETRACE_FRAMING_ENCAP, 3, 0, 1);
	CHECK_EQ(hf_etrace_message_read(&p, HF_ETRACE_FRAMING_ENCAP, (const uint8_t *)"\2\x2d\x4f", 3, &msg), 3);
	CHECK_EQ(msg.source, 5);
	CHECK_EQ(msg.kind, HF_ETRACE_MESSAGE_DATA);
	CHECK_EQ(msg.payload[0], 0xf2);
	CHECK_EQ(hf_etrace_message_read(&p, HF_ETRACE_FRAMING_ENCAP, (const uint8_t *)"\2\x2d", 2, &msg), HF_ERR_TRUNCATED);
	CHECK_EQ(hf_etrace_message_read(&p, HF_ETRACE_FRAMING_ENCAP, (const uint8_t *)"\x80", 1, &msg), 0);
	CHECK_EQ(hf_etrace_message_read(&p, HF_ETRACE_FRAMING_RAW, (const uint8_t *)"\x80", 1, &msg), HF_ERR_ETRACE_FRAME);
}

/* All messages of a stream in memory; losses[0] gets how many bytes were passed over. */
static size_t all(const struct hf_etrace_params *p, const uint8_t *bytes, size_t n, struct hf_etrace_message *msgs,
		  size_t max, uint64_t *losses)
{
	struct hf_etrace_framer *f = malloc(sizeof *f);
	struct hf_etrace_message msg;
	struct hf_src *src;
	size_t count = 0;

	CHECK(f);
	*losses = 0;
	CHECK_EQ(hf_src_memory_new(bytes, n, &src), 0);
	CHECK_EQ(hf_etrace_framer_init(f, p, NULL, src, 0), 0);
	while (hf_etrace_framer_next(f, &msg) == 0)
		if (msg.kind == HF_ETRACE_MESSAGE_LOSS)
			*losses += msg.size + 1;
		else if (count < max)
			msgs[count++] = msg;
	hf_etrace_framer_fini(f);
	free(f);
	hf_src_free(src);
	return count;
}

#define MOST 1000

/* The samples carry the packets of one capture: all of their payloads are its own. */
static void test_samples(void)
{
	static struct hf_etrace_message want[MOST], have[MOST];
	const struct {
		const char *name;
		enum hf_etrace_framing framing;
		unsigned source, time, type;
	} samples[] = {
		{"encap_src0.bin", HF_ETRACE_FRAMING_ENCAP, 0, 0, 0},
		{"encap_src8.bin", HF_ETRACE_FRAMING_ENCAP, 8, 0, 0},
		{"encap_src8_ts2.bin", HF_ETRACE_FRAMING_ENCAP, 8, 2, 0},
		{"encap_src6_type2.bin", HF_ETRACE_FRAMING_ENCAP, 6, 0, 2},
		{"encap_src6_type2.bin", HF_ETRACE_FRAMING_SMI, 6, 0, 2},
		{"pulp_40B.bin", HF_ETRACE_FRAMING_PULP, 0, 0, 0},
		{"esp32_index16.bin", HF_ETRACE_FRAMING_ESP32, 0, 0, 0},
	};
	struct hf_etrace_params p = transport(HF_ETRACE_FRAMING_RAW, 0, 0, 0);
	struct hf_walk_bytes raw = hf_stft_load("etrace/corner/strict_basic/packets.te_inst_raw");
	uint64_t losses;
	size_t n = all(&p, raw.p, raw.n, want, MOST, &losses);

	CHECK_EQ(n, 920);
	CHECK_EQ(losses, 0);
	for (size_t i = 0; i < sizeof samples / sizeof samples[0]; i++) {
		char name[256];
		struct hf_walk_bytes file;

		snprintf(name, sizeof name, "etrace/framing/%s", samples[i].name);
		file = hf_stft_load(name);
		p = transport(samples[i].framing, samples[i].source, samples[i].time, samples[i].type);
		CHECK_EQ(all(&p, file.p, file.n, have, MOST, &losses), n);
		CHECK_EQ(losses, 0);
		for (size_t k = 0; k < n; k++) {
			CHECK_EQ(have[k].length, want[k].length);
			CHECK(memcmp(have[k].payload, want[k].payload, want[k].length) == 0);
		}
		hf_bytes_free(&file);
	}
	hf_bytes_free(&raw);
}

/* A counter that jumps is a loss, and nothing else is. */
static void test_counter(void)
{
	static struct hf_etrace_message msgs[8];
	const struct hf_etrace_params p = transport(HF_ETRACE_FRAMING_ESP32, 0, 0, 0);
	uint64_t losses;

	CHECK_EQ(all(&p, (const uint8_t *)"\4\1\0\1\0\0\4\2\0\1\4\5\0\1\4\6\0\1", 18, msgs, 8, &losses), 4);
	CHECK_EQ(losses, 1);
}

/* A stream with synchronisation sequences, entered at any byte: what comes behind the next one is right. */
static void test_entering(void)
{
	static struct hf_etrace_message whole[3000], have[3000];
	struct hf_etrace_params p = transport(HF_ETRACE_FRAMING_ENCAP, 8, 2, 0);
	struct hf_walk_bytes file = hf_stft_load("etrace/framing/encap_2hart_sync.bin");
	uint64_t losses;
	size_t n = all(&p, file.p, file.n, whole, 3000, &losses);

	CHECK_EQ(losses, 0);
	p.alignment = HF_ETRACE_ALIGN_ZEROS;
	for (size_t cut = 1; cut < 2000; cut += 3) {
		const size_t count = all(&p, file.p + cut, file.n - cut, have, 3000, &losses);

		CHECK(count >= n - 700);
		for (size_t i = 0; i < count; i++) {
			const struct hf_etrace_message *a = &have[count - 1 - i], *b = &whole[n - 1 - i];

			CHECK_EQ(a->offset + cut, b->offset);
			CHECK_EQ(a->source, b->source);
			CHECK(memcmp(a->payload, b->payload, sizeof a->payload) == 0);
		}
	}
	hf_bytes_free(&file);
}

/* Bare packets aligned by runs of zeros, or by blocks in which they end (chapter 6). */
static void test_alignment(void)
{
	static struct hf_etrace_message msgs[16];
	struct hf_etrace_params p = transport(HF_ETRACE_FRAMING_RAW, 0, 0, 0);
	uint8_t bytes[128] = {0x41, 7, 7, 7};
	uint64_t losses;

	p.alignment = HF_ETRACE_ALIGN_ZEROS;
	memcpy(bytes + 40, "\x42\1\2\x41\3", 5);
	CHECK_EQ(all(&p, bytes, 45, msgs, 16, &losses), 2);
	CHECK_EQ(msgs[0].offset, 40);
	p.alignment = HF_ETRACE_ALIGN_BLOCKS;
	p.block_bytes = 32;
	memset(bytes, 0, sizeof bytes);
	memcpy(bytes, "\x42\1\2\x41\3", 5);
	bytes[31] = 0x41; /* would go on behind the block */
	memcpy(bytes + 32, "\x41\4", 2);
	CHECK_EQ(all(&p, bytes, 64, msgs, 16, &losses), 3);
	CHECK_EQ(losses, 2);
	CHECK_EQ(msgs[2].offset, 32);
}

/* A damaged block costs no other, wherever it ends in what is read at a time. */
static void test_blocks(void)
{
	static const uint32_t sizes[] = {1024, 4096, 8192};
	static struct hf_etrace_message msgs[16];
	static uint8_t bytes[8 * 8192];
	struct hf_etrace_params p = transport(HF_ETRACE_FRAMING_RAW, 0, 0, 0);

	p.alignment = HF_ETRACE_ALIGN_BLOCKS;
	for (size_t i = 0; i < 3; i++)
		for (size_t bad = 0; bad < 8; bad++) {
			uint64_t losses;

			p.block_bytes = sizes[i];
			memset(bytes, 0, sizeof bytes);
			for (size_t block = 0; block < 8; block++)
				memcpy(bytes + block * sizes[i], block == bad ? "\xff\xff" : "\x41\x07", 2);
			CHECK_EQ(all(&p, bytes, 8 * sizes[i], msgs, 16, &losses), 7);
		}
}

/* Values as a description has them, as discovery attributes, and as the two registers of the example. */
static void test_params(void)
{
	struct hf_setup setup = {0};
	struct hf_etrace_params p;
	struct hf_setup_error error;

	CHECK_EQ(hf_etrace_params_read(&setup, 0, &p, &error), 0);
	CHECK_EQ(p.iaddress_width, 32);
	CHECK_EQ(p.privilege_width, 3);
	CHECK_EQ(p.context_width, 1);
	hf_etracet_value(&setup, "version", "2.0");
	CHECK_EQ(hf_etrace_params_read(&setup, 0, &p, &error), 0);
	CHECK_EQ(p.privilege_width, 2);
	CHECK_EQ(p.context_width, 0);
	hf_etracet_value(&setup, "widths", "attributes");
	hf_etracet_value(&setup, "iaddress_width", "63");
	hf_etracet_value(&setup, "iaddress_lsb", "0");
	hf_etracet_value(&setup, "options", "implicit_return, full_address");
	CHECK_EQ(hf_etrace_params_read(&setup, 0, &p, &error), 0);
	CHECK_EQ(p.iaddress_width, 64);
	CHECK_EQ(p.iaddress_lsb, 1);
	CHECK_EQ(p.modes, HF_ETRACE_IMPLICIT_RETURN | HF_ETRACE_FULL_ADDRESS);
	/* bpred_size 7, call_counter_size 5, context_width 31, ecause_width 4, f0s_width 1 */
	hf_etracet_value(&setup, "discovery_info_0", "0x0080020f80507000");
	CHECK_EQ(hf_etrace_params_read(&setup, 0, &p, &error), 0);
	CHECK_EQ(p.bpred_size, 7);
	CHECK_EQ(p.call_counter_size, 5);
	CHECK_EQ(p.context_width, 32);
	CHECK_EQ(p.ecause_width, 5);
	CHECK_EQ(p.f0s_width, 1);
	hf_etracet_value(&setup, "trap_reporting", "no_such_word");
	CHECK_EQ(hf_etrace_params_read(&setup, 0, &p, &error), HF_ERR_SETUP_VALUE);
	for (size_t i = 0; i < setup.value_count; i++) {
		free((char *)setup.values[i].key);
		free((char *)setup.values[i].value);
		free((char *)setup.values[i].file);
	}
	free(setup.values);
}

int main(void)
{
	test_single();
	test_counter();
	test_alignment();
	test_blocks();
	test_params();
	test_samples();
	test_entering();
	return 0;
}
