# SPDX-License-Identifier: Apache-2.0
# The manual pages from their Markdown sources, with pandoc if it is there; without it there are none.
find_program(PANDOC pandoc DOC "pandoc, for the manual pages")
set(HARTFS_MANPAGES mountd/hartfs.1 mountd/hartfs-views.5 index/hartfs-index.5 mountd/hartfs-security.7
    mountd/hartfs-limits.7)
if(NOT PANDOC)
	message(STATUS "no pandoc: the manual pages are not built")
	return()
endif()
foreach(page ${HARTFS_MANPAGES})
	get_filename_component(name ${page} NAME)
	get_filename_component(section ${page} LAST_EXT)
	string(REPLACE . "" section ${section})
	add_custom_command(OUTPUT ${CMAKE_BINARY_DIR}/man/${name}
		COMMAND ${CMAKE_COMMAND} -E make_directory ${CMAKE_BINARY_DIR}/man
		COMMAND ${PANDOC} --standalone --from markdown --to man --output ${CMAKE_BINARY_DIR}/man/${name}
			${CMAKE_SOURCE_DIR}/${page}.md
		DEPENDS ${CMAKE_SOURCE_DIR}/${page}.md VERBATIM)
	list(APPEND HARTFS_MAN_FILES ${CMAKE_BINARY_DIR}/man/${name})
	install(FILES ${CMAKE_BINARY_DIR}/man/${name} DESTINATION ${CMAKE_INSTALL_MANDIR}/man${section})
endforeach()
add_custom_target(man ALL DEPENDS ${HARTFS_MAN_FILES})
