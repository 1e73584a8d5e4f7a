# SPDX-License-Identifier: Apache-2.0
# Turns the scripts and styles of pictures, fs/profile/*.js and *.css, into a C file of bytes. Included by CMakeLists.txt it
# sets HARTFS_EMBEDDED_C and the command that makes it; as a script it is that command:
#   cmake -DIN=flame.js;flame.css -DOUT=embedded.c -P cmake/embed.cmake
# flame.js becomes hf_embedded_flame_js, which fs/profile/embedded.h declares.
if(NOT CMAKE_SCRIPT_MODE_FILE)
	file(GLOB EMBEDDED_SOURCES CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/fs/profile/*.js ${CMAKE_SOURCE_DIR}/fs/profile/*.css)
	set(HARTFS_EMBEDDED_C ${CMAKE_BINARY_DIR}/fs/embedded.c)
	add_custom_command(OUTPUT ${HARTFS_EMBEDDED_C}
		COMMAND ${CMAKE_COMMAND} "-DIN=${EMBEDDED_SOURCES}" -DOUT=${HARTFS_EMBEDDED_C}
			-P ${CMAKE_SOURCE_DIR}/cmake/embed.cmake
		DEPENDS ${EMBEDDED_SOURCES} ${CMAKE_SOURCE_DIR}/cmake/embed.cmake VERBATIM)
	return()
endif()

set(c "/* Made by cmake/embed.cmake. */\n#include \"fs/profile/embedded.h\"\n")
foreach(file ${IN})
	get_filename_component(name ${file} NAME)
	string(MAKE_C_IDENTIFIER ${name} name)
	file(READ ${file} bytes HEX)
	string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${bytes}")
	string(APPEND c "\nstatic const uint8_t ${name}[] = {${bytes}};\n")
	string(APPEND c "const struct hf_embedded hf_embedded_${name} = {${name}, sizeof ${name}};\n")
endforeach()
file(WRITE ${OUT} "${c}")
