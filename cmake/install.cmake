# SPDX-License-Identifier: Apache-2.0
# What "cmake --install" puts where, besides the manual pages; "cmake --build DIR --target uninstall" takes it away.
install(FILES contrib/completion/hartfs.bash DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions
	RENAME hartfs)
install(FILES README.md CHANGES.md DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(FILES contrib/systemd/mnt-traces.mount contrib/systemd/mnt-traces.automount
	contrib/systemd/hartfs-example.conf contrib/slurm/hartfs-index.sbatch
	DESTINATION ${CMAKE_INSTALL_DOCDIR}/examples)

# The same unit for the system's manager and for those of users; both find it below the prefix /usr.
set(HARTFS_PROGRAM ${CMAKE_INSTALL_FULL_BINDIR}/hartfs)
foreach(manager system user)
	if(manager STREQUAL system)
		set(HARTFS_CONFIG /etc/hartfs/%i.conf)
		set(HARTFS_WANTED_BY multi-user.target)
	else()
		set(HARTFS_CONFIG %E/hartfs/%i.conf)
		set(HARTFS_WANTED_BY default.target)
	endif()
	configure_file(contrib/systemd/hartfs@.service.in ${CMAKE_BINARY_DIR}/systemd/${manager}/hartfs@.service @ONLY)
	install(FILES ${CMAKE_BINARY_DIR}/systemd/${manager}/hartfs@.service DESTINATION lib/systemd/${manager})
endforeach()

add_custom_target(uninstall COMMAND ${CMAKE_COMMAND} -DMANIFEST=${CMAKE_BINARY_DIR}/install_manifest.txt
		  -P ${CMAKE_SOURCE_DIR}/cmake/uninstall.cmake VERBATIM)
