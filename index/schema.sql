-- SPDX-License-Identifier: Apache-2.0
-- The kinds of files of an index directory that are SQLite databases. Page size 8192, of which 8 bytes a page are a
-- checksum (below); they are written once, published whole and never changed. hartfs-index(5) says more.
--
-- A chunk is a run of events of one hart. Its id is slot << 40 | number, where slot numbers the harts of the file and
-- number the chunks of a hart, both from 0; so all chunks of a hart lie side by side in the order of its events, and
-- the chunk that holds an ordinal or an offset is found by binary search over the id, without a second index.
--
-- Numbers are stored as SQLite has them, signed 64 bit: those that may use the top bit (pc, checksum) appear negative
-- then, and an unknown offset (UINT64_MAX) is -1. A codec's entries are blobs of its own, at most 4096 bytes.
--
-- Page checksum: the last 8 bytes of each page are XXH3-64, seeded with the page's offset in the file, of the bytes
-- before them, little endian.

-- ==== decode index: application_id 0x48415254 "HART", <identity>.hfi

-- One row.
CREATE TABLE meta (
	id INTEGER PRIMARY KEY CHECK (id = 1),
	complete INTEGER NOT NULL,      -- 1 in a published file
	size INTEGER NOT NULL,          -- identity: bytes of the capture,
	mtime_ns INTEGER NOT NULL,      --   its modification time,
	print BLOB NOT NULL,            --   XXH3-128 of its head, its tail and samples between (two little-endian words)
	box TEXT,                       -- container: gzip, xz, ...; NULL for plain bytes
	codec TEXT,                     -- format: stf, ...; NULL if the capture could not be opened (see problem)
	codec_version INTEGER NOT NULL,
	insns_limit INTEGER NOT NULL,   -- a chunk ends at so many retired instructions,
	events_limit INTEGER NOT NULL,  --   or so many events,
	bytes_limit INTEGER NOT NULL,   --   or about so many bytes of the stream
	stream_size INTEGER NOT NULL,   -- good bytes of the decompressed stream
	damage_code INTEGER NOT NULL,   -- 0, or the (negative) error behind its last good byte,
	damage_space INTEGER NOT NULL,  --   with its place: 0 stream, 1 file
	damage_offset INTEGER NOT NULL,
	damage_detail INTEGER NOT NULL,
	problems INTEGER NOT NULL,      -- all that were found; table problem holds the first some thousand
	holes INTEGER NOT NULL          -- blocks of the container that are damaged, with good ones behind them
) STRICT;

CREATE TABLE hart (
	slot INTEGER PRIMARY KEY,
	id INTEGER NOT NULL,            -- as the source numbers it
	insns INTEGER NOT NULL,         -- retired instructions
	attempts INTEGER NOT NULL,      -- instructions that did not retire
	events INTEGER NOT NULL,
	chunks INTEGER NOT NULL,
	texts INTEGER NOT NULL,         -- MARKER events: bytes that software wrote,
	samples INTEGER NOT NULL,       --   samples of the pc,
	markers INTEGER NOT NULL        --   and all others
) STRICT;

-- A row has up to 512 chunks with numbers side by side (index/table/row_page.h). Of each chunk data says, in this order:
--   ordinal        retired instructions of the hart before it
--   stream_offset  how far the stream had been read
--   pc             of the first retired instruction, 0 if there is none
--   events, attempts
--   problems       gaps, doubts and notes among the events
--   discard        events to pass over after entering
--   flow           digests of its events (index/base/digest.h): pcs and opcodes,
--   rest             accesses and all else; of the records flow is 0
--   before.flow    what the hart did before it (index/base/prefix_digest.h): pcs and opcodes,
--   before.access    which bytes were accessed,
--   before.value     their values,
--   before.pending   which access of the last instruction is next,
--   before.told      and what there was: 1 accesses, 2 values; of the records all are 0
--   texts, samples, markers   of its events, as in table hart
--   entry          state of the decoder
CREATE TABLE chunk (
	id INTEGER PRIMARY KEY,         -- of the first one
	ordinal INTEGER NOT NULL,       -- of the first one
	chunks INTEGER NOT NULL,        -- how many
	size INTEGER NOT NULL,          -- bytes of data, not compressed
	data BLOB NOT NULL              -- compressed with zstd
) STRICT;

