# SPDX-License-Identifier: Apache-2.0
# GNU libiberty's demanglers of C++ and Rust as the target hf_demangle. It is a static library, of which only these and
# what they need become part of the program: they are LGPL with an exception for linking.
find_path(IBERTY_INCLUDE demangle.h PATH_SUFFIXES libiberty)
find_library(IBERTY_LIBRARY libiberty.a)
if(NOT IBERTY_INCLUDE OR NOT IBERTY_LIBRARY)
	message(FATAL_ERROR "libiberty with its header is needed: libiberty-dev")
endif()
add_library(hf_demangle INTERFACE)
target_include_directories(hf_demangle SYSTEM INTERFACE ${IBERTY_INCLUDE})
target_link_libraries(hf_demangle INTERFACE ${IBERTY_LIBRARY})
