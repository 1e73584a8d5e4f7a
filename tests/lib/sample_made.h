/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HF_TEST_SAMPLE_MADE_H
#define HF_TEST_SAMPLE_MADE_H

#include "tests/lib/sample.h"

/* Those that dir/made lists (sample.h). */
void samples_make(struct samples *all, const struct hf_codec *codec, const char *dir);

#endif
