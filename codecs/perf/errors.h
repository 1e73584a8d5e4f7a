/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HF_PERF_ERRORS_H
#define HF_PERF_ERRORS_H

#include "codecs/base/err.h"

enum hf_perf_err {
#include "codecs/perf/errors.def"
};

#endif