-- The blocks of the container, in order. A block can be decoded from here, unless bit 31 of bits is set: then it
-- continues the one before it; or bit 30: then it is damaged and only its size is known.
CREATE TABLE point (
	out_offset INTEGER PRIMARY KEY, -- its first byte in the decompressed stream
	out_size INTEGER NOT NULL,
	in_offset INTEGER NOT NULL,     -- in the file
	in_size INTEGER NOT NULL,
	bits INTEGER NOT NULL,          -- the container's own
	window_size INTEGER NOT NULL    -- bytes of window that decoding needs
) STRICT;

-- The bytes before a block as far as it needs them (gzip), zeros in the place of the others, compressed with zstd.
CREATE TABLE window (
	out_offset INTEGER PRIMARY KEY,
	data BLOB NOT NULL
) STRICT;

-- The code that each hart executed, as one image (codecs/image/blob.c), compressed with zstd and cut into rows.
CREATE TABLE image (
	id INTEGER PRIMARY KEY,         -- slot << 40 | number of the piece, from 0
	events INTEGER NOT NULL,        -- of the hart that are in it: in a published file all
	size INTEGER NOT NULL,          -- bytes of the whole image, not compressed
	data BLOB NOT NULL              -- at most 262144 bytes
) STRICT;

CREATE TABLE problem (
	id INTEGER PRIMARY KEY,         -- in the order of errors.txt; 0: what is likely behind all others
	chunk INTEGER,                  -- where it was met; NULL for problems of the file as such
	hart INTEGER NOT NULL,
	ordinal INTEGER,                -- retired instructions of the hart before it
	fatal INTEGER NOT NULL,         -- 1: the capture could not be opened
	code INTEGER NOT NULL,          -- a (negative) error number: codecs/base/err.c
	space INTEGER NOT NULL,         -- of offset: 0 stream, 1 file
	offset INTEGER NOT NULL,
	detail INTEGER NOT NULL,
	bytes INTEGER NOT NULL,         -- passed over
	back INTEGER NOT NULL           -- of the retired instructions before it so many may be wrong; 4294967295: or more
) STRICT;

-- ==== view table: application_id 0x48415256 "HARV", <identity>.<view>.<key>.hfv

-- One row.
CREATE TABLE meta (
	id INTEGER PRIMARY KEY CHECK (id = 1),
	complete INTEGER NOT NULL,
	size INTEGER NOT NULL,          -- identity, as above
	mtime_ns INTEGER NOT NULL,
	print BLOB NOT NULL,
	view TEXT NOT NULL,             -- "listing.txt"
	version INTEGER NOT NULL,       -- of its encoder
	params TEXT NOT NULL,           -- what else decides its bytes
	insns_limit INTEGER NOT NULL,   -- as in the decode index it belongs to
	events_limit INTEGER NOT NULL,
	bytes_limit INTEGER NOT NULL
) STRICT;

CREATE TABLE hart (
	slot INTEGER PRIMARY KEY,
	id INTEGER NOT NULL,
	size INTEGER NOT NULL,          -- bytes of the view
	chunks INTEGER NOT NULL,
	rows INTEGER NOT NULL           -- that they are in table chunk: up to 8 chunks of fewer than 1024 bytes together are one
) STRICT;

-- In pages as above; ids are slot << 40 | number of the row, from 0. Of each row data says, in this order:
--   offset         of its first byte in the view
--   chunk          number of its first chunk; it has all up to that of the next row
--   checked        so many of its last bytes are in the checksum: in listing.txt not always all
--   checksum       XXH3-64 of these, and of entry behind them; 0 if there are none. Of several chunks: hartfs-index(5), CHUNKS
--   entry          state of the encoder
CREATE TABLE chunk (
	id INTEGER PRIMARY KEY,         -- of the first row
	offset INTEGER NOT NULL,        -- of the first row
	rows INTEGER NOT NULL,          -- how many
	size INTEGER NOT NULL,
	data BLOB NOT NULL
) STRICT;

-- ==== times: in a view table only where listing.txt has lines that say a time; made with the first of these

-- Where these lines are (index/read/times.h). There are none if fewer than two harts have times.
CREATE TABLE time (
	id INTEGER PRIMARY KEY,         -- id of the chunk << 6 | number of the row, from 0
	offset INTEGER NOT NULL,        -- of the first such line, in the view
	before INTEGER NOT NULL,        -- the greatest time of the hart before it,
	known INTEGER NOT NULL,         --   1: if there is one
	behind INTEGER NOT NULL,        -- 1: times went back, and did not come up to before again
	data BLOB NOT NULL              -- at most 32768 bytes
) STRICT;

