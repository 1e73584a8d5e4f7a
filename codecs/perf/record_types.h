/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers of perf.data: record types, features, bits. event.h of perf and perf_event.h of Linux. */
#ifndef HF_PERF_RECORD_TYPES_H
#define HF_PERF_RECORD_TYPES_H

enum hf_perf_type {
	HF_PERF_MMAP = 1,
	HF_PERF_LOST = 2,
	HF_PERF_COMM = 3,
	HF_PERF_EXIT = 4,
	HF_PERF_FORK = 7,
	HF_PERF_SAMPLE = 9,
	HF_PERF_MMAP2 = 10,
	HF_PERF_AUX = 11,
	HF_PERF_ITRACE_START = 12,
	HF_PERF_SWITCH = 14,
	HF_PERF_SWITCH_CPU_WIDE = 15,
	HF_PERF_KSYMBOL = 17,
	HF_PERF_TEXT_POKE = 20,
	HF_PERF_AUX_OUTPUT_HW_ID = 21,
	HF_PERF_USER = 64, /* from here on perf's own, without a trailer */
	HF_PERF_HEADER_ATTR = 64,
	HF_PERF_TRACING_DATA = 66,
	HF_PERF_HEADER_BUILD_ID = 67,
	HF_PERF_ID_INDEX = 69,
	HF_PERF_AUXTRACE_INFO = 70,
	HF_PERF_AUXTRACE = 71,
	HF_PERF_TIME_CONV = 79,
	HF_PERF_HEADER_FEATURE = 80,
	HF_PERF_COMPRESSED = 81,
	HF_PERF_COMPRESSED2 = 83,
};

/* AUXTRACE_INFO's type. */
enum hf_perf_trace {
	HF_PERF_CS_ETM = 3,
	HF_PERF_RISCV = 8, /* proposed for Linux (the "rvtrace" patches), not merged */
};

enum hf_perf_feature {
	HF_PERF_BUILD_ID = 2,
	HF_PERF_OSRELEASE = 4,
	HF_PERF_VERSION = 5,
	HF_PERF_CPUDESC = 8,
	HF_PERF_CMDLINE = 11,
	HF_PERF_EVENT_DESC = 12,
	HF_PERF_AUXTRACE_INDEX = 18,
	HF_PERF_DIR_FORMAT = 24,
	HF_PERF_META_INFO = 129, /* simpleperf's */
	HF_PERF_FEATURES = 256,
};

enum hf_perf_misc {
	HF_PERF_MISC_MODE = 7,		 /* these bits: */
	HF_PERF_MISC_KERNEL = 1,
	HF_PERF_MISC_GUEST_KERNEL = 4,
	HF_PERF_MISC_GUEST_USER = 5,
	HF_PERF_MISC_DATA = 1 << 13,     /* MMAP, MMAP2: not code */
	HF_PERF_MISC_EXEC = 1 << 13,     /* COMM */
	HF_PERF_MISC_OUT = 1 << 13,      /* SWITCH_CPU_WIDE */
	HF_PERF_MISC_BUILD_ID = 1 << 14, /* MMAP2 */
	HF_PERF_MISC_ID_SIZE = 1 << 15,  /* HEADER_BUILD_ID */
};

/* AUX.flags */
enum hf_perf_aux {
	HF_PERF_AUX_TRUNCATED = 1,
	HF_PERF_AUX_OVERWRITE = 2,
	HF_PERF_AUX_PARTIAL = 4,
	HF_PERF_AUX_COLLISION = 8,
	HF_PERF_AUX_LOSSES = HF_PERF_AUX_TRUNCATED | HF_PERF_AUX_PARTIAL | HF_PERF_AUX_COLLISION,
	HF_PERF_AUX_FORMAT = 0xff00,
	HF_PERF_AUX_RAW = 0x100,
};

#define HF_PERF_RECORD_MAX 65535u

#endif
