/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The descriptions beside ete/trace.bin, which make the directory a CoreSight snapshot: one core, whose memory is
 * program.elf, one trace unit, and its buffer.
 */
#include "codecs/ete/encoder.h"

static void write_snapshot(const struct hf_side *side, struct hf_sink *sink)
{
	hf_sink_printf(sink, "[snapshot]\nversion=1.0\ndescription=hart %u, written by hartfs\n\n", side->hart);
	hf_sink_printf(sink, "[device_list]\ndevice0=cpu_0.ini\ndevice1=ETE_0.ini\n\n[trace]\nmetadata=trace.ini\n");
}

static void write_trace(const struct hf_side *side, struct hf_sink *sink)
{
	(void)side;
	hf_sink_printf(sink, "[trace_buffers]\nbuffers=buffer0\n\n");
	hf_sink_printf(sink, "[buffer0]\nname=ETB_0\nfile=trace.bin\nformat=source_data\n\n");
	hf_sink_printf(sink, "[source_buffers]\nETE_0=ETB_0\n\n[core_trace_sources]\ncpu_0=ETE_0\n");
}

static void write_core(const struct hf_side *side, struct hf_sink *sink)
{
	hf_sink_printf(sink, "[device]\nname=cpu_0\nclass=core\ntype=ARM-AA64\n\n[regs]\nPC(size:64)=0x%llx\n",
		       (unsigned long long)side->entry);
	for (size_t i = 0; i < side->segment_count; i++) {
		const struct hf_elf_segment *segment = &side->segments[i];

		hf_sink_printf(sink, "\n[dump%zu]\nfile=program.elf\naddress=0x%llx\n", i,
			       (unsigned long long)segment->address);
		hf_sink_printf(sink, "length=0x%llx\noffset=0x%llx\n", (unsigned long long)segment->size,
			       (unsigned long long)segment->offset);
	}
}

/*
 * The registers that tell how to read the trace (Table K10-3): nothing speculative, no cycle counts; 4-byte ids, WFI
 * and WFE are P0 elements.
 */
static void write_unit(const struct hf_side *side, struct hf_sink *sink)
{
	const uint32_t id = side->hart & 0x7f;
	struct hf_ete_enc_config c;
	uint32_t configr = 1;

	if (hf_ete_enc_config_read(side->env ? side->env->params : NULL, &c, NULL, 0))
		return;
	configr |= (uint32_t)c.contextid << 6 | (uint32_t)c.timestamps << 11 | (uint32_t)c.return_stack << 12 |
		   (c.q_elements ? 3u << 13 : 0);
	hf_sink_printf(sink, "[device]\nname=ETE_0\nclass=trace_source\ntype=ETE\n\n[regs]\n");
	hf_sink_printf(sink, "TRCCONFIGR=0x%x\nTRCTRACEIDR=0x%x\n", configr, id && id < 0x70 ? id : 1);
	hf_sink_printf(
		sink,
		"TRCDEVARCH=0x47705a13\nTRCIDR0=0x2801cea1\nTRCIDR1=0x4100fff0\nTRCIDR2=0xd0001088\nTRCIDR8=0x0\n");
}

const struct hf_side_file hf_ete_enc_side[] = {
	{"ete/snapshot.ini", write_snapshot},
	{"ete/trace.ini", write_trace},
	{"ete/cpu_0.ini", write_core},
	{"ete/ETE_0.ini", write_unit},
	{NULL, NULL},
};
