/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Data trace packets: the corpus' streams give exactly the accesses that were made, and are what comes out when these are
 * written; what it lacks is made here, in every layout and compression.
 */
#include "codecs/etrace/data.h"
#include "codecs/etrace/framing.h"
#include "tests/lib/etracetest.h"

struct access {
	unsigned type, size; /* 0 load, 1 store, 4 to 6 CSR RW RS RC */
	uint64_t address, data, operand;
};

/* The last 16 digits are data, those before them the operand. */
static void split_digits(const char *digits, struct access *a)
{
	char high[32] = "";
	const size_t n = strcspn(digits, "\r\n"), low = n > 16 ? n - 16 : 0;

	CHECK(low < sizeof high);
	memcpy(high, digits, low);
	a->operand = strtoull(high, NULL, 16);
	a->data = strtoull(digits + low, NULL, 16);
}

static size_t load_accesses(const char *program, struct access **ret)
{
	char name[256];
	struct hf_walk_bytes text;
	size_t n = 0, lines = 0;

	snprintf(name, sizeof name, "etrace/%s/accesses.csv", program);
	text = hf_stft_text(name);
	for (const uint8_t *p = text.p; *p; p++)
		lines += *p == '\n';
	*ret = calloc(lines + 1, sizeof **ret);
	CHECK(*ret);
	for (char *p = strchr((char *)text.p, '\n'); p && p[1]; p = strchr(p + 1, '\n')) {
		struct access *a = &(*ret)[n++];
		int at = 0;

		CHECK(sscanf(p + 1, "1,%u,%lx,%u,%n", &a->type, &a->address, &a->size, &at) == 3 && at);
		split_digits(p + 1 + at, a);
		a->size -= a->type >= 4;
	}
	hf_bytes_free(&text);
	return n;
}

static uint64_t low(uint64_t v, unsigned size)
{
	return size >= 3 ? v : v & ((UINT64_C(1) << (8 << size)) - 1);
}

static void check_access(const struct hf_etrace_access *a, const struct access *want)
{
	const unsigned kinds[] = {HF_ETRACE_LOAD, HF_ETRACE_STORE, 0, 0, HF_ETRACE_CSR, HF_ETRACE_CSR, HF_ETRACE_CSR};

	CHECK_EQ(a->kind, kinds[want->type]);
	CHECK_EQ(a->size, want->size);
	if (a->kind == HF_ETRACE_CSR)
		CHECK_EQ(a->subtype, want->type - 4);
	if (a->flags & HF_ETRACE_HAS_ADDRESS)
		CHECK_EQ(a->address, want->address);
	if (a->flags & HF_ETRACE_HAS_DATA)
		CHECK_EQ(a->data, low(want->data, want->size));
	if (a->flags & HF_ETRACE_HAS_OPERAND)
		CHECK_EQ(a->operand, want->operand);
}

static void check_stream(const char *program, const char *config, bool no_address, bool no_data)
{
	struct hf_etrace_params params;
	struct hf_etrace_data_state state = {0};
	struct access *want;
	char name[256];
	struct hf_walk_bytes file;
	size_t n = load_accesses(program, &want), i = 0, seen = 0;
	uint32_t modes = 0;

	hf_etrace_params_default(&params, 64);
	params.version = HF_ETRACE_2_0;
	params.data_reference = true;
	snprintf(name, sizeof name, "etrace/%s/%s/packets.te_data_raw", program, config);
	file = hf_stft_load(name);
	while (i < file.n) {
		struct hf_etrace_message msg;
		struct hf_etrace_packet pkt;
		struct hf_etrace_access a;
		int size = hf_etrace_message_read(&params, HF_ETRACE_FRAMING_RAW, file.p + i, file.n - i, &msg);

		CHECK(size > 0);
		i += (size_t)size;
		if (msg.kind == HF_ETRACE_MESSAGE_INSTRUCTION) {
			CHECK_EQ(hf_etrace_packet_read(&params, modes, msg.payload, msg.length, &pkt), 0);
			CHECK(pkt.format == 3 && pkt.subformat == HF_ETRACE_SUPPORT);
			modes = hf_etrace_support_modes(&params, &pkt);
			CHECK_EQ(!(modes & HF_ETRACE_NO_ADDRESS), !no_address);
			CHECK_EQ(!(modes & HF_ETRACE_NO_DATA), !no_data);
			continue;
		}
		CHECK_EQ(hf_etrace_data_read(&params, modes, &state, msg.payload, msg.length, &a), 0);
		CHECK(seen < n);
		check_access(&a, &want[seen++]);
	}
	CHECK_EQ(seen, n);
	free(want);
	hf_bytes_free(&file);
}

