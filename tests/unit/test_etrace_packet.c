/* SPDX-License-Identifier: Apache-2.0 */
/* E-Trace packets: the worked payloads of the specifications and of public encoders, both ways. */
#include "codecs/etrace/errors.h"
#include "codecs/etrace/packet.h"
#include "tests/lib/check.h"

struct sample {
	const char *hex;
	uint8_t version, lsb, f0s, cache, stack; /* return_stack_size: irdepth has a bit more */
	uint32_t modes;
	struct hf_etrace_packet pkt;
};

#define TAIL(a) .has_address = true, .address = (uint64_t)(a)
#define V2 HF_ETRACE_2_0

static const struct sample samples[] = {
	{.hex = "1f", .lsb = 1, .pkt = {.format = 3, .subformat = 3, .enable = true}},
	{.hex = "1f", .version = V2, .lsb = 1, .pkt = {.format = 3, .subformat = 3, .enable = true}},
	{.hex = "73000000000004", .lsb = 1, .pkt = {.format = 3, .branch = true, .privilege = 3, TAIL(0x800)}},
	{.hex = "82e0ffff00", .lsb = 1, .pkt = {.format = 2, TAIL(0x7ffff040 >> 1)}},
	{.hex = "2d0042fe", .lsb = 1, .pkt = {.format = 1, .branches = 11, .branch_map = 0x400, TAIL(-7)}},
	{.hex = "01", .lsb = 1, .pkt = {.format = 1}},
	{.hex = "f2ffffffffffffff03", .lsb = 1, .pkt = {.format = 2, .updiscon = true, TAIL(-4)}},
	{.hex = "77000000803336000010", .version = V2, .lsb = 1, .pkt = {.format = 3, .subformat = 1, .branch = true,
		.privilege = 3, .ecause = 7, .interrupt = true, .thaddr = true, TAIL(0x800001b0 >> 1)}},
	{.hex = "7700000080131b000008", .lsb = 1, .pkt = {.format = 3, .subformat = 1, .branch = true,
		.privilege = 3, .ecause = 7, .interrupt = true, .thaddr = true, TAIL(0x800001b0 >> 1)}},
	{.hex = "77000000004144000010", .version = V2, .lsb = 1, .pkt = {.format = 3, .subformat = 1, .branch = true,
		.privilege = 3, .ecause = 2, TAIL(0x80000222 >> 1)}},
	{.hex = "7700000000011b0000080000002022000008", .lsb = 1, .pkt = {.format = 3, .subformat = 1, .branch = true,
		.privilege = 3, .ecause = 2, .thaddr = true, TAIL(0x800001b0 >> 1), .tval = 0x80000222}},
	{.hex = "58", .lsb = 1, .f0s = 1, .pkt = {.branch_count = 42 - 31}},
	{.hex = "b8190000b004", .lsb = 1, .f0s = 1, .stack = 8,
	 .pkt = {.branch_count = 854 - 31, .branch_fmt = 2, TAIL(0x4a >> 1)}},
	{.hex = "940000004c", .lsb = 1, .modes = HF_ETRACE_BRANCH_PREDICTION,
	 .pkt = {.branch_count = 68 - 31, .branch_fmt = 3, TAIL(8 >> 1)}},
	{.hex = "44", .lsb = 1, .f0s = 1, .cache = 7, .pkt = {.subformat = 1, .index = 8}},
	{.hex = "0200000000000000fe", .lsb = 1, .stack = 8, .pkt = {.format = 2, .notify = true, TAIL(0)}},
	{.hex = "5af9ffffffffffff17", .lsb = 1, .stack = 8,
	 .pkt = {.format = 2, .irreport = true, .irdepth = 1, TAIL(-852 / 2)}},
	{.hex = "3204000002", .version = V2, .pkt = {.format = 2, TAIL(0x8000010c)}},
	{.hex = "bdaaaa68000020", .version = V2,
	 .pkt = {.format = 1, .branches = 15, .branch_map = 0x5555, TAIL(0x800001a2)}},
	{.hex = "77000000008188000020", .version = V2, .pkt = {.format = 3, .subformat = 1, .branch = true,
		.privilege = 3, .ecause = 2, TAIL(0x80000222)}},
	{.hex = "7700000080336c000020", .version = V2, .pkt = {.format = 3, .subformat = 1, .branch = true,
		.privilege = 3, .ecause = 7, .interrupt = true, .thaddr = true, TAIL(0x800001b0)}},
	{.hex = "7300000000d8000040", .version = V2,
	 .pkt = {.format = 3, .branch = true, .privilege = 3, TAIL(0x800001b0)}},
};

