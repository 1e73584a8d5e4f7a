/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/lib/etracetest.h"

#include "codecs/setup/read.h"

#include <fcntl.h>
#include <unistd.h>

struct place {
	char folder[4096];
};

static int open_file(void *ctx, const char *name, struct hf_src **ret_src, struct hf_diag *diag)
{
	const struct place *place = ctx;
	char path[8192];
	int fd;

	snprintf(path, sizeof path, "%s/%s", place->folder, name);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	return fd < 0 ? HF_ERR_NOT_FOUND : hf_src_file_new(fd, ret_src, diag);
}

static bool read_setup(struct hf_etracet *t, const char *ini)
{
	struct place place;
	const struct hf_setup_opener opener = {.ctx = &place, .open = open_file, .codecs = hf_codecs};
	struct hf_setup_error error = {0};
	const char *name = strrchr(ini, '/');

	CHECK(name && (size_t)(name - ini) < sizeof place.folder);
	memcpy(place.folder, ini, (size_t)(name - ini));
	place.folder[name - ini] = 0;
	*t = (struct hf_etracet){0};
	if (!hf_setup_read(&opener, name + 1, &t->setup, &error) &&
	    !hf_setup_load(t->setup, &opener, &t->src, &error))
		return true;
	fprintf(stderr, "%s:%u: %s\n", ini, error.line, error.text);
	hf_setup_free(t->setup);
	return false;
}

static bool open_stream(struct hf_etracet *t, const char *ini)
{
	struct hf_diag diag = {0};
	int err = hf_stream_open(&hf_codec_etrace, t->src, t->setup, &t->stream, &diag);

	if (!err)
		return true;
	fprintf(stderr, "%s: %s, line %llu\n", ini, hf_err_name(err), (unsigned long long)diag.detail);
	hf_src_free(t->src);
	hf_setup_free(t->setup);
	return false;
}

bool hf_etracet_open(struct hf_etracet *t, const char *ini)
{
	return read_setup(t, ini) && open_stream(t, ini);
}

bool hf_etracet_open_bytes(struct hf_etracet *t, const char *ini, const void *bytes, size_t n)
{
	if (!read_setup(t, ini))
		return false;
	hf_src_free(t->src);
	CHECK_EQ(hf_src_memory_new(bytes, n, &t->src), 0);
	for (size_t i = 0; i < t->setup->part_count; i++)
		t->setup->parts[i].size = n;
	return open_stream(t, ini);
}

void hf_etracet_close(struct hf_etracet *t)
{
	hf_stream_close(t->stream);
	hf_src_free(t->src);
	hf_setup_free(t->setup);
}

void hf_etracet_value(struct hf_setup *setup, const char *key, const char *value)
{
	setup->values = realloc(setup->values, (setup->value_count + 1) * sizeof *setup->values);
	CHECK(setup->values);
	setup->values[setup->value_count++] = (struct hf_setup_value){
		.hart = HF_SETUP_ANY, .key = strdup(key), .value = strdup(value), .file = strdup("test"), .line = 1};
}

/* ---- made of bytes ---- */

static void add_value(struct hf_etracet_made *m, const char *key, const char *value)
{
	struct hf_setup_value *v = &m->values[m->setup.value_count++];

	CHECK(m->setup.value_count <= sizeof m->values / sizeof m->values[0]);
	*v = (struct hf_setup_value){.hart = HF_SETUP_ANY, .key = key, .value = value, .file = "", .line = 1};
}

static void add_number(struct hf_etracet_made *m, const char *key, unsigned value)
{
	char *text = m->texts[m->setup.value_count];

	snprintf(text, sizeof m->texts[0], "%u", value);
	add_value(m, key, text);
}

static void add_modes(struct hf_etracet_made *m, unsigned bits)
{
	static const char *const names[] = {"full_address", "implicit_return", "branch_prediction",
					    "jump_target_cache", "implicit_exception"};
	static char list[128];

	list[0] = 0;
	for (unsigned i = 0; i < 5; i++)
		if (bits >> i & 1) {
			strncat(list, names[i], sizeof list - strlen(list) - 1);
			strncat(list, " ", sizeof list - strlen(list) - 1);
		}
	add_value(m, "options", list);
}

