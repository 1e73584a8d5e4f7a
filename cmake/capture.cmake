# SPDX-License-Identifier: Apache-2.0
# The plugin for QEMU (contrib/capture), in LIBDIR/hartfs, where "hartfs record" finds it from its own place; in the build
# directory it lies beside the program. It needs nothing of QEMU's to be built. QEMU loads it, so no sanitizer comes along.
add_library(hartfs_capture MODULE contrib/capture/hartfs_capture.c)
set_target_properties(hartfs_capture PROPERTIES PREFIX "")
foreach(property COMPILE_OPTIONS LINK_OPTIONS)
	get_target_property(flags hartfs_capture ${property})
	list(FILTER flags EXCLUDE REGEX "sanitize|coverage|-Wconversion|-Wshadow|NOTFOUND|^-fPIE$|^-pie$")
	set_target_properties(hartfs_capture PROPERTIES ${property} "${flags}")
endforeach()
install(TARGETS hartfs_capture LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}/hartfs)

file(RELATIVE_PATH from_bin /prefix/${CMAKE_INSTALL_BINDIR} /prefix/${CMAKE_INSTALL_LIBDIR}/hartfs)
if(IS_ABSOLUTE ${CMAKE_INSTALL_BINDIR} OR IS_ABSOLUTE ${CMAKE_INSTALL_LIBDIR})
	file(RELATIVE_PATH from_bin ${CMAKE_INSTALL_FULL_BINDIR} ${CMAKE_INSTALL_FULL_LIBDIR}/hartfs)
endif()
set_source_files_properties(mountd/record_plan.c mountd/sql_command.c PROPERTIES COMPILE_DEFINITIONS HARTFS_PLUGIN_FROM_BIN="${from_bin}")