/* ---- writing the same ---- */

static struct hf_etrace_access access_of(const struct access *from)
{
	static const uint8_t kinds[] = {HF_ETRACE_LOAD, HF_ETRACE_STORE, 0, 0, HF_ETRACE_CSR, HF_ETRACE_CSR, HF_ETRACE_CSR};

	return (struct hf_etrace_access){
		.kind = kinds[from->type],
		.subtype = from->type >= 4 ? (uint8_t)(from->type - 4) : 0,
		.size = (uint8_t)from->size,
		.address = from->address,
		.data = low(from->data, from->size),
		.operand = from->operand,
		.flags = HF_ETRACE_HAS_ADDRESS | HF_ETRACE_HAS_DATA | HF_ETRACE_HAS_OPERAND,
	};
}

static size_t put_support(const struct hf_etrace_params *params, uint32_t modes, const struct hf_etrace_packet *like,
			  uint8_t *to)
{
	struct hf_etrace_packet pkt = {.format = 3, .subformat = HF_ETRACE_SUPPORT, .enable = like->enable,
				       .denable = like->denable, .qual_status = like->qual_status};
	size_t n;

	hf_etrace_support_options(params, modes, &pkt);
	n = hf_etrace_packet_write(params, modes, &pkt, to + 1);
	*to = (uint8_t)(n | 2 << 5);
	return 1 + n;
}

/* The whole file, support packets and all, from the accesses; bytes of it that are payloads of accesses. */
static void write_stream(const char *program, const char *config, uint32_t modes)
{
	struct hf_etrace_params params;
	struct hf_etrace_data_state state = {.address_known = 0xff, .data_known = 0xff}; /* of all sizes 0 */
	struct access *list;
	char name[256];
	struct hf_walk_bytes file;
	size_t n = load_accesses(program, &list), at = 0, payloads = 0;
	uint8_t made[1 + HF_ETRACE_PAYLOAD_MAX];

	hf_etrace_params_default(&params, 64);
	params.version = HF_ETRACE_2_0;
	params.data_reference = true;
	snprintf(name, sizeof name, "etrace/%s/%s/packets.te_data_raw", program, config);
	file = hf_stft_load(name);
	for (size_t i = 0; at < file.n;) {
		const size_t size = 1u + (file.p[at] & 31);
		size_t got;

		if (file.p[at] >> 5 == 2) {
			struct hf_etrace_packet pkt;

			CHECK_EQ(hf_etrace_packet_read(&params, modes, file.p + at + 1, size - 1, &pkt), 0);
			got = put_support(&params, modes, &pkt, made);
		} else {
			struct hf_etrace_access a;

			CHECK(i < n);
			a = access_of(&list[i++]);
			got = 1 + hf_etrace_data_write(&params, modes, HF_ETRACE_DATA_BEST, &state, &a, made + 1);
			*made = (uint8_t)((got - 1) | 3 << 5);
			payloads += got - 1;
		}
		if (got != size || memcmp(made, file.p + at, size) != 0) {
			fprintf(stderr, "%s: packet at %zu is another: %02x %02x %02x %02x\n", name, at, made[0], made[1], made[2], made[3]);
			exit(1);
		}
		at += size;
	}
	printf("%s/%s: byte for byte, %.1f bits an access\n", program, config, 8.0 * (double)payloads / (double)n);
	free(list);
	hf_bytes_free(&file);
}

