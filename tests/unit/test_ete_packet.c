/* SPDX-License-Identifier: Apache-2.0 */
/* Packets of an ETE: every header, worked bytes, and that writing is the reverse of reading. */
#include "codecs/ete/errors.h"
#include "codecs/ete/packet.h"
#include "tests/lib/check.h"

static const struct hf_ete_config plain = {.cid_bytes = 4, .vmid_bytes = 4};
static const struct hf_ete_config commopt = {.cid_bytes = 4, .vmid_bytes = 1, .commopt = true};
static const struct hf_ete_config etm = {.cid_bytes = 4, .vmid_bytes = 2, .etm = true};
static const struct hf_ete_config deep = {.cid_bytes = 4, .vmid_bytes = 4, .max_spec = 0x20};

/* Arm ARM D5.3: the headers that no packet has. 07 is ETMv4's. */
static const struct {
	uint8_t from, to;
} reserved[] = {
	{0x05, 0x05}, {0x07, 0x08}, {0x20, 0x2c}, {0x40, 0x6f}, {0x84, 0x84}, {0x87, 0x87}, {0x89, 0x8f}, {0x93, 0x94},
	{0x97, 0x99}, {0x9c, 0x9c}, {0x9f, 0x9f}, {0xa3, 0xa4}, {0xa7, 0xa9}, {0xad, 0xae}, {0xb3, 0xb3}, {0xba, 0xbf},
};

static bool is_reserved(unsigned header)
{
	for (size_t i = 0; i < sizeof reserved / sizeof reserved[0]; i++)
		if (header >= reserved[i].from && header <= reserved[i].to)
			return true;
	return false;
}

static void test_headers(void)
{
	unsigned count = 0;

	for (unsigned h = 1; h < 256; h++) {
		uint8_t bytes[HF_ETE_PACKET_MAX] = {(uint8_t)h};
		struct hf_ete_packet packet;
		int n;

		if (h == 0x06)
			memcpy(bytes, (const uint8_t[]){0x06, 0x05, 0x90}, 3);
		n = hf_ete_packet_get(&plain, bytes, sizeof bytes, &packet);
		CHECK_EQ(n == HF_ERR_ETE_HEADER, is_reserved(h));
		count += n == HF_ERR_ETE_HEADER;
		if (n > 0)
			CHECK(packet.kind != HF_ETE_NONE && packet.kind < HF_ETE_KINDS && (int)packet.size == n);
		CHECK_EQ(packet.header, h);
	}
	CHECK_EQ(count, 94);
	CHECK_EQ(hf_ete_packet_get(&etm, (const uint8_t[]){7}, 1, &(struct hf_ete_packet){0}), 1);
}

static struct hf_ete_packet get(const struct hf_ete_config *config, const char *hex)
{
	uint8_t bytes[64];
	struct hf_ete_packet packet;
	size_t n = 0;

	for (; *hex; hex += hex[2] ? 3 : 2)
		bytes[n++] = (uint8_t)strtoul(hex, NULL, 16);
	for (size_t i = 0; i < n; i++)
		CHECK_EQ(hf_ete_packet_get(config, bytes, i, &packet), 0);
	CHECK_EQ(hf_ete_packet_get(config, bytes, n, &packet), n);
	/* shortest form: it is written so again */
	{
		uint8_t again[64];
		uint8_t *end = hf_ete_packet_put(config, again, &packet);

		CHECK_EQ(end - again, n);
		CHECK(memcmp(again, bytes, n) == 0);
	}
	return packet;
}

static void check_atoms(const char *hex, const char *atoms)
{
	struct hf_ete_packet packet = get(&plain, hex);

	CHECK_EQ(packet.atom_count, strlen(atoms));
	for (unsigned i = 0; i < packet.atom_count; i++)
		CHECK_EQ(packet.atoms >> i & 1, atoms[i] == 'E');
}

static void test_atoms(void)
{
	check_atoms("dc", "NEEE");
	check_atoms("df", "ENEN");
	check_atoms("dd", "NNNN");
	check_atoms("de", "NENE");
	check_atoms("ff", "EEE");
	check_atoms("f9", "ENN");
	check_atoms("c3", "EEEEEEE");
	check_atoms("d4", "EEEEEEEEEEEEEEEEEEEEEEEE");
	check_atoms("e0", "EEEN");
	check_atoms("f4", "EEEEEEEEEEEEEEEEEEEEEEEN");
	check_atoms("d5", "NNNNN");
	check_atoms("d6", "NENEN");
	check_atoms("d7", "ENENE");
	check_atoms("f5", "NEEEE");
	check_atoms("d9", "EN");
	check_atoms("f6", "N");
	check_atoms("f7", "E");
	check_atoms("31", "E");
	check_atoms("36", "EE");
	check_atoms("33", "N");
	check_atoms("3b", "E");
	CHECK_EQ(get(&plain, "3b").cancel, 3);
	CHECK_EQ(get(&plain, "36").cancel, 1);
	CHECK_EQ(hf_ete_atom_header(0x2, 5), 0);
	CHECK_EQ(hf_ete_atom_header(0, 6), 0);
}