static size_t from_hex(const char *hex, uint8_t *bytes)
{
	size_t n = strlen(hex) / 2;

	for (size_t i = 0; i < n; i++) {
		const char digits[3] = {hex[2 * i], hex[2 * i + 1], 0};

		bytes[i] = (uint8_t)strtoul(digits, NULL, 16);
	}
	return n;
}

static struct hf_etrace_params params_of(const struct sample *s)
{
	struct hf_etrace_params p;

	hf_etrace_params_default(&p, 64);
	p.version = s->version;
	p.iaddress_lsb = s->lsb;
	p.privilege_width = 2;
	p.context_width = 32;
	p.ecause_width = 5;
	p.f0s_width = s->f0s;
	p.cache_size = s->cache;
	p.return_stack_size = s->stack;
	return p;
}

static void check_same(const struct hf_etrace_packet *a, const struct hf_etrace_packet *b)
{
	CHECK_EQ(a->format, b->format);
	CHECK_EQ(a->subformat, b->subformat);
	CHECK_EQ(a->has_address, b->has_address);
	CHECK_EQ(a->address, b->address);
	CHECK_EQ(a->notify, b->notify);
	CHECK_EQ(a->updiscon, b->updiscon);
	CHECK_EQ(a->irreport, b->irreport);
	if (a->irreport)
		CHECK_EQ(a->irdepth, b->irdepth);
	CHECK_EQ(a->branches, b->branches);
	CHECK_EQ(a->branch_map, b->branch_map);
	CHECK_EQ(a->branch_count, b->branch_count);
	CHECK_EQ(a->branch_fmt, b->branch_fmt);
	CHECK_EQ(a->index, b->index);
	CHECK_EQ(a->branch, b->branch);
	CHECK_EQ(a->privilege, b->privilege);
	CHECK_EQ(a->time, b->time);
	CHECK_EQ(a->context, b->context);
	CHECK_EQ(a->ecause, b->ecause);
	CHECK_EQ(a->interrupt, b->interrupt);
	CHECK_EQ(a->thaddr, b->thaddr);
	CHECK_EQ(a->tval, b->tval);
	CHECK_EQ(a->enable, b->enable);
	CHECK_EQ(a->encoder_mode, b->encoder_mode);
	CHECK_EQ(a->qual_status, b->qual_status);
	CHECK_EQ(a->options, b->options);
	CHECK_EQ(a->denable, b->denable);
	CHECK_EQ(a->dloss, b->dloss);
	CHECK_EQ(a->doptions, b->doptions);
}

/* Support packets of units with wider fields, in every layout that has them. */
static void test_wide_support(void)
{
	struct hf_etrace_packet pkt = {.format = 3, .subformat = HF_ETRACE_SUPPORT, .enable = true, .qual_status = 2, .denable = true},
				back;
	uint8_t bytes[HF_ETRACE_PAYLOAD_MAX];

	for (uint8_t support = HF_ETRACE_SUPPORT_REFERENCE; support <= HF_ETRACE_SUPPORT_STANDARD; support++)
		for (uint8_t width = 0; width <= 32; width++) {
			struct hf_etrace_params p;
			const uint32_t all = width ? UINT32_MAX >> (32 - width) : 0;
			size_t n;

			hf_etrace_params_default(&p, 64);
			p.version = HF_ETRACE_2_0;
			p.support = support;
			p.encoder_mode_width = p.ioptions_width = p.doptions_width = width;
			pkt.denable = support == HF_ETRACE_SUPPORT_REFERENCE || support == HF_ETRACE_SUPPORT_STANDARD;
			pkt.encoder_mode = all & 0xaaaaafff;
			pkt.options = all & 0x88664422;
			pkt.doptions = all & 0x12345679;
			n = hf_etrace_packet_write(&p, 0, &pkt, bytes);
			CHECK(n);
			CHECK_EQ(hf_etrace_packet_read(&p, 0, bytes, n, &back), 0);
			check_same(&pkt, &back);
		}
}