/* What the specification's own reading needs for the same accesses. */
static void measure(const char *program, uint32_t modes)
{
	static const char *const names[] = {"best", "none", "xor", "difference"};
	struct access *list;
	const size_t n = load_accesses(program, &list);
	struct hf_etrace_params params;
	uint8_t payload[HF_ETRACE_PAYLOAD_MAX];

	hf_etrace_params_default(&params, 64);
	params.version = HF_ETRACE_2_0;
	for (unsigned compress = 0; compress < 4; compress++) {
		struct hf_etrace_data_state state = {0};
		size_t bytes = 0;

		for (size_t i = 0; i < n; i++) {
			const struct hf_etrace_access a = access_of(&list[i]);

			bytes += hf_etrace_data_write(&params, modes, compress, &state, &a, payload);
		}
		printf("%s%s, %s: %.1f bits an access\n", program, modes & HF_ETRACE_NO_ADDRESS ? ", data only" :
		       modes & HF_ETRACE_NO_DATA ? ", addresses only" : "", names[compress],
		       8.0 * (double)bytes / (double)n);
	}
	free(list);
}

/* ---- any access ---- */

static uint64_t seed = 88172645463325252;

static uint64_t roll(void)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return seed;
}

static uint64_t below(uint64_t n)
{
	return (roll() >> 8) % n;
}

static struct hf_etrace_access any_access(const struct hf_etrace_params *p)
{
	struct hf_etrace_access a = {
		.kind = (uint8_t)below(HF_ETRACE_ATOMIC_DATA + 1),
		.size = (uint8_t)below(4),
		.flags = HF_ETRACE_HAS_ADDRESS | HF_ETRACE_HAS_DATA | HF_ETRACE_HAS_OPERAND,
	};
	const uint64_t mask = p->iaddress_width >= 64 ? UINT64_MAX : (UINT64_C(1) << p->iaddress_width) - 1;

	a.address = (below(4) ? 0x80000000 + below(4096) : roll()) & mask;
	if (a.kind == HF_ETRACE_ATOMIC || below(4))
		a.address &= ~UINT64_C(0) << a.size;
	if (a.kind <= HF_ETRACE_STORE && (a.address & ((1u << a.size) - 1)))
		a.flags |= HF_ETRACE_UNALIGNED;
	a.data = low(roll() >> below(64), a.size);
	a.operand = low(roll() >> below(64), a.size);
	a.subtype = (uint8_t)(a.kind == HF_ETRACE_ATOMIC ? below(9) : a.kind == HF_ETRACE_CSR ? below(3) : 0);
	if (p->lrid_width && a.kind != HF_ETRACE_STORE && a.kind != HF_ETRACE_CSR)
		a.id = (uint16_t)below(1u << p->lrid_width);
	if (a.kind == HF_ETRACE_CSR) {
		a.address = below(4096);
		a.size = p->data_width > 32 ? 3 : 2;
		a.data = low(a.data, a.size);
		a.operand = low(a.operand, a.size);
	}
	if (a.kind >= HF_ETRACE_LOAD_DATA && below(8) == 0)
		a.flags |= HF_ETRACE_FAILED_ACCESS;
	return a;
}

