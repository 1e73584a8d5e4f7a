/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HF_ETE_ERRORS_H
#define HF_ETE_ERRORS_H

#include "codecs/base/err.h"

enum hf_ete_err {
#include "codecs/ete/errors.def"
};

#endif
