/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the device files of a CoreSight snapshot say of a trace source: the word after "type", and that of its core. Only
 * whole words count: an ETM3.5 is no ETMv4.
 */
#ifndef HF_SETUP_TRACE_UNIT_H
#define HF_SETUP_TRACE_UNIT_H

#include <stdbool.h>

enum hf_trace_unit {
	HF_TRACE_UNIT_ETE,
	HF_TRACE_UNIT_ETM4,
	HF_TRACE_UNIT_ITM,     /* instrumentation without a flow */
	HF_TRACE_UNIT_OTHER,   /* one that is known and not decoded: ETMv3, PTM, STM */
	HF_TRACE_UNIT_UNKNOWN, /* no such word is known, or there is none ("") */
};

/* type: "ETE", "ETM4.2", "PTM1.1"; what is behind the first '.' is a version. *ret_name: what the field calls it,
 * "ETMv3"; static, "" if it is not known. */
enum hf_trace_unit hf_trace_unit_of(const char *type, const char **ret_name);

/* Whether a core of that type ("Cortex-M55", "ARMv8.1-M", "ARMv7E-M") is of the M profile. */
bool hf_trace_unit_is_m_profile(const char *core_type);

/* Whether such a core may have the Security Extension, which Armv8-M brought. */
bool hf_trace_unit_has_security(const char *core_type);

#endif
