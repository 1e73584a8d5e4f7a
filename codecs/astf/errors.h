/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HF_ASTF_ERRORS_H
#define HF_ASTF_ERRORS_H

#include "codecs/base/err.h"

enum hf_astf_err {
#include "codecs/astf/errors.def"
};

#endif
