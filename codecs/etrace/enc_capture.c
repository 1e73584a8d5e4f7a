/* SPDX-License-Identifier: Apache-2.0 */
/* etrace/capture.ini: what a decoder of etrace/trace.bin must know, so that the directory is a capture of its own. */
#include "codecs/etrace/encoder.h"
#include "codecs/setup/code_size.h"

void hf_etrace_write_capture(const struct hf_side *side, struct hf_sink *sink)
{
	struct hf_etrace_config config;
	struct hf_etrace_params usual;
	struct hf_code_size code_size;
	const struct hf_etrace_params *p = &config.params;
	char why[128];

	if (hf_etrace_config_read(&config, side->env ? side->env->params : NULL, side->stream, side->hart, why,
				  sizeof why))
		return; /* no such encoder was made either */
	hf_etrace_config_defaults(&usual, p->version, p->iaddress_width);
	hf_sink_printf(sink,
		       "; A mode that the source does not say is 0 (U) in these packets, and so is a trap value.\n"
		       "[capture]\nformat = etrace\ntrace = trace.bin\n");
	hf_etrace_params_write_transport(p, &usual, sink);
	hf_sink_printf(sink, "\n[program]\nelf = program.elf\n\n[parameters]\n");
	hf_etrace_params_write(p, &usual, sink);
	/* Decoding E-Trace does not need the table, a view ntrace/ of the copy does. */
	if (p->zcmt && hf_code_size_of_view(side->stream, side->hart, &code_size) && code_size.has_jvt)
		hf_sink_printf(sink, "jvt = 0x%llx\n", (unsigned long long)code_size.jvt);
}
