/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HF_SOURCE_ERRORS_H
#define HF_SOURCE_ERRORS_H

#include "codecs/base/err.h"

enum hf_source_err {
#include "codecs/source/errors.def"
};

#endif