static void check_same(const struct hf_etrace_access *a, const struct hf_etrace_access *b)
{
	CHECK_EQ(b->kind, a->kind);
	if (!(b->kind == HF_ETRACE_ATOMIC_DATA && (b->flags & HF_ETRACE_FAILED_ACCESS)))
		CHECK_EQ(b->size, a->size);
	CHECK_EQ(b->subtype, a->subtype);
	CHECK_EQ(b->id, a->id);
	CHECK_EQ(b->flags & HF_ETRACE_UNALIGNED && b->flags & HF_ETRACE_HAS_ADDRESS, a->flags & HF_ETRACE_UNALIGNED &&
		 b->flags & HF_ETRACE_HAS_ADDRESS);
	CHECK_EQ(b->flags & HF_ETRACE_FAILED_ACCESS, a->flags & HF_ETRACE_FAILED_ACCESS);
	if (b->flags & HF_ETRACE_HAS_ADDRESS)
		CHECK_EQ(b->address, a->address);
	if (b->flags & HF_ETRACE_HAS_DATA)
		CHECK_EQ(b->data, a->data);
	if (b->flags & HF_ETRACE_HAS_OPERAND)
		CHECK_EQ(b->operand, a->operand);
}

/* Accesses in a row, each written and read; at times both sides synchronise. Returns how many had a packet. */
static size_t loop_row(const struct hf_etrace_params *p, uint32_t modes, enum hf_etrace_data_compress compress)
{
	struct hf_etrace_data_state out = {0}, in = {0};
	size_t count = 0;

	for (unsigned i = 0; i < 120; i++) {
		struct hf_etrace_access a = any_access(p), b;
		uint8_t payload[HF_ETRACE_PAYLOAD_MAX];
		size_t n;

		if (a.kind == HF_ETRACE_ATOMIC_DATA) { /* the last request's */
			if (!in.atomic_count)
				continue;
			a.id = in.atomic_id[in.atomic_count - 1];
			a.size = in.atomic_size[in.atomic_count - 1];
			a.data = low(a.data, a.size);
		}
		if (below(30) == 0) {
			hf_etrace_data_sync(&out);
			memset(&in.address, 0xa5, sizeof in.address);
			memset(&in.data, 0xa5, sizeof in.data);
		}
		n = hf_etrace_data_write(p, modes, compress, &out, &a, payload);
		if (n == 0)
			continue;
		CHECK_EQ(hf_etrace_data_read(p, modes, &in, payload, n, &b), 0);
		check_same(&a, &b);
		count++;
	}
	return count;
}

static void loop_layouts(void)
{
	static const uint32_t modes[] = {
		0, HF_ETRACE_NO_ADDRESS, HF_ETRACE_NO_DATA, HF_ETRACE_FULL_DADDRESS, HF_ETRACE_FULL_DATA,
		HF_ETRACE_FULL_DADDRESS | HF_ETRACE_FULL_DATA, HF_ETRACE_NO_DATA | HF_ETRACE_FULL_DADDRESS,
	};
	size_t count = 0;

	for (unsigned k = 0; k < 3 * 2 * 3 * 3 * 2 * 2; k++) {
		struct hf_etrace_params p;

		hf_etrace_params_default(&p, k / 3 % 2 ? 32 : 64);
		p.version = (uint8_t)(k % 3);
		p.lrid_width = (uint8_t)(k / 6 % 3 * 2);
		p.data_diff_width = (uint8_t)(k / 18 % 3);
		p.data_format_width = (uint8_t)(3 - k / 54 % 2);
		p.data_reference = k / 108;
		for (unsigned i = 0; i < sizeof modes / sizeof modes[0]; i++)
			for (unsigned compress = 0; compress < 4; compress++)
				for (unsigned mmacas = 0; mmacas <= (p.version == HF_ETRACE_2_1); mmacas++)
					count += loop_row(&p, modes[i] | (mmacas ? HF_ETRACE_MMACAS : 0), compress);
	}
	printf("%zu packets of any kind came back\n", count);
	CHECK(count > 100000);
}

