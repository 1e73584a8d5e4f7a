/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HF_ITM_ERRORS_H
#define HF_ITM_ERRORS_H

#include "codecs/base/err.h"

enum hf_itm_err {
#include "codecs/itm/errors.def"
};

#endif
