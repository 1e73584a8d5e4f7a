/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HF_MTB_ERRORS_H
#define HF_MTB_ERRORS_H

#include "codecs/base/err.h"

enum hf_mtb_err {
#include "codecs/mtb/errors.def"
};

#endif