static void test_samples(void)
{
	for (size_t i = 0; i < sizeof samples / sizeof samples[0]; i++) {
		const struct sample *s = &samples[i];
		const struct hf_etrace_params p = params_of(s);
		uint8_t bytes[HF_ETRACE_PAYLOAD_MAX], written[HF_ETRACE_PAYLOAD_MAX];
		size_t n = from_hex(s->hex, bytes);
		struct hf_etrace_packet pkt;

		CHECK_EQ(hf_etrace_packet_read(&p, s->modes, bytes, n, &pkt), 0);
		CHECK_EQ(pkt.length, n);
		check_same(&pkt, &s->pkt);
		pkt = s->pkt;
		CHECK_EQ(hf_etrace_packet_write(&p, s->modes, &pkt, written), n);
		CHECK(memcmp(bytes, written, n) == 0);
	}
}

/* Any compression, and any number of sign bytes behind a payload, is the same packet. */
static void test_lengths(void)
{
	for (size_t i = 0; i < sizeof samples / sizeof samples[0]; i++) {
		const struct sample *s = &samples[i];
		struct hf_etrace_params p = params_of(s);
		uint8_t bytes[HF_ETRACE_PAYLOAD_MAX];
		struct hf_etrace_packet pkt = s->pkt, again;
		size_t n;

		for (p.compression = 0; p.compression <= HF_ETRACE_COMPRESS_ADDRESS; p.compression++) {
			n = hf_etrace_packet_write(&p, s->modes, &pkt, bytes);
			CHECK(n > 0);
			CHECK(n <= (hf_etrace_packet_bits(&p, s->modes, &pkt) + 7) / 8);
			CHECK_EQ(hf_etrace_packet_read(&p, s->modes, bytes, n, &again), 0);
			check_same(&again, &s->pkt);
		}
	}
}

static const struct hf_etrace_packet supports[] = {
	{.format = 3, .subformat = 3, .enable = true, .qual_status = 1, .options = 0x15},
	{.format = 3, .subformat = 3, .qual_status = 3, .options = 0x1f},
};

/* The four layouts of support packets, and the modes they mean. */
static void test_support(void)
{
	const uint32_t all = HF_ETRACE_IMPLICIT_RETURN | HF_ETRACE_IMPLICIT_EXCEPTION | HF_ETRACE_FULL_ADDRESS |
			     HF_ETRACE_JUMP_TARGET_CACHE | HF_ETRACE_BRANCH_PREDICTION;
	struct hf_etrace_params p;
	uint8_t bytes[HF_ETRACE_PAYLOAD_MAX];

	hf_etrace_params_default(&p, 64);
	for (size_t i = 0; i < sizeof supports / sizeof supports[0]; i++) {
		struct hf_etrace_packet pkt = supports[i], again;
		size_t n = hf_etrace_packet_write(&p, 0, &pkt, bytes);

		CHECK_EQ(hf_etrace_packet_read(&p, 0, bytes, n, &again), 0);
		check_same(&again, &pkt);
	}
	for (p.support = 0; p.support <= HF_ETRACE_SUPPORT_STANDARD; p.support++)
		for (uint32_t modes = 0; modes <= all; modes++) {
			struct hf_etrace_packet pkt = {.format = 3, .subformat = 3, .enable = true, .qual_status = 2}, again;
			size_t n;

			p.version = p.support == HF_ETRACE_SUPPORT_STANDARD ? HF_ETRACE_2_1 : HF_ETRACE_2_0;
			p.modes = p.support == HF_ETRACE_SUPPORT_ESP32 ? modes : HF_ETRACE_SIJUMP & modes;
			hf_etrace_support_options(&p, modes, &pkt);
			n = hf_etrace_packet_write(&p, 0, &pkt, bytes);
			CHECK(n > 0);
			CHECK_EQ(hf_etrace_packet_read(&p, 0, bytes, n, &again), 0);
			check_same(&again, &pkt);
			CHECK_EQ(hf_etrace_support_modes(&p, &again), modes);
		}
}

