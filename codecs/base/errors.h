/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HF_BASE_ERRORS_H
#define HF_BASE_ERRORS_H

#include "codecs/base/err.h"

enum hf_base_err {
#include "codecs/base/errors.def"
};

#endif
