# SPDX-License-Identifier: Apache-2.0
# A Debian package of what is installed: cmake --preset release, build, then cpack in build/release. Library
# dependencies are found by dpkg-shlibdeps (package dpkg-dev); cpack itself calls file.
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME hartfs)
set(CPACK_PACKAGE_CONTACT "The hartfs authors <hartfs@localhost>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "processor traces as files, each capture in every format it can have")
set(CPACK_PACKAGE_DESCRIPTION
    "Mounts a directory of processor-trace captures. For every hart of every capture there are read-only files,
made when they are read: an annotated listing and the same trace in other trace formats.")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION utils)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
# fusermount3 and mount.fuse3, for ordinary users and for mount(8).
set(CPACK_DEBIAN_PACKAGE_DEPENDS "fuse3")
# For hartfs record: programs, and machines.
set(CPACK_DEBIAN_PACKAGE_RECOMMENDS "qemu-user, sqlite3")
set(CPACK_DEBIAN_PACKAGE_SUGGESTS "qemu-system-misc, g++-riscv64-linux-gnu, g++-aarch64-linux-gnu")
# What is loaded by name is nothing that dpkg-shlibdeps sees.
if(HARTFS_LLVM STREQUAL loaded)
	execute_process(COMMAND dpkg-query -S ${LLVM_FILE} OUTPUT_VARIABLE owner OUTPUT_STRIP_TRAILING_WHITESPACE
			ERROR_QUIET RESULT_VARIABLE status)
	if(status EQUAL 0 AND owner MATCHES "^([^:, ]+)")
		string(APPEND CPACK_DEBIAN_PACKAGE_DEPENDS ", ${CMAKE_MATCH_1}")
	endif()
endif()
include(CPack)
