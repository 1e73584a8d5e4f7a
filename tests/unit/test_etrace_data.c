/* Data trace packets: the corpus' streams give exactly the accesses that were made; what it lacks is made here. */
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
	struct hf_bytes text;
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
	struct hf_bytes file;
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

int main(void)
{
	const char *const programs[] = {"corner", "towers"};

	for (unsigned i = 0; i < 2; i++) {
		check_stream(programs[i], "dtype_basic", false, false);
		check_stream(programs[i], "dtype_debug", false, false);
		check_stream(programs[i], "dtype_no_address", true, false);
		check_stream(programs[i], "dtype_no_data", false, true);
	}
	return 0;
}
