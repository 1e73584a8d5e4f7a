/* SPDX-License-Identifier: Apache-2.0 */
/* etrace/capture.ini: what a decoder of etrace/trace.bin must know, so that the directory is a capture of its own. */
#include "codecs/base/text.h"
#include "codecs/etrace/encoder.h"
#include "codecs/setup/code_size.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

static void text(struct hf_sink *sink, const char *line)
{
	hf_sink_write(sink, line, strlen(line));
}

static void write_number(struct hf_sink *sink, const char *key, uint64_t value, bool hex)
{
	char line[80];

	snprintf(line, sizeof line, hex ? "%s = 0x%llx\n" : "%s = %llu\n", key, (unsigned long long)value);
	text(sink, line);
}

/* The numbers of one byte or flag, each written where it differs from what a reader takes by itself. */
static const struct {
	const char *key;
	size_t offset;
} numbers[] = {
#define NUMBER(member) {#member, offsetof(struct hf_etrace_params, member)}
	NUMBER(iaddress_lsb),      NUMBER(privilege_width),   NUMBER(ecause_width), NUMBER(f0s_width),
	NUMBER(return_stack_size), NUMBER(call_counter_size), NUMBER(bpred_size),   NUMBER(cache_size),
	NUMBER(encoder_mode_width), NUMBER(ecall_retires),    NUMBER(data_width),   NUMBER(daddress_width),
	NUMBER(data_format_width), NUMBER(lrid_width),        NUMBER(data_diff_width),
	NUMBER(zcmp),              NUMBER(zcmt),
#undef NUMBER
};

static void write_words(const struct hf_etrace_params *p, const struct hf_etrace_params *usual, struct hf_sink *sink)
{
	static const char *const compressions[] = {"full", "none", "address"};

	if (p->support != usual->support)
		text(sink, p->support == HF_ETRACE_SUPPORT_STANDARD ? "support_options = standard\n" :
								      "support_options = reference\n");
	if (p->link_x5)
		text(sink, "link_registers = x1,x5\n");
	if (p->figure)
		text(sink, "trap_reporting = figure\n");
	if (p->jtc_all)
		text(sink, "jtc_policy = all\n");
	if (p->compression)
		hf_sink_write(sink, "compression = ", 14), text(sink, compressions[p->compression]), text(sink, "\n");
	if (p->data_reference)
		text(sink, "data_diff = reference\n");
	if (p->data_order == HF_ETRACE_ORDER_BEFORE)
		text(sink, "data_order = before\n");
}

static void write_modes(const struct hf_etrace_params *p, struct hf_sink *sink)
{
	static const struct {
		const char *name;
		uint32_t mode;
	} options[] = {
		{" full_address", HF_ETRACE_FULL_ADDRESS},           {" implicit_return", HF_ETRACE_IMPLICIT_RETURN},
		{" branch_prediction", HF_ETRACE_BRANCH_PREDICTION}, {" jump_target_cache", HF_ETRACE_JUMP_TARGET_CACHE},
		{" implicit_exception", HF_ETRACE_IMPLICIT_EXCEPTION},
	};
	uint32_t any = 0;

	for (size_t i = 0; i < sizeof options / sizeof options[0]; i++)
		any |= options[i].mode;
	if (p->modes & HF_ETRACE_SIJUMP)
		text(sink, "sijump = 1\n");
	if (p->modes & HF_ETRACE_IRET_EXT)
		text(sink, "irets = 1\n");
	if (p->modes & HF_ETRACE_RESYNC_DISABLED)
		text(sink, "resync_disabled = 1\n");
	if (p->modes & HF_ETRACE_NO_ADDRESS)
		text(sink, "no_address = 1\n");
	if (p->modes & HF_ETRACE_NO_DATA)
		text(sink, "no_data = 1\n");
	if (p->modes & HF_ETRACE_MMACAS)
		text(sink, "mmacas = 1\n");
	if (!(p->modes & any))
		return;
	text(sink, "options =");
	for (size_t i = 0; i < sizeof options / sizeof options[0]; i++)
		if (p->modes & options[i].mode)
			text(sink, options[i].name);
	text(sink, "\n");
}

