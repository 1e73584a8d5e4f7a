# SPDX-License-Identifier: Apache-2.0
# While installing: makes the unit of that manager (system or user) from its source, for HARTFS_PROGRAM.
if(manager STREQUAL system)
	set(HARTFS_CONFIG /etc/hartfs/%i.conf)
	set(HARTFS_WANTED_BY multi-user.target)
else()
	set(HARTFS_CONFIG %E/hartfs/%i.conf)
	set(HARTFS_WANTED_BY default.target)
endif()
configure_file(${source} ${unit} @ONLY)
