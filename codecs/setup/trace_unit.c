/* SPDX-License-Identifier: Apache-2.0 */
#include "codecs/setup/trace_unit.h"

#include <stddef.h>
#include <string.h>
#include <strings.h>

enum hf_trace_unit hf_trace_unit_of(const char *type, const char **ret_name)
{
	static const struct {
		const char *word, *name;
		enum hf_trace_unit unit;
	} units[] = {
		{"ETE", "ETE", HF_TRACE_UNIT_ETE},	{"ETE1", "ETE", HF_TRACE_UNIT_ETE},
		{"ETM4", "ETMv4", HF_TRACE_UNIT_ETM4},	{"ETMv4", "ETMv4", HF_TRACE_UNIT_ETM4},
		{"ETM3", "ETMv3", HF_TRACE_UNIT_OTHER}, {"ETMv3", "ETMv3", HF_TRACE_UNIT_OTHER},
		{"PTM", "PTM", HF_TRACE_UNIT_OTHER},	{"PTM1", "PTM", HF_TRACE_UNIT_OTHER},
		{"PFT", "PTM", HF_TRACE_UNIT_OTHER},	{"PFT1", "PTM", HF_TRACE_UNIT_OTHER},
		{"STM", "STM", HF_TRACE_UNIT_OTHER},	{"ITM", "ITM", HF_TRACE_UNIT_ITM},
	};
	const size_t n = strcspn(type, ".");

	for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
		if (strlen(units[i].word) != n || strncasecmp(units[i].word, type, n) != 0)
			continue;
		*ret_name = units[i].name;
		return units[i].unit;
	}
	*ret_name = "";
	return HF_TRACE_UNIT_UNKNOWN;
}

bool hf_trace_unit_is_m_profile(const char *core_type)
{
	static const char *const products[] = {"Cortex-M", "STAR-MC", "SC000", "SC300"};
	const char *s = core_type;

	for (size_t i = 0; i < sizeof products / sizeof *products; i++)
		if (strncasecmp(core_type, products[i], strlen(products[i])) == 0)
			return true;
	if (strncasecmp(s, "ARMv", 4) != 0)
		return false;
	s += 4;
	s += strspn(s, "0123456789.");
	s += *s == 'E' || *s == 'e'; /* ARMv7E-M */
	s += *s == '-';
	return *s == 'M' || *s == 'm';
}

bool hf_trace_unit_has_security(const char *core_type)
{
	static const char *const before[] = {"Cortex-M0", "Cortex-M0+", "Cortex-M1", "Cortex-M3", "Cortex-M4", "Cortex-M4F",
					     "Cortex-M7", "SC000",	"SC300"};

	for (size_t i = 0; i < sizeof before / sizeof *before; i++)
		if (strcasecmp(core_type, before[i]) == 0)
			return false;
	return strncasecmp(core_type, "ARMv6", 5) != 0 && strncasecmp(core_type, "ARMv7", 5) != 0;
}
