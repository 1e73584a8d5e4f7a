# SPDX-License-Identifier: Apache-2.0
# hartfs_llvm.so: the parts of LLVM that disassemble RISC-V and Arm, and nothing else of it. LLVM's own library is of 130 MB
# and takes six times as long to load. It lies in LIBDIR/hartfs as the plugin for QEMU does, and in the build directory beside
# the program. It exports the functions of codecs/isa/llvm.def. LLVM's library is what is loaded where this one is missing.
if(NOT HARTFS_LLVM STREQUAL module)
	return()
endif()

file(STRINGS codecs/isa/llvm.def LLVM_FUNCTIONS REGEX "^HF_LLVM")
list(TRANSFORM LLVM_FUNCTIONS REPLACE "HF_LLVM\\((.*)\\)" "\\1")
if(LLVM_VERSION VERSION_LESS 16)
	list(REMOVE_ITEM LLVM_FUNCTIONS LLVMGetVersion)
endif()
list(JOIN LLVM_FUNCTIONS "; " exported)
file(CONFIGURE OUTPUT llvm_module.map CONTENT "{ global: ${exported}; local: *; };\n")
file(CONFIGURE OUTPUT llvm_module.c CONTENT "/* All of it is LLVM's. */\n")

add_library(hartfs_llvm MODULE ${CMAKE_BINARY_DIR}/llvm_module.c)
set_target_properties(hartfs_llvm PROPERTIES PREFIX "" LINKER_LANGUAGE CXX LINK_DEPENDS ${CMAKE_BINARY_DIR}/llvm_module.map)
foreach(property COMPILE_OPTIONS LINK_OPTIONS)
	get_target_property(flags hartfs_llvm ${property})
	list(FILTER flags EXCLUDE REGEX "sanitize|coverage|NOTFOUND|^-fPIE$|^-pie$")
	set_target_properties(hartfs_llvm PROPERTIES ${property} "${flags}")
endforeach()
# Nine tenths of the pointers that loading would have to set are the names in tables for schedulers, which nothing here reads:
# copies of the libraries without these relocations are linked where they can be made.
foreach(target RISCV AArch64 ARM)
	execute_process(COMMAND ${CMAKE_OBJCOPY} --wildcard --remove-relocations=.data.rel.ro.*SchedClasses*
			${LLVM_LIBDIR}/libLLVM${target}Desc.a ${CMAKE_BINARY_DIR}/libLLVM${target}Desc.a
			OUTPUT_QUIET ERROR_QUIET RESULT_VARIABLE whole)
	if(whole)
		file(REMOVE ${CMAKE_BINARY_DIR}/libLLVM${target}Desc.a)
	endif()
endforeach()
list(PREPEND LLVM_STATIC -L${CMAKE_BINARY_DIR})
list(TRANSFORM LLVM_FUNCTIONS PREPEND "-Wl,-u,")
target_link_options(hartfs_llvm PRIVATE ${LLVM_FUNCTIONS} -Wl,--version-script=${CMAKE_BINARY_DIR}/llvm_module.map -Wl,--gc-sections
		    -static-libstdc++ -static-libgcc)
target_link_libraries(hartfs_llvm PRIVATE ${LLVM_STATIC})
install(TARGETS hartfs_llvm LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}/hartfs)

set_property(SOURCE codecs/isa/llvm.c APPEND PROPERTY COMPILE_DEFINITIONS HARTFS_LLVM_FROM_BIN="${from_bin}"
	     HARTFS_LLVM_INSTALLED="${CMAKE_INSTALL_FULL_LIBDIR}/hartfs")
