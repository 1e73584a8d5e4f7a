/* SPDX-License-Identifier: Apache-2.0 */
/* XXH3 for bytes of views, of which there are many: where the library has it, with the vectors that the machine has. */
#ifndef HF_INDEX_HASH_H
#define HF_INDEX_HASH_H

#ifdef HF_XXH_DISPATCH
#include <xxh_x86dispatch.h>
#else
#include <xxhash.h>
#endif

#endif
