/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A program that includes this has other lists of codecs and views (toy.c instead of codecs/registry.c): the toy format
 * (tests/lib/toy_codec.h) is there as well, and its view that is a directory in the place of STF's.
 */
#ifndef HF_TEST_REGISTRY_TOY_H
#define HF_TEST_REGISTRY_TOY_H

#include "tests/lib/toy_codec.h"

#endif