/* The address that a packet gives, after those before it. */
static uint64_t resolve(struct hf_ete_history *history, const char *hex, struct hf_ete_meaning *meaning)
{
	const struct hf_ete_packet packet = get(&plain, hex);

	hf_ete_history_apply(history, &packet, meaning);
	return meaning->address;
}

static void test_addresses(void)
{
	struct hf_ete_history h = {.threshold = 0};
	struct hf_ete_meaning m;

	CHECK_EQ(resolve(&h, "82 32 08 0a 00 31", &m), 0x0a10c8);
	CHECK_EQ(m.context.byte, 0x31);
	CHECK_EQ(resolve(&h, "9a 75 40 03 00", &m), 0x0381d4);
	CHECK_EQ(resolve(&h, "95 b7 02", &m), 0x0204dc);
	CHECK_EQ(resolve(&h, "95 b7 82", &m), 0x304dc);
	CHECK_EQ(resolve(&h, "95 5b", &m), 0x3056c);
	CHECK_EQ(resolve(&h, "b6 1f 03 01 00", &m), 0x1067c);
	CHECK_EQ(resolve(&h, "06 05 9a 6e 37 02 00", &m), 0x26fb8);
	CHECK_EQ(resolve(&h, "92", &m), 0x3056c);
	CHECK_EQ(resolve(&h, "91", &m), 0x26fb8);
	CHECK_EQ(resolve(&h, "90", &m), 0x26fb8);
	CHECK_EQ(resolve(&h, "96 ff ff", &m), 0x2fffe);
	CHECK_EQ(m.is, 1);
	CHECK_EQ(resolve(&h, "9b 7f ff 00 80", &m), 0x8000fffe);
	CHECK_EQ(resolve(&h, "9d 00 35 09 00 c0 ff ff ff", &m), 0xffffffc000096a00);
	CHECK_EQ(resolve(&h, "9a 00 00 00 00", &m), 0xffffffc000000000); /* the upper half stays */
	CHECK_EQ(resolve(&h, "06 01 70", &m), 0);
	CHECK_EQ(resolve(&h, "a1 03", &m), 0xffffffc000000000);
	CHECK_EQ(resolve(&h, "aa 3f 3f 06 00 83 01", &m), 0xffffffc000067efc);
	CHECK_EQ(get(&plain, "aa 3f 3f 06 00 83 01").count, 131);
}

static void test_contexts(void)
{
	struct hf_ete_history h = {.threshold = 0};
	struct hf_ete_meaning m;
	struct hf_ete_packet p = get(&plain, "82 6e 08 0a 00 f1 00 00 00 00 00 43 00 00");

	CHECK_EQ(p.context.cid, 0x4300);
	hf_ete_history_apply(&h, &p, &m);
	p = get(&plain, "81 30");
	hf_ete_history_apply(&h, &p, &m);
	CHECK_EQ(m.context.cid, 0x4300); /* keeps its value */
	CHECK_EQ(m.context.byte & HF_ETE_CONTEXT_EL, 0);
	p = get(&commopt, "85 00 35 09 00 c0 ff ff ff f1 07 78 56 34 12");
	CHECK_EQ(p.context.vmid, 7);
	CHECK_EQ(p.context.cid, 0x12345678);
	CHECK_EQ(get(&plain, "80").flags, 0);
}

static void test_numbers(void)
{
	struct hf_ete_history h = {.timestamp = UINT64_C(0x123456789abcdef0)};
	struct hf_ete_meaning m;
	struct hf_ete_packet p = get(&plain, "02 d7 df 01");

	hf_ete_history_apply(&h, &p, &m);
	CHECK_EQ(m.timestamp, (UINT64_C(0x123456789abcdef0) & ~UINT64_C(0x1fffff)) | 0x6fd7);
	p = get(&plain, "03 ff ff ff ff ff ff ff ff 80 83 05");
	CHECK_EQ(p.value, 0x80ffffffffffffff);
	CHECK_EQ(p.count, 0x283);
	p = get(&commopt, "0d f4");
	CHECK_EQ(p.count, 4);
	CHECK_EQ(p.flags & HF_ETE_HAS_COMMIT, 0);
	p = get(&plain, "0e 03 05");
	CHECK_EQ(p.commit, 3);
	CHECK_EQ(p.count, 5);
	p = get(&plain, "0f 01");
	CHECK_EQ(p.commit, 1);
	CHECK_EQ(p.flags & HF_ETE_HAS_COUNT, 0);
	CHECK_EQ(get(&commopt, "0f").flags & HF_ETE_HAS_COUNT, 0);
	CHECK_EQ(get(&plain, "0c 96").commit, 10);
	CHECK_EQ(get(&deep, "0d 36").commit, 0x20 + 3 - 15);
	CHECK_EQ(get(&plain, "1f").commit, 4);
	CHECK_EQ(get(&plain, "2d ff ff ff ff 0f").commit, UINT32_MAX);
	p = get(&plain, "01 0d 01 02 16");
	CHECK_EQ(p.info, 1);
	CHECK_EQ(p.commit, 2);
	CHECK_EQ(p.count, 0x16);
	get(&plain, "01 00");
	CHECK_EQ(get(&plain, "01 01 10").info, 0x10); /* reserved bits are seen */
	CHECK_EQ(get(&plain, "09 01 ff ff 0f 00 00 00 00 00").value, 0xfffff);
	CHECK_EQ(get(&plain, "75").info, 5);
	CHECK_EQ(get(&plain, "06 31 70").info, HF_ETE_EXC_TRANSACTION_FAILURE);
	CHECK_EQ(get(&plain, "06 40 70").flags, HF_ETE_HAS_TARGET);
}

