# SPDX-License-Identifier: Apache-2.0
# libhartfs, shared and static: codecs, index and fs behind fs/hartfs.h, with a file for pkg-config. The shared one
# exports the functions of that header and nothing else (cmake/libhartfs.map); programs of this project do not use it,
# but the same objects.
set(LIBHARTFS_OBJECTS $<TARGET_OBJECTS:hf_codecs> $<TARGET_OBJECTS:hf_index> $<TARGET_OBJECTS:hf_fs>)
set(LIBHARTFS_NEEDS PkgConfig::SQLITE PkgConfig::LZMA PkgConfig::ZLIB PkgConfig::DEFLATE PkgConfig::ZSTD PkgConfig::XXHASH
    Threads::Threads hf_llvm hf_demangle)
set(LIBHARTFS_MAP ${CMAKE_SOURCE_DIR}/cmake/libhartfs.map)

add_library(hartfs_static STATIC ${LIBHARTFS_OBJECTS})
add_library(hartfs_shared SHARED ${LIBHARTFS_OBJECTS})
# SQLite and LLVM keep what points into the library, so it is never unloaded.
target_link_options(hartfs_shared PRIVATE -Wl,--version-script=${LIBHARTFS_MAP} -Wl,-z,nodelete)
set_property(TARGET hartfs_shared PROPERTY LINK_DEPENDS ${LIBHARTFS_MAP})
# The number goes up when a program that was built with an older library would no longer run; the map's name with it.
set_target_properties(hartfs_shared PROPERTIES VERSION ${PROJECT_VERSION} SOVERSION 0)
foreach(library hartfs_static hartfs_shared)
	set_target_properties(${library} PROPERTIES OUTPUT_NAME hartfs LINKER_LANGUAGE C)
	target_link_libraries(${library} PRIVATE ${LIBHARTFS_NEEDS})
endforeach()

# What a program that links the static library links too.
get_target_property(LIBHARTFS_LLVM hf_llvm INTERFACE_LINK_LIBRARIES)
get_target_property(LIBHARTFS_DEMANGLE hf_demangle INTERFACE_LINK_LIBRARIES)
set(LIBHARTFS_PRIVATE ${CMAKE_THREAD_LIBS_INIT})
foreach(library ${LIBHARTFS_LLVM} ${LIBHARTFS_DEMANGLE})
	if(library MATCHES "^[-/]")
		list(APPEND LIBHARTFS_PRIVATE ${library})
	elseif(library)
		list(APPEND LIBHARTFS_PRIVATE -l${library})
	endif()
endforeach()
list(JOIN LIBHARTFS_PRIVATE " " LIBHARTFS_PRIVATE)

# find_package(hartfs) gives hartfs::hartfs.
set_target_properties(hartfs_shared PROPERTIES EXPORT_NAME hartfs)
install(TARGETS hartfs_shared EXPORT hartfs LIBRARY COMPONENT Unspecified NAMELINK_COMPONENT dev
	INCLUDES DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(EXPORT hartfs NAMESPACE hartfs:: FILE hartfs-config.cmake DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/hartfs
	COMPONENT dev)
include(CMakePackageConfigHelpers)
write_basic_package_version_file(hartfs-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_BINARY_DIR}/hartfs-config-version.cmake DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/hartfs
	COMPONENT dev)
install(TARGETS hartfs_static ARCHIVE COMPONENT dev)
install(FILES fs/hartfs.h TYPE INCLUDE COMPONENT dev)
# Made when it is installed, as the units are: the prefix may be another one than that of the build.
install(CODE "
	set(PROJECT_VERSION ${PROJECT_VERSION})
	set(LIBHARTFS_PRIVATE \"${LIBHARTFS_PRIVATE}\")
	set(libdir ${CMAKE_INSTALL_LIBDIR})
	set(includedir ${CMAKE_INSTALL_INCLUDEDIR})
	get_filename_component(prefix \"\${CMAKE_INSTALL_PREFIX}\" ABSOLUTE)
	configure_file(\"${CMAKE_SOURCE_DIR}/cmake/hartfs.pc.in\" \"${CMAKE_BINARY_DIR}/hartfs.pc\" @ONLY)"
	COMPONENT dev)
install(FILES ${CMAKE_BINARY_DIR}/hartfs.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT dev)
