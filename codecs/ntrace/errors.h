/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HF_NTRACE_ERRORS_H
#define HF_NTRACE_ERRORS_H

#include "codecs/base/err.h"

enum hf_ntrace_err {
#include "codecs/ntrace/errors.def"
};

#endif
