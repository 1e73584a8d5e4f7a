# SPDX-License-Identifier: Apache-2.0
# Hardening of everything that is built, what the compiler and the linker know of it; and no path of this machine in
# what they write. HARTFS_HARDEN=OFF leaves the flags to whoever packages.
include(CheckCCompilerFlag)
include(CheckLinkerFlag)
option(HARTFS_HARDEN "Stack protector, fortified libc calls, read-only relocations, control-flow protection" ON)

# harden_compiler(FLAG): used where the compiler takes it for this machine.
function(harden_compiler flag)
	string(MAKE_C_IDENTIFIER "HAVE${flag}" have)
	set(CMAKE_REQUIRED_FLAGS -Werror)
	check_c_compiler_flag(${flag} ${have})
	if(${have})
		add_compile_options(${flag})
	endif()
endfunction()

function(harden_linker flag)
	string(MAKE_C_IDENTIFIER "HAVE${flag}" have)
	check_linker_flag(C ${flag} ${have})
	if(${have})
		add_link_options(${flag})
	endif()
endfunction()

# Both directories, the inner one last: the compiler takes the last that fits.
foreach(place "${CMAKE_SOURCE_DIR}=." "${CMAKE_BINARY_DIR}=build")
	harden_compiler(-ffile-prefix-map=${place})
endforeach()

if(HARTFS_HARDEN)
	# Not CMake's own way: that makes static libraries fit for shared ones, which costs time.
	harden_compiler(-fPIE)
	harden_linker(-pie)
	harden_compiler(-fstack-protector-strong)
	harden_compiler(-fstack-clash-protection)
	if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64|i.86")
		harden_compiler(-fcf-protection=full)
		# The start files of many a libc are not marked, and would unmark the whole. They are harmless to a
		# shadow stack; whether they may be jumped to is theirs to say.
		harden_linker(-Wl,-z,shstk)
	elseif(CMAKE_SYSTEM_PROCESSOR MATCHES "aarch64|arm64")
		harden_compiler(-mbranch-protection=standard)
	endif()
	harden_linker(-Wl,-z,relro)
	harden_linker(-Wl,-z,now)
	harden_linker(-Wl,-z,noexecstack)
	# Needs optimisation, and sanitizers check the same calls themselves. A level that is asked for by whoever
	# packages is raised, not doubled.
	if(NOT HARTFS_SANITIZE AND NOT CMAKE_BUILD_TYPE STREQUAL Debug)
		add_compile_options(-U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=3)
	endif()
endif()