-- Where the harts stand in their listings at an offset of all/listing.txt (index/read/merge.h). The last row is its end.
CREATE TABLE merge (
	offset INTEGER PRIMARY KEY,
	last INTEGER NOT NULL,          -- 0, or 1 + the place of the hart, by id, whose lines come before
	data BLOB NOT NULL              -- of each hart its place; empty in the last row
) STRICT;

-- ==== summary: application_id 0x48415253 "HARS", <identity>.hfq

-- One row.
CREATE TABLE meta (
	id INTEGER PRIMARY KEY CHECK (id = 1),
	complete INTEGER NOT NULL,
	size INTEGER NOT NULL,          -- identity, as above
	mtime_ns INTEGER NOT NULL,
	print BLOB NOT NULL,
	version INTEGER NOT NULL,       -- of what is in pages and sections
	insns_limit INTEGER NOT NULL,   -- as in the decode index it belongs to
	events_limit INTEGER NOT NULL,
	bytes_limit INTEGER NOT NULL
) STRICT;

CREATE TABLE hart (
	slot INTEGER PRIMARY KEY,
	id INTEGER NOT NULL,
	insns INTEGER NOT NULL,
	chunks INTEGER NOT NULL,
	spans INTEGER NOT NULL,
	runs INTEGER NOT NULL,          -- numbers of runs
	contexts INTEGER NOT NULL
) STRICT;

-- Runs whose numbers follow one another, in the order in which they were first executed: a hart of which there are many
-- has several spans. Ids here and below are slot << 40 | number, from 0 within the hart.
CREATE TABLE span (
	id INTEGER PRIMARY KEY,
	first_group INTEGER NOT NULL,   -- no group of 64 chunks before this one has any of them
	insns INTEGER NOT NULL,
	number INTEGER NOT NULL,        -- of the first run,
	runs INTEGER NOT NULL,          --   and how many there are
	page INTEGER NOT NULL,          -- number of its first page,
	pages INTEGER NOT NULL          --   and how many it has
) STRICT;

-- What the numbers of contexts in runs mean.
CREATE TABLE context (
	id INTEGER PRIMARY KEY,
	fields INTEGER NOT NULL,        -- bits: 1 hardware thread, 2 process, 4 thread, 8 ASID, 16 VMID are known
	hw INTEGER NOT NULL,
	pid INTEGER NOT NULL,
	tid INTEGER NOT NULL,
	asid INTEGER NOT NULL,
	vmid INTEGER NOT NULL,
	state INTEGER NOT NULL          -- 32: Secure
) STRICT;

-- Runs of a span, in the order of their keys (index/summary/page.c), compressed with zstd.
CREATE TABLE page (
	id INTEGER PRIMARY KEY,
	first INTEGER NOT NULL,         -- the lowest pc,
	end INTEGER NOT NULL,           -- the end of all code
	runs INTEGER NOT NULL,
	size INTEGER NOT NULL,          -- bytes, not compressed
	data BLOB NOT NULL
) STRICT;

-- What the chunks did, in sections of groups of 64 (index/summary/group.h), each compressed with zstd and in pieces of
-- 65536 bytes. Ids are slot << 40 | group << 12 | section << 8 | piece. Sections: 0 runs and 1 their counts, 2 writes,
-- 3 reads, 4 writes and 5 reads of attempts, 6 rare events, 7 registers; 8 filters of what 64 groups write and read, with
-- group / 64; 9 keys of rare events and registers, with group 0.
CREATE TABLE section (
	id INTEGER PRIMARY KEY,
	size INTEGER NOT NULL,          -- bytes of all pieces together, not compressed
	data BLOB NOT NULL
) STRICT;

-- The calls of a hart, one row: slot << 40.
CREATE TABLE calls (
	id INTEGER PRIMARY KEY,
	nodes INTEGER NOT NULL,         -- of its calling-context tree
	node_pages INTEGER NOT NULL,    -- rows of table node
	stack_pages INTEGER NOT NULL,   -- rows of table stack
	returns INTEGER NOT NULL,
	unmatched INTEGER NOT NULL,     -- of these, such as fit no call before them
	trap_returns INTEGER NOT NULL,
	unmatched_traps INTEGER NOT NULL, -- of these, such as no trap was before
	deep INTEGER NOT NULL,          -- calls and traps beyond the limit of depth,
	refused INTEGER NOT NULL,       --   and of nodes
	losses INTEGER NOT NULL,        -- gaps, doubts and discontinuities
	timed INTEGER NOT NULL          -- events that told cycles; 0: nodes have none
) STRICT;

