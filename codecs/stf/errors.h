/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HF_STF_ERRORS_H
#define HF_STF_ERRORS_H

#include "codecs/base/err.h"

enum hf_stf_err {
#include "codecs/stf/errors.def"
};

#endif
