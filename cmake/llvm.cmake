# SPDX-License-Identifier: Apache-2.0
# LLVM's C disassembler as the target hf_llvm: the newest llvm-config found from 19 down to 14, or the one given.
find_program(LLVM_CONFIG NAMES llvm-config-19 llvm-config-18 llvm-config-17 llvm-config-16 llvm-config-15
	     llvm-config-14 llvm-config DOC "llvm-config of LLVM >= 14")
if(NOT LLVM_CONFIG)
	message(FATAL_ERROR "LLVM (>= 14, 19 preferred) with its development files is needed: llvm-19-dev")
endif()
execute_process(COMMAND ${LLVM_CONFIG} --version OUTPUT_VARIABLE LLVM_VERSION OUTPUT_STRIP_TRAILING_WHITESPACE)
if(LLVM_VERSION VERSION_LESS 14)
	message(FATAL_ERROR "LLVM ${LLVM_VERSION} is too old: 14 or later is needed")
endif()
execute_process(COMMAND ${LLVM_CONFIG} --includedir OUTPUT_VARIABLE LLVM_INCLUDE OUTPUT_STRIP_TRAILING_WHITESPACE)
execute_process(COMMAND ${LLVM_CONFIG} --libdir OUTPUT_VARIABLE LLVM_LIBDIR OUTPUT_STRIP_TRAILING_WHITESPACE)
execute_process(COMMAND ${LLVM_CONFIG} --link-shared --libs OUTPUT_VARIABLE LLVM_LIBS
		OUTPUT_STRIP_TRAILING_WHITESPACE)
message(STATUS "LLVM ${LLVM_VERSION} (${LLVM_CONFIG})")
add_library(hf_llvm INTERFACE)
target_include_directories(hf_llvm SYSTEM INTERFACE ${LLVM_INCLUDE})
target_link_libraries(hf_llvm INTERFACE -L${LLVM_LIBDIR} ${LLVM_LIBS})
