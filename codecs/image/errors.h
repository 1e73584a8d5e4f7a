/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HF_IMAGE_ERRORS_H
#define HF_IMAGE_ERRORS_H

#include "codecs/base/err.h"

enum hf_image_err {
#include "codecs/image/errors.def"
};

#endif
