# SPDX-License-Identifier: Apache-2.0
# Turns the manual pages, hartfs*.SECTION.md, into a C file: the topics of hartfs help. Included by CMakeLists.txt it sets
# HARTFS_TOPICS_C and the command that makes it; as a script it is that command:
#   cmake -DIN=hartfs.1.md;hartfs-views.5.md -DOUT=topics.c -P cmake/topics.cmake
if(NOT CMAKE_SCRIPT_MODE_FILE)
	file(GLOB TOPIC_PAGES CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/mountd/hartfs*.[0-9].md
		${CMAKE_SOURCE_DIR}/index/hartfs*.[0-9].md ${CMAKE_SOURCE_DIR}/fs/hartfs*.[0-9].md)
	list(SORT TOPIC_PAGES COMPARE FILE_BASENAME)
	set(HARTFS_TOPICS_C ${CMAKE_BINARY_DIR}/mountd/topics.c)
	add_custom_command(OUTPUT ${HARTFS_TOPICS_C}
		COMMAND ${CMAKE_COMMAND} "-DIN=${TOPIC_PAGES}" -DOUT=${HARTFS_TOPICS_C}
			-P ${CMAKE_SOURCE_DIR}/cmake/topics.cmake
		DEPENDS ${TOPIC_PAGES} ${CMAKE_SOURCE_DIR}/cmake/topics.cmake VERBATIM)
	return()
endif()

set(c "/* Made by cmake/topics.cmake. */\n#include \"mountd/topic.h\"\n")
set(rows "")
foreach(file ${IN})
	get_filename_component(name ${file} NAME_WLE)
	get_filename_component(section ${name} LAST_EXT)
	get_filename_component(name ${name} NAME_WLE)
	string(REPLACE . "" section ${section})
	string(MAKE_C_IDENTIFIER ${name}_${section} symbol)
	file(READ ${file} bytes HEX)
	string(REGEX REPLACE "([0-9a-f][0-9a-f])" "'\\\\x\\1'," bytes "${bytes}")
	string(APPEND c "\nstatic const char ${symbol}[] = {${bytes}0};\n")
	string(APPEND rows "\t{\"${name}\", ${section}, ${symbol}},\n")
endforeach()
string(APPEND c "\nconst struct hf_topic hf_topics[] = {\n${rows}\t{NULL, 0, NULL},\n};\n")
file(WRITE ${OUT} "${c}")
