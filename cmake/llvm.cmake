# SPDX-License-Identifier: Apache-2.0
# LLVM's C disassembler as the target hf_llvm: the newest llvm-config found from 19 down to 14, or the one given.
# Its library is large, and the commands that need no disassembly start without it. HARTFS_LLVM says how the others get it:
#   module   they load hartfs_llvm.so, which has just these parts of LLVM (cmake/llvm_module.cmake)
#   loaded   they load LLVM's own library; so too where LLVM comes without static libraries, or there is no C++ compiler
#   shared   LLVM's own library is linked, and loaded at every start
#   static   the parts are a part of the program
set(HARTFS_LLVM module CACHE STRING "How the program gets LLVM: module, loaded, shared, static")
set_property(CACHE HARTFS_LLVM PROPERTY STRINGS module loaded shared static)
find_program(LLVM_CONFIG NAMES llvm-config-19 llvm-config-18 llvm-config-17 llvm-config-16 llvm-config-15
	     llvm-config-14 llvm-config DOC "llvm-config of LLVM >= 14")
if(NOT LLVM_CONFIG)
	message(FATAL_ERROR "LLVM (>= 14, 19 preferred) with its development files is needed: llvm-19-dev")
endif()

# llvm_config(VARIABLE ARGUMENT...): what llvm-config answers.
function(llvm_config variable)
	execute_process(COMMAND ${LLVM_CONFIG} ${ARGN} OUTPUT_VARIABLE answer OUTPUT_STRIP_TRAILING_WHITESPACE
			COMMAND_ERROR_IS_FATAL ANY)
	# It does not know that it lies in the root of another machine.
	string(REGEX REPLACE "(^|[ \n])/usr/" "\\1${CMAKE_SYSROOT}/usr/" answer "${answer}")
	set(${variable} "${answer}" PARENT_SCOPE)
endfunction()

llvm_config(LLVM_VERSION --version)
if(LLVM_VERSION VERSION_LESS 14)
	message(FATAL_ERROR "LLVM ${LLVM_VERSION} is too old: 14 or later is needed")
endif()
llvm_config(LLVM_INCLUDE --includedir)
llvm_config(LLVM_LIBDIR --libdir)
set(LLVM_PARTS core mcdisassembler armdisassembler aarch64disassembler riscvdisassembler)
if(HARTFS_LLVM STREQUAL module)
	include(CheckLanguage)
	check_language(CXX)
	execute_process(COMMAND ${LLVM_CONFIG} --link-static --libs ${LLVM_PARTS} OUTPUT_QUIET ERROR_QUIET RESULT_VARIABLE missing)
	if(missing OR NOT CMAKE_CXX_COMPILER)
		set(HARTFS_LLVM loaded)
	endif()
endif()
message(STATUS "LLVM ${LLVM_VERSION} (${LLVM_CONFIG}), ${HARTFS_LLVM}")
add_library(hf_llvm INTERFACE)
target_include_directories(hf_llvm SYSTEM INTERFACE ${LLVM_INCLUDE})

if(HARTFS_LLVM MATCHES "^(module|static)$")
	# LLVM itself is C++.
	enable_language(CXX)
	llvm_config(LLVM_STATIC --link-static --libs --system-libs ${LLVM_PARTS})
	# A line each for the libraries of LLVM and of the system.
	string(REGEX REPLACE "[ \n]+" ";" LLVM_STATIC "${LLVM_STATIC}")
	list(PREPEND LLVM_STATIC -L${LLVM_LIBDIR})
endif()
if(HARTFS_LLVM STREQUAL static)
	target_link_libraries(hf_llvm INTERFACE ${LLVM_STATIC} stdc++ m)
	return()
endif()

llvm_config(LLVM_LIBS --link-shared --libs)
add_library(hf_llvm_linked INTERFACE)
target_link_libraries(hf_llvm_linked INTERFACE hf_llvm -L${LLVM_LIBDIR} ${LLVM_LIBS})
if(HARTFS_LLVM STREQUAL shared)
	target_link_libraries(hf_llvm INTERFACE -L${LLVM_LIBDIR} ${LLVM_LIBS})
	return()
elseif(NOT HARTFS_LLVM MATCHES "^(module|loaded)$")
	message(FATAL_ERROR "HARTFS_LLVM is module, loaded, shared or static, not ${HARTFS_LLVM}")
endif()

# By the name that the linker would have written into the program.
llvm_config(LLVM_FILE --link-shared --libfiles)
file(REAL_PATH "${LLVM_FILE}" LLVM_FILE)
execute_process(COMMAND ${CMAKE_READELF} -d ${LLVM_FILE} OUTPUT_VARIABLE LLVM_DYNAMIC COMMAND_ERROR_IS_FATAL ANY)
if(NOT LLVM_DYNAMIC MATCHES "SONAME[^[]*\\[([^]]+)\\]")
	message(FATAL_ERROR "${LLVM_FILE} has no name to be loaded by; HARTFS_LLVM=shared links it")
endif()
set(HARTFS_LLVM_LIBRARY ${CMAKE_MATCH_1})
set_source_files_properties(codecs/isa/llvm.c PROPERTIES COMPILE_DEFINITIONS
			    HARTFS_LLVM_LIBRARY="${HARTFS_LLVM_LIBRARY}")
target_link_libraries(hf_llvm INTERFACE ${CMAKE_DL_LIBS})
