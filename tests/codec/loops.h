/* SPDX-License-Identifier: Apache-2.0 */
/* What must hold of every codec and every view, whatever they are: each loop asks one thing of all samples. */
#ifndef HF_TEST_CODEC_LOOPS_H
#define HF_TEST_CODEC_LOOPS_H

#include "tests/lib/sample.h"

#define LOOP(name, corpus) void loop_##name(struct samples *all);
#include "tests/codec/loops.def"
#undef LOOP

#endif