/* A CSR access behind 2.1's mmacas: format 2, then subformat 4 + subtype; an atomic, 8 + subtype. */
static void check_mmacas(void)
{
	struct hf_etrace_params p;
	struct hf_etrace_data_state state = {0};
	struct hf_etrace_access a;
	/* 10, 0101 (csrrs), diff 1 bit, 6 bits, 6 bits of 0x305: bits 10 1010 0 001100 101000, lowest first */
	const uint8_t csr[] = {0x16 | 0 << 6 | 0 << 7, 0x0c >> 1 | 0x05 << 5, 0x05 >> 3};
	/* 10, 1001 (add), size 2 (2 bits), diff 0, address 0x1000 >> 2 */
	const uint8_t add[] = {2 | 9 << 2 | 2 << 6, (uint8_t)(0 | 0x400 << 1), 0x400 >> 7};

	hf_etrace_params_default(&p, 32);
	p.version = HF_ETRACE_2_1;
	CHECK_EQ(hf_etrace_data_read(&p, HF_ETRACE_MMACAS | HF_ETRACE_NO_DATA, &state, csr, sizeof csr, &a), 0);
	CHECK_EQ(a.kind, HF_ETRACE_CSR);
	CHECK_EQ(a.subtype, 1);
	CHECK_EQ(a.address, 0x305);
	CHECK_EQ(hf_etrace_data_read(&p, HF_ETRACE_MMACAS | HF_ETRACE_NO_DATA, &state, add, sizeof add, &a), 0);
	CHECK_EQ(a.kind, HF_ETRACE_ATOMIC);
	CHECK_EQ(a.subtype, HF_ETRACE_ADD);
	CHECK_EQ(a.size, 2);
	CHECK_EQ(a.address, 0x1000);
}

/* Of more split atomics than are remembered the size is not known, and neither is what their data says. */
static void check_many_atomics(void)
{
	struct hf_etrace_params p;
	struct hf_etrace_data_state out = {0}, in = {0};
	uint8_t payload[HF_ETRACE_PAYLOAD_MAX];

	hf_etrace_params_default(&p, 64);
	p.lrid_width = 5;
	for (unsigned data = 0; data < 2; data++)
		for (unsigned i = 0; i <= HF_ETRACE_DATA_ATOMICS; i++) {
			const struct hf_etrace_access a = {
				.kind = data ? HF_ETRACE_ATOMIC_DATA : HF_ETRACE_ATOMIC,
				.size = 2,
				.id = (uint16_t)i,
				.data = 7,
				.flags = HF_ETRACE_HAS_ADDRESS | HF_ETRACE_HAS_DATA | HF_ETRACE_HAS_OPERAND,
			};
			struct hf_etrace_access b;
			size_t n = hf_etrace_data_write(&p, 0, HF_ETRACE_DATA_NONE, &out, &a, payload);

			CHECK(n);
			CHECK_EQ(hf_etrace_data_read(&p, 0, &in, payload, n, &b), 0);
			CHECK_EQ(!!(b.flags & HF_ETRACE_UNSIZED), data && i == 0);
		}
}

static void test_corpus(void)
{
	const char *const programs[] = {"corner", "towers"};

	for (unsigned i = 0; i < 2; i++) {
		check_stream(programs[i], "dtype_basic", false, false);
		check_stream(programs[i], "dtype_debug", false, false);
		check_stream(programs[i], "dtype_no_address", true, false);
		check_stream(programs[i], "dtype_no_data", false, true);
		write_stream(programs[i], "dtype_basic", 0);
		write_stream(programs[i], "dtype_debug", HF_ETRACE_FULL_DADDRESS | HF_ETRACE_FULL_DATA);
		write_stream(programs[i], "dtype_no_address", HF_ETRACE_NO_ADDRESS);
		write_stream(programs[i], "dtype_no_data", HF_ETRACE_NO_DATA);
		measure(programs[i], 0);
		measure(programs[i], HF_ETRACE_NO_ADDRESS);
		measure(programs[i], HF_ETRACE_NO_DATA);
	}
}

int main(void)
{
	loop_layouts();
	check_mmacas();
	check_many_atomics();
	if (!getenv("HARTFS_CORPUS")) {
		fprintf(stderr, "HARTFS_CORPUS is not set: no streams to compare with\n");
		return 77;
	}
	test_corpus();
	return 0;
}
