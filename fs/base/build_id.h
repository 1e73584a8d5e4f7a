/* SPDX-License-Identifier: Apache-2.0 */
/* Which build of hartfs this is. */
#ifndef HF_FS_BUILD_ID_H
#define HF_FS_BUILD_ID_H

#include <stdint.h>

/* A hash of the build id that the linker gave this program, or library; 0: it has none. */
uint64_t hf_build_id(void);

#endif