-- The nodes of the tree in the order of their first calls (index/summary/call_page.c), compressed with zstd.
CREATE TABLE node (
	id INTEGER PRIMARY KEY,
	first INTEGER NOT NULL,         -- number of the first node of the page
	count INTEGER NOT NULL,
	size INTEGER NOT NULL,          -- bytes, not compressed
	data BLOB NOT NULL
) STRICT;

-- The stack in which the first instruction of each chunk is executed, with where its calls return to, likewise.
CREATE TABLE stack (
	id INTEGER PRIMARY KEY,
	first INTEGER NOT NULL,         -- number of the first chunk of the page
	count INTEGER NOT NULL,
	size INTEGER NOT NULL,
	data BLOB NOT NULL
) STRICT;

-- ==== catalogue: application_id 0x48415243 "HARC", <archive>.hfc

-- One row.
CREATE TABLE meta (
	id INTEGER PRIMARY KEY CHECK (id = 1),
	complete INTEGER NOT NULL,
	path TEXT NOT NULL,             -- canonical, of the archive's root,
	inode INTEGER NOT NULL,         --   its inode number
	btime_ns INTEGER NOT NULL,      --   and the time it was made, 0 if that is not known
	views TEXT NOT NULL             -- whose sizes are in it: a line "<view> <version of its encoder> <params>" for each
) STRICT;

-- What a file was found to be, while these are its size, times and inode.
CREATE TABLE file (
	id INTEGER PRIMARY KEY,         -- XXH3-64 of path; of two paths with the same one only the later is there
	size INTEGER NOT NULL,
	inode INTEGER NOT NULL,
	mtime_ns INTEGER NOT NULL,
	ctime_ns INTEGER NOT NULL,
	kind INTEGER NOT NULL,          -- 1 no capture, 2 a capture, 3 one with an index: then all that follows counts
	print_low INTEGER NOT NULL,     -- identity: the words of print in the decode index
	print_high INTEGER NOT NULL,
	files_low INTEGER NOT NULL,     -- what the names of its files in the index directory begin with: 32 hexadecimal digits,
	files_high INTEGER NOT NULL,    --   of which these are the first
	beside INTEGER NOT NULL,        -- stands for the ELF files beside it, their sizes, times and inodes; 0: there are none
	stream_size INTEGER NOT NULL,   -- good bytes of the decompressed stream, -1: it could not be opened
	info_size INTEGER NOT NULL,     -- bytes of info.json
	errors_size INTEGER NOT NULL,   -- bytes of errors.txt
	problems INTEGER NOT NULL,      -- found in the capture
	arch INTEGER NOT NULL,          -- of the stream: 0 none, 1 RISC-V, 2 Arm
	isa INTEGER NOT NULL,           -- 0 none, 1 RV32, 2 RV64, 3 A64, 4 A32, 5 T32
	xlen INTEGER NOT NULL,
	merged_size INTEGER NOT NULL,   -- bytes of all/listing.txt, -1: there is none
	error_code INTEGER NOT NULL,    -- 0, or why nothing could be decoded, as in table problem
	error_space INTEGER NOT NULL,
	error_offset INTEGER NOT NULL,
	error_detail INTEGER NOT NULL,
	path TEXT NOT NULL,             -- from the archive's root, as the bytes are
	box TEXT,                       -- container; NULL for plain bytes
	codec TEXT,                     -- format that was recognised
	stream TEXT,                    -- format as indexed; NULL if the stream could not be opened
	original TEXT,                  -- the view that is the stream itself
	version TEXT,                   -- of the format
	harts TEXT                      -- a line for each: "<id> <insns> <attempts> <events> <chunks>
	                                --   <texts> <samples> <markers> ", then
	                                --   "<view>=<size> " for each of its views; after these lines
	                                --   "profile <id> <for whom> <size> <size> ..." for harts whose files in profile/
	                                --   were made: in the order of fs/profile/profiles.def, -: there is none
) STRICT;

-- ==== pack: application_id 0x48415250 "HARP", <sequence>.hfp

-- The decode index or a view table of a small capture. Its rows are in the tables above, with a column more: part, the
-- last one, says whose row it is. The first one has the name rowid: PRIMARY KEY (part, rowid), WITHOUT ROWID. The tables
-- of view tables have names that begin with view_.
CREATE TABLE part (
	id INTEGER PRIMARY KEY,         -- its number in the pack
	files_low INTEGER NOT NULL,     -- what the name of its file would begin with: 32 hexadecimal digits,
	files_high INTEGER NOT NULL,    --   of which these are the first
	rest INTEGER NOT NULL,          -- XXH3-64 of the rest of that name
	bytes INTEGER NOT NULL          -- of its rows, not compressed
) STRICT;
