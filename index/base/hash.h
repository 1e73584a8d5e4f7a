/* SPDX-License-Identifier: Apache-2.0 */
/* XXH3 for the bytes of views, which are many: with the machine's vector instructions where the library has that. */
#ifndef HF_INDEX_HASH_H
#define HF_INDEX_HASH_H

#ifdef HF_XXH_DISPATCH
#include <xxh_x86dispatch.h>
#else
#include <xxhash.h>
#endif

#endif
