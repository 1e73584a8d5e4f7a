# SPDX-License-Identifier: Apache-2.0
# The manual pages from their Markdown sources, hartfs*.SECTION.md, with pandoc if it is there; without it those that a
# release has in man/ (contrib/release.sh), or none.
find_program(PANDOC pandoc DOC "pandoc, for the manual pages")
if(NOT PANDOC)
	file(GLOB pages man/*.[0-9])
	foreach(page ${pages})
		string(REGEX MATCH "[0-9]$" section ${page})
		install(FILES ${page} DESTINATION ${CMAKE_INSTALL_MANDIR}/man${section})
	endforeach()
	if(pages)
		return()
	endif()
	message(STATUS "no pandoc: the manual pages are not built")
	return()
endif()
file(GLOB pages RELATIVE ${CMAKE_SOURCE_DIR} CONFIGURE_DEPENDS mountd/hartfs*.[0-9].md index/hartfs*.[0-9].md fs/hartfs*.[0-9].md)
foreach(page ${pages})
	get_filename_component(name ${page} NAME_WLE)
	get_filename_component(section ${name} LAST_EXT)
	string(REPLACE . "" section ${section})
	add_custom_command(OUTPUT ${CMAKE_BINARY_DIR}/man/${name}
		COMMAND ${CMAKE_COMMAND} -E make_directory ${CMAKE_BINARY_DIR}/man
		COMMAND ${PANDOC} --standalone --from markdown --to man
			--metadata "footer=hartfs ${PROJECT_VERSION}" --metadata date=${HARTFS_DATE} --output ${CMAKE_BINARY_DIR}/man/${name}
			${CMAKE_SOURCE_DIR}/${page}
		DEPENDS ${CMAKE_SOURCE_DIR}/${page} VERBATIM)
	list(APPEND HARTFS_MAN_FILES ${CMAKE_BINARY_DIR}/man/${name})
	install(FILES ${CMAKE_BINARY_DIR}/man/${name} DESTINATION ${CMAKE_INSTALL_MANDIR}/man${section})
endforeach()
add_custom_target(man ALL DEPENDS ${HARTFS_MAN_FILES})
