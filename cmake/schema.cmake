# SPDX-License-Identifier: Apache-2.0
# Turns index/schema.sql into a C file with the statements of each kind of file, comments stripped. Included by
# CMakeLists.txt it sets HARTFS_SCHEMA_C and the command that makes it; as a script it is that command:
#   cmake -DIN=index/schema.sql -DOUT=schema.c -P cmake/schema.cmake
if(NOT CMAKE_SCRIPT_MODE_FILE)
	set(HARTFS_SCHEMA_C ${CMAKE_BINARY_DIR}/index/schema.c)
	add_custom_command(OUTPUT ${HARTFS_SCHEMA_C}
		COMMAND ${CMAKE_COMMAND} -DIN=${CMAKE_SOURCE_DIR}/index/schema.sql -DOUT=${HARTFS_SCHEMA_C}
			-P ${CMAKE_SOURCE_DIR}/cmake/schema.cmake
		DEPENDS ${CMAKE_SOURCE_DIR}/index/schema.sql ${CMAKE_SOURCE_DIR}/cmake/schema.cmake)
	return()
endif()

# Statements end with ";" at the end of a line; a list would be split there, so another character stands for it.
file(READ ${IN} sql)
string(REPLACE ";" "@" sql "${sql}")
string(REGEX REPLACE "-- ==== decode index[^\n]*\n" "#index " sql "${sql}")
string(REGEX REPLACE "-- ==== view table[^\n]*\n" "#view " sql "${sql}")
string(REGEX REPLACE "-- ==== times[^\n]*\n" "#times " sql "${sql}")
string(REGEX REPLACE "-- ==== summary[^\n]*\n" "#summary " sql "${sql}")
string(REGEX REPLACE "-- ==== catalogue[^\n]*\n" "#catalogue " sql "${sql}")
string(REGEX REPLACE "-- ==== pack[^\n]*\n" "#pack " sql "${sql}")
string(REGEX REPLACE "--[^\n]*" "" sql "${sql}")
string(REGEX REPLACE "[ \t\n]+" " " sql "${sql}")
string(REGEX REPLACE "\\( " "(" sql "${sql}")
string(REGEX REPLACE " \\)" ")" sql "${sql}")

set(c "/* Made from index/schema.sql by cmake/schema.cmake. */\n#include \"index/table/db.h\"\n")
foreach(kind index view times summary catalogue pack)
	string(REGEX MATCH "#${kind} ([^#]*)" section "${sql}")
	string(REGEX MATCHALL "CREATE [^@]*@" statements "${CMAKE_MATCH_1}")
	if(kind STREQUAL "pack")
		list(APPEND statements ${packed})
	endif()
	string(APPEND c "\nconst char *const hf_schema_${kind}[] = {\n")
	foreach(statement ${statements})
		string(REPLACE "@" "" statement "${statement}")
		string(APPEND c "\t\"${statement}\",\n")
		# In a pack the tables have the rows of many parts.
		if(kind MATCHES "index|view|times")
			string(REGEX REPLACE "TABLE ([a-z]+) \\([a-z_]+ INTEGER PRIMARY KEY( CHECK [^,]*)?," "TABLE \\1 (rowid INTEGER NOT NULL,"
				statement "${statement}")
			string(REGEX REPLACE "\\) STRICT$" ", part INTEGER NOT NULL, PRIMARY KEY (part, rowid)) STRICT, WITHOUT ROWID@"
				statement "${statement}")
			if(NOT kind STREQUAL "index")
				string(REPLACE "CREATE TABLE " "CREATE TABLE view_" statement "${statement}")
			endif()
			list(APPEND packed "${statement}")
		endif()
	endforeach()
	string(APPEND c "\tNULL,\n};\n")
endforeach()
file(WRITE ${OUT} "${c}")
