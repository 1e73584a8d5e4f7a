# SPDX-License-Identifier: Apache-2.0
# Which test runs where. A test that no list names runs in the release build, whenever contrib/test.sh is called; those of
# unit/, prop/, codec/ and fuzz/ run in the sanitizer builds, too.

# Only with --all: the dearest, each more than 1 % of the time of all.
set(LONG_TESTS
	conformance.containers conformance.etrace_accesses conformance.etrace_views conformance.ntrace
	conformance.opencsd conformance.perf conformance.program conformance.qemu_astf conformance.qemu_stf
	conformance.round_trip conformance.slices conformance.stf conformance.threads mount.adding mount.aside
	mount.attack mount.biases mount.browser mount.calls mount.descriptors mount.diff mount.examples mount.fdo
	mount.find mount.first_minute mount.hang mount.inlined mount.interrupt mount.memory mount.no_memory
	mount.profile_more mount.record mount.spool mount.summary_kill mount.threads mount.where prop.slice sim.minute
	unit.block_source unit.chunk_cache unit.index_parallel unit.index_resume unit.index_stf
	unit.index_summary_resume unit.source_boxes unit.wrong_values)

if(HARTFS_SANITIZE STREQUAL thread)
	# Readers side by side, workers beside readers, what changes or ends meanwhile. The other scripts ask what is right,
	# of the same threads, at twenty times the price. So do these; and what is killed ends before a sanitizer says anything.
	set(UNSANITIZED_TESTS prop.slice unit.fs_compare unit.fs_damage unit.index_resume unit.index_summary_resume
		unit.wrong_values)
	set(SANITIZED_MOUNT_TESTS basic change direct index inside ls packs prune readers side_files signals
		snapshot_sources spool sql undecoded)
else()
	# What is fed damage, foreign bytes or odd options, and one script for each command. What judges text needs no
	# sanitizer, nor does what asks much of code that another test has run, or what ThreadSanitizer gets.
	set(UNSANITIZED_TESTS codec.calls codec.chunks codec.digests codec.places codec.runs codec.summary codec.versions
		unit.chunk_cache unit.index_parallel unit.index_resume unit.index_stf unit.index_summary_resume)
	set(SANITIZED_MOUNT_TESTS basic change checksums complaints completion corpus damage debug_dir described descriptors
		doubt errors etrace_framings expansion find hang holes index index_room info interrupt limits ls
		no_memory ntrace_frames odd_names options packet_harts packs perf_data prune readers sandbox side_files
		signals snapshot_sources spool sql state undecoded unknown unreadable wrong_program)
endif()