static void check_bad(const struct hf_ete_config *config, int err, const char *hex)
{
	uint8_t bytes[32] = {0};
	struct hf_ete_packet packet;
	size_t n = 0;

	for (; *hex; hex += hex[2] ? 3 : 2)
		bytes[n++] = (uint8_t)strtoul(hex, NULL, 16);
	CHECK_EQ(hf_ete_packet_get(config, bytes, n, &packet), (uint64_t)err);
}

static void test_bad(void)
{
	check_bad(&plain, HF_ERR_ETE_HEADER, "00 01");
	check_bad(&plain, HF_ERR_ETE_ASYNC, "00 00 00 00 00 00 00 00 00 00 80");
	check_bad(&plain, HF_ERR_ETE_ASYNC, "00 00 00 00 00 00 00 00 00 00 00 81");
	check_bad(&plain, HF_ERR_ETE_FIELD, "2d ff ff ff ff 1f"); /* 33 bits */
	check_bad(&plain, HF_ERR_ETE_FIELD, "01 02 00");	  /* KEY is ETMv4's */
	check_bad(&plain, HF_ERR_ETE_FIELD, "06 04 90");	  /* E1E0 00 */
	check_bad(&plain, HF_ERR_ETE_FIELD, "06 45 90");	  /* 11 */
	check_bad(&plain, HF_ERR_ETE_FIELD, "06 0b 90");	  /* type 5 */
	check_bad(&plain, HF_ERR_ETE_FIELD, "06 05 70");	  /* a call has an address */
	check_bad(&plain, HF_ERR_ETE_FIELD, "06 05 f7");
	check_bad(&plain, HF_ERR_ETE_FIELD, "81 04");
	check_bad(&plain, HF_ERR_ETE_FIELD, "9a 80 00 00 00");
	check_bad(&plain, HF_ERR_ETE_FIELD, "09 04 00 00 00 00 00 00 00 00");
	check_bad(&plain, HF_ERR_ETE_FIELD, "0d 06"); /* 6 - 15 elements */
	check_bad(&commopt, HF_ERR_ETE_FIELD, "0c 96");
	check_bad(&commopt, HF_ERR_ETE_FIELD, "14");
	CHECK_EQ(get(&plain, "00 00 00 00 00 00 00 00 00 00 00 80").kind, HF_ETE_ASYNC);
	CHECK_EQ(get(&plain, "00 03").kind, HF_ETE_DISCARD);
	CHECK_EQ(get(&plain, "00 05").kind, HF_ETE_OVERFLOW);
}

/* What can be read can be written, and is the same then. */
static void test_round_trip(void)
{
	const struct hf_ete_config *configs[] = {&plain, &commopt, &etm, &deep};
	uint32_t seed = 1;
	unsigned good = 0;

	for (unsigned round = 0; round < 400000; round++) {
		const struct hf_ete_config *config = configs[round & 3];
		uint8_t bytes[24], again[24] = {0};
		struct hf_ete_packet a, b;
		uint8_t *end;

		for (unsigned i = 0; i < sizeof bytes; i++) {
			seed = seed * 1664525 + 1013904223;
			bytes[i] = (uint8_t)(seed >> 24);
		}
		bytes[0] = (uint8_t)(round >> 2);
		if (hf_ete_packet_get(config, bytes, sizeof bytes, &a) <= 0)
			continue;
		end = hf_ete_packet_put(config, again, &a);
		CHECK(end - again <= HF_ETE_PACKET_MAX && (uint32_t)(end - again) <= a.size);
		CHECK_EQ(hf_ete_packet_get(config, again, (size_t)(end - again), &b), end - again);
		a.size = b.size; /* numbers may have been longer than they must be */
		if (a.kind == HF_ETE_CYCLE_COUNT_F2) /* a small commit has two forms */
			a.header = b.header;
		CHECK(memcmp(&a, &b, sizeof a) == 0);
		good++;
	}
	CHECK(good > 150000);
}

int main(void)
{
	test_headers();
	test_atoms();
	test_addresses();
	test_contexts();
	test_numbers();
	test_bad();
	test_round_trip();
	return 0;
}
