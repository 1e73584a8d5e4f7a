# SPDX-License-Identifier: Apache-2.0
# The extension for SQLite (mountd/sql): hartfs.so, in LIBDIR/hartfs as the plugin for QEMU is, and in the build directory
# beside the program. It needs sqlite3ext.h and libc, and asks "hartfs serve" for everything. hf_protocol is what both
# sides have of their messages. The extension is loaded into other programs, so no sanitizer comes along.
set(PROTOCOL_SOURCES mountd/sql/wire.c mountd/sql/messages.c)
add_library(hf_protocol STATIC ${PROTOCOL_SOURCES})

file(GLOB SQL_SOURCES CONFIGURE_DEPENDS mountd/sql/*.c)
add_library(hartfs_sql MODULE ${SQL_SOURCES})
set_target_properties(hartfs_sql PROPERTIES PREFIX "" OUTPUT_NAME hartfs LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR})
foreach(property COMPILE_OPTIONS LINK_OPTIONS)
	get_target_property(flags hartfs_sql ${property})
	list(FILTER flags EXCLUDE REGEX "sanitize|coverage|NOTFOUND|^-fPIE$|^-pie$")
	set_target_properties(hartfs_sql PROPERTIES ${property} "${flags}")
endforeach()
target_compile_options(hartfs_sql PRIVATE ${HARTFS_PIC})
target_include_directories(hartfs_sql PRIVATE ${SQLITE_INCLUDE_DIRS})
install(TARGETS hartfs_sql LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}/hartfs)

file(RELATIVE_PATH sql_to_bin /prefix/${CMAKE_INSTALL_LIBDIR}/hartfs /prefix/${CMAKE_INSTALL_BINDIR})
if(IS_ABSOLUTE ${CMAKE_INSTALL_BINDIR} OR IS_ABSOLUTE ${CMAKE_INSTALL_LIBDIR})
	file(RELATIVE_PATH sql_to_bin ${CMAKE_INSTALL_FULL_LIBDIR}/hartfs ${CMAKE_INSTALL_FULL_BINDIR})
endif()
set_source_files_properties(mountd/sql/child.c PROPERTIES COMPILE_DEFINITIONS HARTFS_BIN_FROM_PLUGIN="${sql_to_bin}")
