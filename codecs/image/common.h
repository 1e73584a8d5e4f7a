/* SPDX-License-Identifier: Apache-2.0 */
/* Whether two harts executed code that is the same at the same place. */
#ifndef HF_IMAGE_COMMON_H
#define HF_IMAGE_COMMON_H

#include "codecs/image/collect.h"

/* False: no instruction of the one has the address and the opcode of one of the other. True may be wrong, where halves of
 * two instructions are the same. Neither refuses (hf_image_refuses). Time goes with the code that both have bytes of. */
bool hf_image_have_common(const struct hf_image *a, const struct hf_image *b);

#endif
