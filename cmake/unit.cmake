# SPDX-License-Identifier: Apache-2.0
# While installing: makes the unit of that manager (system or user) from its source, for HARTFS_PROGRAM.
if(manager STREQUAL system)
	set(HARTFS_CONFIG /etc/hartfs/%i.conf)
	set(HARTFS_WANTED_BY multi-user.target)
	cmake_path(GET source PARENT_PATH directory)
	file(READ ${directory}/system-hardening.conf HARTFS_HARDENING)
	string(REGEX REPLACE "# SPDX[^\n]*\n" "" HARTFS_HARDENING "${HARTFS_HARDENING}")
else()
	set(HARTFS_CONFIG %E/hartfs/%i.conf)
	set(HARTFS_WANTED_BY default.target)
	# A user mounts through fusermount3, whose privileges these would take.
	set(HARTFS_HARDENING)
endif()
configure_file(${source} ${unit} @ONLY)
