# SPDX-License-Identifier: Apache-2.0
# What "cmake --install" puts where, besides the manual pages; "cmake --build DIR --target uninstall" takes it away.
install(FILES contrib/completion/hartfs.bash DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions
	RENAME hartfs)
install(FILES contrib/completion/_hartfs DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions)
install(FILES contrib/completion/hartfs.fish DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d)
install(FILES README.md CHANGES.md LICENSE debian/copyright DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(FILES contrib/systemd/mnt-traces.mount contrib/systemd/mnt-traces.automount
	contrib/systemd/hartfs-example.conf contrib/systemd/hartfs.logrotate contrib/slurm/hartfs-index.sbatch
	contrib/examples/count_opcodes.c contrib/examples/print_function.c
	DESTINATION ${CMAKE_INSTALL_DOCDIR}/examples)

# What hartfs-tutorial(7) and README begin with.
install(DIRECTORY tests/data/archive/boot tests/data/archive/mini DESTINATION ${CMAKE_INSTALL_DATADIR}/hartfs/samples)
install(FILES tests/data/archive/notes.md tests/data/astf/a64-sys.astf DESTINATION ${CMAKE_INSTALL_DATADIR}/hartfs/samples)

# For PYTHONPATH.
install(FILES contrib/python/hartfs.py DESTINATION ${CMAKE_INSTALL_DATADIR}/hartfs/python)

# The same unit for the system's manager and for those of users; both find it below the prefixes /usr and /usr/local.
# It is made when it is installed: the prefix may be another one than that of the build, as it is in a package.
if(NOT IS_ABSOLUTE ${CMAKE_INSTALL_BINDIR})
	set(bindir_below_prefix "\${CMAKE_INSTALL_PREFIX}/")
endif()
foreach(manager system user)
	install(CODE "
	get_filename_component(HARTFS_PROGRAM \"${bindir_below_prefix}${CMAKE_INSTALL_BINDIR}/hartfs\" ABSOLUTE)
	set(manager ${manager})
	set(source \"${CMAKE_SOURCE_DIR}/contrib/systemd/hartfs@.service.in\")
	set(unit \"${CMAKE_BINARY_DIR}/systemd/${manager}/hartfs@.service\")
	include(\"${CMAKE_SOURCE_DIR}/cmake/unit.cmake\")")
	install(FILES ${CMAKE_BINARY_DIR}/systemd/${manager}/hartfs@.service DESTINATION lib/systemd/${manager})
endforeach()

add_custom_target(uninstall COMMAND ${CMAKE_COMMAND} -DMANIFEST=${CMAKE_BINARY_DIR}/install_manifest.txt
		  -P ${CMAKE_SOURCE_DIR}/cmake/uninstall.cmake VERBATIM)
