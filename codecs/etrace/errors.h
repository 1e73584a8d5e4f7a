/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HF_ETRACE_ERRORS_H
#define HF_ETRACE_ERRORS_H

#include "codecs/base/err.h"

enum hf_etrace_err {
#include "codecs/etrace/errors.def"
};

#endif
