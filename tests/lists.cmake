# SPDX-License-Identifier: Apache-2.0
# Which test runs where. A test that no list names runs in the release build, whenever contrib/test.sh is called; those of
# unit/, prop/, codec/ and fuzz/ run in the sanitizer builds, too.

# Only with --all: the dearest, each more than 1 % of the time of all.
set(LONG_TESTS
	conformance.containers conformance.etrace_views conformance.ntrace conformance.opencsd conformance.program
	conformance.qemu_astf conformance.round_trip conformance.slices conformance.stf
	mount.access mount.adding mount.all mount.aside mount.attack mount.biases mount.damage mount.diff mount.examples
	mount.find mount.first_minute mount.hang mount.index_room mount.inlined mount.interrupt mount.overview
	mount.profile_more mount.record mount.signals mount.slice mount.spool mount.start mount.summary_kill mount.where
	sim.minute unit.index_resume unit.source_boxes unit.wrong_values)

if(HARTFS_SANITIZE STREQUAL thread)
	# Readers side by side, workers beside readers, what changes or ends meanwhile. The other scripts ask what is right,
	# of the same threads, at twenty times the price.
	set(SANITIZED_MOUNT_TESTS basic change direct index index_room inside ls packs profile prune readers side_files
		signals snapshot_sources spool sql summary undecoded wait)
else()
	# What is fed damage, foreign bytes or odd options, and one script for each command. What judges text needs no
	# sanitizer, nor does what asks much of code that another script has run.
	set(SANITIZED_MOUNT_TESTS basic change checksums complaints completion corpus damage debug_dir described descriptors
		diff doubt errors etrace_framings expansion find hang holes index index_room info interrupt limits ls
		no_memory ntrace_frames odd_names options packet_harts packs perf_data prune readers sandbox side_files
		signals snapshot_sources spool sql state summary_kill undecoded unknown unreadable wait where
		wrong_program)
endif()
