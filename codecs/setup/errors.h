/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HF_SETUP_ERRORS_H
#define HF_SETUP_ERRORS_H

#include "codecs/base/err.h"

enum hf_setup_err {
#include "codecs/setup/errors.def"
};

#endif
