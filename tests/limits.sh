#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# hartfs-limits(7) is true: each limit has in the source the value that the page gives, and every error of the class
# "limit" has its words there: limits.sh SOURCE_DIRECTORY
set -u
cd "$1" || exit 1
page=mountd/hartfs-limits.7.md
status=0 count=0
bad() {
	echo "$*"
	status=1
}

declare -A texts
IFS= read -rd '' all <"$page"
# FILE NAME VALUE-IN-THE-SOURCE WORDS-ON-THE-PAGE
while IFS='@' read -r file name value words; do
	count=$((count + 1))
	[ "${texts[$file]-}" ] || IFS= read -rd '' "texts[$file]" <"$file"
	pattern="\\b$name( =)?[[:blank:]]+"
	[[ ${texts[$file]-} =~ $pattern"$value"([^0-9a-z]|$) ]] || bad "$file: $name is not $value any more: $page says '$words'"
	[[ $all == *"$words"* ]] || bad "$page: nothing of '$words' ($file, $name)"
done <<'END'
index/base/limits.h@HF_MERGED_HARTS@4096u@harts in *all/listing.txt* | 4,096
index/summary/call.h@HF_CALL_NODES@(1u << 17)@131,072
index/summary/call.h@HF_CALL_DEPTH@1024u@calls and traps that a context is in | 1,024
index/summary/call.h@HF_CALL_FRAMES@(1u << 18)@262,144
codecs/perf/look.h@HF_PERF_LOOK_MAX@(UINT64_C(16) << 20)@16 MiB, the trace itself not counted
codecs/perf/look.h@HF_PERF_GLANCE_MAX@(UINT64_C(1) << 20)@1 MiB if the header has no index
codecs/perf/recordings.h@HF_PERF_RECORDINGS_MAX@(1u << 20)@1,048,576, in 4,194,304 AUXTRACE
codecs/perf/recordings.h@HF_PERF_PIECES_MAX@(1u << 22)@1,048,576, in 4,194,304 AUXTRACE
codecs/perf/maps.h@HF_PERF_EVENTS_MAX@1 << 21@2,097,152 mappings and threads
codecs/perf/maps.h@HF_PERF_OBJECTS_MAX@1 << 16@of 65,536 files
codecs/perf/maps.h@HF_PERF_SPACES_MAX@1 << 20@1,048,576 programs
codecs/perf/spaces.c@MAPS_MAX@4096@4,096 pieces of code in a process
codecs/image/kallsyms.h@HF_KALLSYMS_MAX@(UINT64_C(128) << 20)@128 MiB of *kallsyms*
codecs/perf/programs.c@KERNEL_SPANS@64@64 pieces of the kernel
codecs/perf/programs.c@PLACES_MAX@1024@1,024 places in all that give names
fs/profile/transfers.h@HF_TRANSFERS_MAX@(UINT32_C(1) << 21)@pairs of a jump and where it went, for *fdo* | 2,097,152
fs/profile/flame.c@DATA_MAX@700 << 10@frames in *flame.svg* | 716,800 bytes
fs/profile/escape.h@HF_ESCAPE_NAME@((size_t)256)@name in a picture | 256 bytes
fs/profile/speedscope.c@STACKS_MAX@(UINT64_C(64) << 20)@stacks in *stacks.folded* and *speedscope.json* | 64 MiB
fs/profile/block_map.h@HF_BLOCK_ROWS@160u@rows of code and of data in *overview.svg* | 160 each
fs/profile/timeline.h@HF_TIMELINE_COLUMNS@1600u@columns of *overview.svg* | 1,600
fs/profile/timeline_source.h@HF_PICTURE_DECODED@(UINT64_C(2) << 20)@if there is a summary | 2,097,152
fs/profile/perfetto.c@FILE_MAX@((size_t)1 << 20)@*calls.perfetto* | 1 MiB, 262,144 calls
fs/profile/activations.h@HF_ACTIVATIONS@(1u << 18)@*calls.perfetto* | 1 MiB, 262,144 calls
fs/profile/hottest.h@HF_HOTTEST_FUNCTIONS@(1u << 14)@told apart in *overview.svg* | 16,384
fs/profile/report.c@PROBLEMS@20@lines of problems | 25; 20
fs/tree/captures_page.c@CAPTURES@1000@captures on a page of *.hartfs/index.html* | 1,000
mountd/record_notes.c@SOURCES@384@--sources** copies | 384
fs/profile/overview_parts.h@HF_OVERVIEW_LETTERS@86@86 letters in a line
fs/find/find.h@HF_QUESTION_TERMS@32@parts of a question of **hartfs find** | 32
fs/find/hart_state_parts.h@HF_HART_STATE_REGISTERS@8192@registers of **hartfs state** | 8,192
fs/find/hart_state_parts.h@HF_HART_STATE_ACCESSES@16@accesses of **hartfs state** | 16
fs/find/hart_state_parts.h@HF_HART_STATE_CHUNKS@256@chunks that **hartfs state** decodes with a summary | 256
fs/find/hart_states.h@HF_HART_STATES_DECODED@(UINT64_C(10) << 20)@instructions of a hart without a summary | 10,485,760 | *state.txt*
mountd/sql/extension.c@OPTIONS_MOST@31@options of *hartfs_open()* | 31
mountd/sql/child.c@CANCEL_MS@5000@one that is interrupted | 5
mountd/sql/protocol.h@HF_PROTOCOL_CURSORS@1024u@read at a time | 1,024
fs/rows/rows.h@HF_ROWS_HARTS@(1u << 13)@one connection asks | 8,192
fs/rows/rows.h@HF_ROWS_ORDINALS@(UINT64_C(1) << 38)@SQL: instructions of one hart | 2^38
fs/rows/rows.h@HF_ROWS_EVENTS@(1u << 12)@SQL: events after one instruction | 4,096
fs/rows/rows.h@HF_ROWS_CHUNK_EVENTS@(1u << 19)@chunk in memory | 524,288
fs/rows/rows.h@HF_ROWS_TEXT@4096@texts of a row | 4,096
fs/rows/runs.c@RUNS_MOST@(1u << 19)@**run** | 524,288
fs/diff/diff.h@HF_DIFF_AHEAD@(UINT64_C(1) << 20)@looks for a place to meet again | 1,048,576
fs/diff/diff.h@HF_DIFF_MEET@16u@equal instructions that are such a place | 16
fs/diff/diff.h@HF_DIFF_SURE@4096u@convince after a longer difference | 4,096
fs/diff/edit.h@HF_DIFF_EDITS@256@256 in 1,024
fs/diff/realign.c@NEAR@UINT64_C(1024)@256 in 1,024
mountd/diff_print.h@HF_DIFF_SHOWN@20u@20 of more than 60
fs/find/question.h@HF_FIND_WORDS@32@words in the argument of *\--value* | 32
fs/stream/elf_nearby.c@ENTRIES_MAX@4096@512 files, 4,096 entries, 8 directories deep
fs/stream/elf_nearby.h@HF_ELF_NEARBY_MAX@512@512 files, 4,096 entries, 8 directories deep
fs/stream/elf_nearby.h@HF_ELF_NEARBY_DEPTH@8@512 files, 4,096 entries, 8 directories deep
fs/program/load_addresses.h@HF_LOAD_ADDRESSES_FILES_MAX@64@64 files with 64 executable segments
fs/program/load_addresses.h@HF_LOAD_ADDRESSES_WORK_MAX@(UINT64_C(4) << 30)@4 GiB of the files' code
fs/program/load_addresses.h@HF_LOAD_ADDRESSES_INSTANCES_MAX@8@8 places of a file in a hart
fs/program/load_addresses.c@ROWS_MAX@4096@4,096 places in all
codecs/image/demangle.h@HF_DEMANGLE_MAX@4096@what it stands for | 4,096 bytes
codecs/image/dwarf_sections.h@HF_DWARF_SECTION_MAX@(UINT64_C(256) << 20)@256 MiB of *.debug_line*
codecs/image/lines.h@HF_LINES_ROWS_MAX@(UINT32_C(1) << 24)@16,777,216 places
codecs/image/names.h@HF_LINES_NAME_MAX@100@name of a source file in the listing | 100
codecs/image/dwarf_sections.h@HF_DWARF_ALL_MAX@(UINT64_C(512) << 20)@512 MiB of all; 262,144 units
codecs/image/dwarf.h@HF_DWARF_UNITS_MAX@(1 << 18)@512 MiB of all; 262,144 units
codecs/image/inlined.h@HF_INLINED_RANGES_MAX@(UINT32_C(1) << 22)@4,194,304 pieces of code that ran
codecs/image/inlined.h@HF_INLINED_CALLS_MAX@(UINT32_C(1) << 21)@2,097,152 calls of 262,144 functions
codecs/image/inlined.h@HF_INLINED_FUNCTIONS_MAX@(UINT32_C(1) << 18)@2,097,152 calls of 262,144 functions
codecs/image/inlined.h@HF_INLINED_DEPTH_MAX@4096@in each other | 4,096
codecs/image/dwarf_unit.c@WORK_FACTOR@4@4 steps for each byte
codecs/image/elf_debug.h@HF_ELF_DEBUG_LINE_MAX@(UINT64_C(64) << 20)@lines in *program.elf* | 64 MiB
codecs/image/bias.c@PIECES_MAX@64@64 executable segments
codecs/image/elf_riscv.c@ATTRIBUTES_MAX@65536u@64 KiB | they count as none
index/answer/counts.h@HF_COUNTS_MAX@(UINT32_C(1) << 21)@different instructions of a hart | 2,097,152
fs/find/where.h@HF_WHERE_DECODED@(UINT64_C(1) << 20)@lines of a file in *where/* | 1,048,576
fs/profile/counted.h@HF_PROFILE_DECODED@(UINT64_C(10) << 20)@instructions of a hart without a summary | 10,485,760
fs/profile/memory.c@PAIRS_MAX@(UINT32_C(1) << 19)@524,288 pairs
fs/profile/memory.c@PAGES_MAX@256u@pages of an access in *memory.txt* | 256
index/summary/words_pages.h@HF_WORDS_PAGES_MAX@(UINT32_C(1) << 19)@524,288 pages where chunks
fs/profile/bbv.c@INTERVAL_MIN@10000@at least 10,000
fs/profile/bbv.c@VECTORS_MAX@(UINT64_C(64) << 20)@length of a *bbv* file | 64 MiB
fs/profile/bbv.c@LINE_MAX_READ@1048574@1,048,574 bytes
fs/capture/source_text.h@HF_SOURCE_TEXT_MAX@(UINT64_C(16) << 20)@source text in *annotated* | 16 MiB
fs/capture/source_text.h@HF_SOURCE_LINES_MAX@(UINT32_C(1) << 20)@lines of a source text in *annotated* | 1,048,576
codecs/stf/header.h@HF_STF_HEADER_RECORDS_MAX@4096@records of the header | 4,096
codecs/stf/header.h@HF_STF_STRINGS_MAX@(256u * 1024)@strings of the header together | 256 KiB
codecs/stf/decoder.h@HF_STF_GROUP_MAX@(4u * 1024 * 1024)@records of one group | 4 MiB
codecs/stf/decoder.h@HF_STF_HARTS_MAX@1024@hardware threads | 1,024
codecs/stf/decoder.h@HF_STF_TEXT_MAX@(64u * 1024)@65,536 bytes a line
codecs/stf/records.h@HF_STF_VLEN_MAX@65536u@vector length | 65,536 bits
codecs/stf/dump_parts.c@CLOCK_NAME_MAX@40@40 characters
codecs/astf/accesses.c@ACCESS_MAX@256u@256; 2,048
codecs/astf/accesses.c@PIECES_MAX@(8u * ACCESS_MAX)@256; 2,048
codecs/astf/strings.c@STRING_MAX@65535u@65,535 | several strings
codecs/etrace/follow.h@HF_ETRACE_WALK_MAX@(UINT64_C(1) << 20)@one packet walks | 1,048,576
codecs/etrace/accesses.h@HF_ETRACE_ACCESSES@65536@wait for their instruction | 65,536
codecs/etrace/params.h@HF_ETRACE_PREDICTED_LONG@(UINT32_C(1) << 20)@1,048,576
codecs/etrace/params.h@HF_ETRACE_PREDICTED_MAX@(UINT32_C(1) << 28)@268,435,456
codecs/etrace/params.h@HF_ETRACE_TABLE_MAX@16@2 to the power of 16
codecs/etrace/encoder.h@HF_ETRACE_ENC_TABLE_MAX@8@2 to the power of 8
codecs/etrace/encoder.h@HF_ETRACE_ENC_BPRED_MAX@12@predictor 12
codecs/etrace/accesses.h@HF_ETRACE_ACCESSES@65536@data accesses that wait for their instruction | 65,536
codecs/etrace/data.h@HF_ETRACE_DATA_ATOMICS@16@split atomics that wait for their data | 16
codecs/ntrace/message.h@HF_NTRACE_MESSAGE_MAX@128@one message | 128
codecs/ntrace/flow.c@STRAIGHT_MAX@(UINT64_C(1) << 18)@262,144
codecs/ntrace/decoder.h@HF_NTRACE_HARTS_MAX@256@harts (SRC) | 256
codecs/ntrace/stream.c@LOOK_MAX@(1u << 20)@1 MiB | the guess
codecs/ete/flow.h@HF_ETE_WALK_MAX@(1u << 16)@one element | 65,536
codecs/ete/resolve.h@HF_ETE_QUEUE_MAX@4096@their commit | 4,096
codecs/mtb/mtb.h@HF_MTB_SIZE_MAX@(UINT64_C(16) << 20)@a Micro Trace Buffer has 16 MiB at the most
codecs/image/collect.h@HF_IMAGE_PAGES_MAX@16384u@16,384 pages
codecs/image/program.h@HF_PROGRAM_BYTES_MAX@(UINT64_C(256) << 20)@a program of a description | 256 MiB
codecs/setup/read.h@HF_SETUP_PROGRAM_MAX@(UINT64_C(512) << 20)@all programs of a description | 512 MiB
codecs/setup/read.h@HF_SETUP_ROWS_MAX@4096u@4,096 each
codecs/setup/capture_ini.c@SECTIONS_MAX@1024@sections | 1,024
codecs/setup/ini.h@HF_INI_SIZE_MAX@(1u << 20)@file | 1 MiB
codecs/image/names.h@HF_SYMBOL_NAME_MAX@200@200 characters
codecs/image/elf_read.h@HF_ELF_STRINGS_MAX@(UINT64_C(128) << 20)@128 MiB of names
codecs/image/symbols.c@CANDIDATES_MAX@((size_t)2 << 20)@2,097,152 symbols of code
codecs/image/symbols.c@NAMES_MAX@((size_t)64 << 20)@64 MiB of their names
codecs/image/elf_read.h@HF_ELF_SECTIONS_MAX@65536u@65,536 sections
codecs/source/hex.c@WORD_MAX@16@16 digits
codecs/source/source.h@HF_BLOCK_MAX@(UINT64_C(64) << 20)@| 64 MiB | the chunk is lost
index/exec/exec.h@HF_PAUSED_MAX@8@indexing is put aside | 8
index/base/hart.h@HF_INDEX_PROBLEM_MAX@4096@3,840 of the stream
index/pass/index_part.h@HF_FILE_PROBLEMS@256@256 of the file
index/table/row.h@HF_SLOT_MAX@UINT64_C(65535)@32,768
index/table/row.h@HF_VIEW_CHUNK_MAX@(UINT64_C(256) << 20)@one chunk of a view | 256 MiB
fs/archive/params.c@PARAMS_MAX@3072@3,072 characters
fs/stream/members.h@HF_MEMBERS_DIRS_MAX@4096@4,096 | the views are for root
fs/tree/shared.h@HF_REMARKS_MAX@1000@1,000
fs/tree/control.c@PROGRESS_LINES@1000@1,000
fs/bytes/slice_queue.c@QUEUE_MAX@64@their pass | 64
contrib/capture/ring.h@RING_SLOTS@512@at a time | 512
contrib/capture/ring.h@RING_LOADS@512@has in its memory | 512
contrib/capture/hartfs_capture.c@ACCESS_MAX@512@accesses of one instruction | 512
mountd/log.c@KEPT_BYTES@((size_t)1 << 20)@1 MiB | the oldest
END
[ "$count" -gt 30 ] || bad "only $count limits were compared"

# The longest words of an error without a number.
all=${all//$'\n'/ }
while read -r text; do
	[[ $all == *"$text"* ]] || bad "$page: nothing of the error '$text'"
done < <(sed -nE 's/^HF_ERR\([0-9]+, +[A-Z_0-9]+, +limit, +[A-Z]+, +"(.*)"\)$/\1/p' codecs/*/errors.def |
	awk -F '%ll[ux]|[(:]' '{best = $1; for (i = 2; i <= NF; i++) if (length($i) > length(best)) best = $i; print best}')
exit $status