/* Version 2.1 repeats the sizes of tables. */
static void test_standard_sizes(void)
{
	struct hf_etrace_params p, q;
	struct hf_etrace_packet pkt = {.format = 3, .subformat = 3};

	hf_etrace_params_default(&p, 64);
	p.version = HF_ETRACE_2_1;
	p.support = HF_ETRACE_SUPPORT_STANDARD;
	q = p;
	p.time_width = 48;
	p.f0s_width = 2;
	p.return_stack_size = 7;
	p.call_counter_size = 15;
	p.bpred_size = 6;
	p.cache_size = 5;
	hf_etrace_support_options(&p, HF_ETRACE_MMACAS | HF_ETRACE_FULL_DATA, &pkt);
	CHECK_EQ(hf_etrace_support_modes(&p, &pkt), HF_ETRACE_MMACAS | HF_ETRACE_FULL_DATA);
	CHECK_EQ(hf_etrace_packet_bits(&p, 0, &pkt), 42);
	hf_etrace_support_params(&q, &pkt);
	CHECK(memcmp(&p, &q, sizeof p) == 0);
}

/* PULP compresses the address alone, to 8 k + 1 bits, so the payload's length is needed to find what follows it. */
static void test_pulp(void)
{
	struct hf_etrace_params p;
	uint8_t bytes[HF_ETRACE_PAYLOAD_MAX];

	hf_etrace_params_default(&p, 64);
	p.version = HF_ETRACE_2_0;
	p.support = HF_ETRACE_SUPPORT_PULP;
	p.iaddress_lsb = 0;
	for (unsigned branches = 0; branches < 32; branches++)
		for (unsigned shift = 0; shift < 63; shift++) {
			struct hf_etrace_packet pkt = {.format = branches ? 1 : 2, .branches = (uint8_t)branches,
						       .has_address = true, .address = 1ull << shift,
						       .updiscon = shift & 1}, again;
			size_t n = hf_etrace_packet_write(&p, 0, &pkt, bytes);

			CHECK(n > 0);
			CHECK_EQ(hf_etrace_packet_read(&p, 0, bytes, n, &again), 0);
			check_same(&again, &pkt);
		}
}

static void test_refused(void)
{
	struct hf_etrace_packet pkt;
	struct hf_etrace_params p;

	hf_etrace_params_default(&p, 32);
	CHECK_EQ(hf_etrace_packet_read(&p, 0, (const uint8_t *)"", 0, &pkt), HF_ERR_ETRACE_PACKET);
	/* format 0 without an extension, with two and no subformat, and a reserved branch_fmt */
	CHECK_EQ(hf_etrace_packet_read(&p, 0, (const uint8_t *)"\x58", 1, &pkt), HF_ERR_ETRACE_PACKET);
	CHECK_EQ(hf_etrace_packet_read(&p, HF_ETRACE_BRANCH_PREDICTION | HF_ETRACE_JUMP_TARGET_CACHE,
				       (const uint8_t *)"\x58", 1, &pkt), HF_ERR_ETRACE_PACKET);
	CHECK_EQ(hf_etrace_packet_read(&p, HF_ETRACE_BRANCH_PREDICTION, (const uint8_t *)"\x58\0\0\0\4", 5, &pkt),
		 HF_ERR_ETRACE_PACKET);
	/* a subformat of format 0 that is neither a count nor an index */
	p.f0s_width = 2;
	CHECK_EQ(hf_etrace_packet_read(&p, HF_ETRACE_BRANCH_PREDICTION, (const uint8_t *)"\0", 1, &pkt), 0);
	CHECK_EQ(hf_etrace_packet_read(&p, HF_ETRACE_BRANCH_PREDICTION, (const uint8_t *)"\x08", 1, &pkt),
		 HF_ERR_ETRACE_PACKET);
	CHECK_EQ(hf_etrace_packet_read(&p, HF_ETRACE_BRANCH_PREDICTION, (const uint8_t *)"\x0c", 1, &pkt),
		 HF_ERR_ETRACE_PACKET);
}

int main(void)
{
	test_samples();
	test_wide_support();
	test_lengths();
	test_support();
	test_standard_sizes();
	test_pulp();
	test_refused();
	return 0;
}
