# SPDX-License-Identifier: Apache-2.0
# Whether libxxhash chooses among the vectors of x86 machines at run time (HF_XXH_DISPATCH); not all builds of it do.
include(CheckSymbolExists)
set(CMAKE_REQUIRED_INCLUDES ${XXHASH_INCLUDE_DIRS})
set(CMAKE_REQUIRED_LIBRARIES ${XXHASH_LINK_LIBRARIES})
check_symbol_exists(XXH3_64bits_dispatch xxh_x86dispatch.h HF_XXH_DISPATCH)
unset(CMAKE_REQUIRED_INCLUDES)
unset(CMAKE_REQUIRED_LIBRARIES)