static void write_parameters(const struct hf_etrace_params *p, struct hf_sink *sink)
{
	static const char *const versions[] = {"1.1.1", "2.0", "2.1"};
	static const char *const vectors[] = {"mtvec", "stvec", "vstvec"};
	struct hf_etrace_params usual;

	hf_etrace_config_defaults(&usual, p->version, p->iaddress_width);
	text(sink, "\n[parameters]\nversion = ");
	text(sink, versions[p->version]);
	text(sink, "\n");
	write_number(sink, "iaddress_width", p->iaddress_width, false);
	for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
		const uint8_t *mine = (const uint8_t *)p + numbers[i].offset;
		const uint8_t *theirs = (const uint8_t *)&usual + numbers[i].offset;

		if (*mine != *theirs)
			write_number(sink, numbers[i].key, *mine, false);
	}
	if (p->context_width != usual.context_width) {
		write_number(sink, "nocontext", p->context_width == 0, false);
		if (p->context_width)
			write_number(sink, "context_width", p->context_width, false);
	}
	if (p->time_width != usual.time_width) {
		text(sink, "notime = 0\n");
		write_number(sink, "time_width", p->time_width, false);
	}
	write_words(p, &usual, sink);
	write_modes(p, sink);
	for (unsigned i = 0; i < 3; i++)
		if (p->has_tvec[i])
			write_number(sink, vectors[i], p->tvec[i], true);
	if (p->has_unknown_cause)
		write_number(sink, "unknown_cause", p->unknown_cause, false);
	if (p->sync_instructions)
		write_number(sink, "sync_instructions", p->sync_instructions, false);
}

/* Decoding E-Trace does not need the table, a view ntrace/ of the copy does. */
static void write_table(const struct hf_etrace_params *p, const struct hf_side *side, struct hf_sink *sink)
{
	struct hf_code_size code_size;

	if (p->zcmt && hf_code_size_of_view(side->stream->setup, side->hart, &code_size) && code_size.has_jvt)
		write_number(sink, "jvt", code_size.jvt, true);
}

static void write_transport(const struct hf_etrace_params *p, struct hf_sink *sink)
{
	static const char *const alignments[] = {"none", "zeros", "blocks"};

	text(sink, "framing = ");
	text(sink, hf_etrace_framing_name(p->framing));
	text(sink, "\n");
	if (p->srcid_bits)
		write_number(sink, "srcid_bits", p->srcid_bits, false);
	if (p->timestamp_bytes)
		write_number(sink, "timestamp_bytes", p->timestamp_bytes, false);
	if (p->type_bits)
		write_number(sink, "type_bits", p->type_bits, false);
	if (p->alignment)
		text(sink, "alignment = "), text(sink, alignments[p->alignment]), text(sink, "\n");
	if (p->alignment == HF_ETRACE_ALIGN_BLOCKS)
		write_number(sink, "block_bytes", p->block_bytes, false);
}

void hf_etrace_write_capture(const struct hf_side *side, struct hf_sink *sink)
{
	struct hf_etrace_config config;
	char why[128];

	if (hf_etrace_config_read(&config, side->env ? side->env->params : NULL, side->stream, side->hart, why,
				  sizeof why))
		return; /* no such encoder was made either */
	text(sink, "; A mode that the source does not say is 0 (U) in these packets, and so is a trap value.\n");
	text(sink, "[capture]\nformat = etrace\ntrace = trace.bin\n");
	write_transport(&config.params, sink);
	text(sink, "\n[program]\nelf = program.elf\n");
	write_parameters(&config.params, sink);
	write_table(&config.params, side, sink);
}
