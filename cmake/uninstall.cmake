# SPDX-License-Identifier: Apache-2.0
# Removes the files that the last "cmake --install" of a build directory wrote down in its MANIFEST.
if(NOT EXISTS ${MANIFEST})
	message(FATAL_ERROR "nothing was installed from here: there is no ${MANIFEST}")
endif()
file(STRINGS ${MANIFEST} files)
foreach(file ${files})
	if(EXISTS $ENV{DESTDIR}${file} OR IS_SYMLINK $ENV{DESTDIR}${file})
		message(STATUS "removing $ENV{DESTDIR}${file}")
		file(REMOVE $ENV{DESTDIR}${file})
	endif()
endforeach()