static void choose_parameters(struct hf_etracet_made *m, const uint8_t *b)
{
	static const char *const versions[] = {"1.1.1", "2.0", "2.1", "2.0"};
	static const char *const framings[] = {"te_inst_raw", "encap",	     "smi",   "coresight",
					       "pulp",	      "te_inst_raw", "esp32", "encap"};
	static const char *const supports[] = {"reference", "pulp", "esp32", "standard"};
	static const char *const alignments[] = {"none", "zeros", "blocks", "none"};

	add_value(m, "version", versions[b[0] & 3]);
	add_value(m, "framing", framings[b[0] >> 2 & 7]);
	if (b[0] & 32)
		add_value(m, "support_options", supports[b[0] >> 6]);
	add_number(m, "iaddress_width", b[1] & 1 ? 64 : 32);
	add_number(m, "iaddress_lsb", b[1] >> 1 & 1);
	add_number(m, "irreport", !(b[1] & 4));
	add_number(m, "sijump", b[1] >> 3 & 1);
	add_number(m, "ecall_retires", b[1] >> 4 & 1);
	add_value(m, "link_registers", b[1] & 32 ? "x1,x5" : "x1");
	add_value(m, "trap_reporting", b[1] & 64 ? "figure" : "retired");
	add_value(m, "jtc_policy", b[1] & 128 ? "all" : "targets");
	add_number(m, "privilege_width", 1 + (b[2] & 3));
	add_number(m, "nocontext", b[2] >> 2 & 1);
	add_number(m, "context_width", 1 + (b[2] >> 3));
	add_number(m, "notime", b[3] & 1);
	add_number(m, "time_width", 1 + (b[3] >> 2));
	add_number(m, "ecause_width", 1 + (b[4] & 15));
	add_number(m, "f0s_width", b[4] >> 4 & 1);
	add_number(m, "return_stack_size", b[5] & 7);
	/* Larger tables take their time and are no others. */
	add_number(m, "call_counter_size", (b[5] >> 4) % 9);
	add_number(m, "bpred_size", (b[6] & 15) % 9);
	add_number(m, "cache_size", (b[6] >> 4) % 9);
	add_modes(m, b[7]);
	if (b[8] & 1)
		add_value(m, "mtvec", "0x80000001");
	add_value(m, "alignment", alignments[b[8] >> 1 & 3]);
	add_number(m, "srcid_bits", b[9] & 15);
	add_number(m, "type_bits", b[9] >> 4 & 3);
	add_number(m, "timestamp_bytes", b[10] & 7);
	add_number(m, "lrid_width", b[11] & 3);
	add_number(m, "no_address", b[11] >> 2 & 1);
	add_number(m, "no_data", b[11] >> 3 & 1);
	if (b[12] & 3)
		add_value(m, "data_order", b[12] & 1 ? "any" : "before");
	add_number(m, "data_diff_width", 2 - (b[12] >> 2 & 3) % 3);
	add_value(m, "data_diff", b[12] & 16 ? "reference" : "spec");
	add_number(m, "mmacas", b[12] >> 5 & 1);
	if (b[12] & 64)
		add_number(m, "data_width", b[12] & 128 ? 16 : 32);
}

bool hf_etracet_make(struct hf_etracet_made *m, const uint8_t *bytes, size_t n)
{
	struct hf_diag diag;
	size_t code;

	*m = (struct hf_etracet_made){0};
	if (n < HF_ETRACET_HEAD + 2)
		return false;
	code = (size_t)(bytes[HF_ETRACET_HEAD] | bytes[HF_ETRACET_HEAD + 1] << 8);
	if (code > n - HF_ETRACET_HEAD - 2)
		return false;
	m->setup.values = m->values;
	choose_parameters(m, bytes);
	bytes += HF_ETRACET_HEAD + 2;
	n -= HF_ETRACET_HEAD + 2;
	m->piece = (struct hf_program_piece){.address = HF_ETRACET_CODE, .size = code, .bytes = bytes};
	m->image = (struct hf_setup_image){.hart = HF_SETUP_ANY, .spaces = HF_MEMORY_ANY,
					   .context = HF_SETUP_NO_CONTEXT,
					   .program = {.pieces = &m->piece, .count = code != 0, .bytes = code}};
	m->setup.images = &m->image;
	m->setup.image_count = 1;
	CHECK_EQ(hf_src_memory_new(bytes + code, n - code, &m->src), 0);
	if (!hf_stream_open(&hf_codec_etrace, m->src, &m->setup, &m->stream, &diag))
		return true;
	hf_src_free(m->src);
	return false;
}

void hf_etracet_unmake(struct hf_etracet_made *m)
{
	hf_stream_close(m->stream);
	hf_src_free(m->src);
}
