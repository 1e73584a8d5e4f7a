/* SPDX-License-Identifier: Apache-2.0 */
/*
 * libhartfs: processor traces as files, without a mount. An archive is a directory of captures, and each capture has
 * views, one set for each hart. A program opens an archive or a single capture, lists captures, harts and views, opens
 * a view and reads its bytes at any offset, or the instructions of its hart as events from any ordinal on. hartfs(3)
 * has examples.
 *
 * Paths. In an archive they are those of a mount: "boot/run.stf" is a capture, "boot/run@stf/hart0/listing.txt" a view
 * of it. In an archive that was opened as one capture they are those in its view directory: "hart0/listing.txt", and
 * the capture itself is "".
 *
 * A host of this library is not confined. The program hartfs puts every process that decodes into a sandbox
 * (hartfs-security(7)); the library leaves that to its host, so one that reads captures of strangers had better confine
 * itself. It can do so before hartfs_open: hartfs_load, archive_fd and index_fd are for that.
 *
 * The process. Two things outlive hartfs_close: LLVM, which is loaded, and SQLite, which is initialised and told to
 * take no pages ahead (SQLITE_CONFIG_PAGECACHE). A host that calls sqlite3_config does so before hartfs_open, and not
 * for the single-threaded mode. The library itself stays in memory too, whatever dlclose is told.
 *
 * Threads. Every function may be called by any number of threads at the same time, with the same archive and view,
 * except that nothing else may use what hartfs_close and hartfs_view_close close. The library has threads of its own,
 * which make views and call log, and which no signal reaches; it leaves the locale and the environment alone. A process
 * that forks may use the library in one of the two only.
 *
 * Ownership. Handles are the caller's and closed by the function of that name. What is passed in is only looked at
 * during the call (hartfs_options: during hartfs_open, log, stop and their contexts until hartfs_close). Texts that
 * come out are the library's, and the place that gives them says how long they stay.
 *
 * Results. Every int is 0 or an error of enum hartfs_error, which says what may follow. After an error nothing has
 * changed, and what comes out through ret_ is NULL or 0, unless the function says otherwise. A struct hartfs_diag,
 * which may be NULL everywhere, gets the words: of which capture, at which byte, what. Offsets and sizes are in bytes,
 * ordinals in retired instructions of a hart, from 0.
 */
#ifndef HARTFS_H
#define HARTFS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#ifdef __cplusplus
extern "C" {
#endif

#pragma GCC visibility push(default)

/* The version of this header: major * 1000000 + minor * 1000 + patch. */
#define HARTFS_VERSION_NUMBER 2000u
/* The version of the library that is in use, comparable with it. */
unsigned hartfs_version(void);

/* What may follow an error. Others may be added: take a number that is not known for HARTFS_ERROR_FAILED. */
enum hartfs_error {
	HARTFS_OK = 0,
	/* The call cannot be right: an argument, or something this view has not (events of info.json). */
	HARTFS_ERROR_MISUSE = -1,
	/* There is no such file, or it is no capture, or it has no such view. */
	HARTFS_ERROR_NOT_FOUND = -2,
	/* The capture's file, or its index, is another one than when the view was opened. Close the view and open it
	 * again. */
	HARTFS_ERROR_CHANGED = -3,
	/* progress or stop said so, or the archive is being closed. What was done is kept, and gone on with next time.
	 */
	HARTFS_ERROR_STOPPED = -4,
	/* Memory or descriptors ran out, or another process indexes the same capture. Try again later. */
	HARTFS_ERROR_AGAIN = -5,
	/* The capture is damaged, beyond a limit, or not what its description says. Its view directory and info.json
	 * are there and say more. Trying again is of no use before the file changes. */
	HARTFS_ERROR_DAMAGED = -6,
	/* The capture is well, and this version of the library cannot decode it. As above. */
	HARTFS_ERROR_UNSUPPORTED = -7,
	/* The operating system could not read the archive, or not load what disassembles. */
	HARTFS_ERROR_IO = -8,
	/* The index directory cannot be used, which says nothing of any capture. */
	HARTFS_ERROR_INDEX = -9,
	/* The library went wrong, and that is worth a report. Other captures are not touched by it. */
	HARTFS_ERROR_FAILED = -10,
};

/* An error in a few words, in English, without a capture or a place. Static, never NULL, also for other numbers. */
const char *hartfs_error_text(int error);

/* No place: hartfs_diag.offset. */
#define HARTFS_NOWHERE UINT64_MAX

/* What went wrong, and where; the caller's, written by a call that fails, and only then. */
struct hartfs_diag {
	int error;	    /* enum hartfs_error, as the call returned it */
	bool in_file;	    /* offset counts bytes of the file, not of what it decompresses to */
	uint64_t offset;    /* of the record, packet or byte that is meant; HARTFS_NOWHERE: of none alone */
	char capture[4096]; /* its path in the archive; "" if it is about none */
	char text[1024]; /* in words, with the offset if there is one: a part of a sentence, no line break at its end */
};

/* Begin with HARTFS_OPTIONS_INIT and set what is wanted. Members are only ever added at the end. */
struct hartfs_options {
	size_t size;	   /* of this struct, as the caller knows it */
	size_t event_size; /* of struct hartfs_event, likewise: the distance from one event to the next */
	/* The directory, by its name; or a descriptor of it, which the library then closes, also after an error other
	 * than that of a wrong size. With a name, which may be given beside a descriptor, the index directory remembers
	 * what the archive holds, and looking for captures is quick the next time. */
	const char *archive;
	int archive_fd; /* -1: by name */
	/* Not the archive but this capture alone: a file, or what has a description (hartfs-capture(5)). With archive
	 * or archive_fd it is a path in there; else one in the file system, and the archive begins where it must for
	 * the files of the capture to be in it. */
	const char *capture;
	/* The directory of the indexes, by its name or a descriptor likewise: it exists, and the caller can write to
	 * it; it may lie in the archive. Neither of them: indexes are kept in memory, at most half of cache_bytes, and
	 * gone with the archive. HARTFS_ERROR_INDEX says that this does not suffice. */
	const char *index;
	int index_fd;
	int index_error;	/* not 0: do not open it, for this (errno) is why it could not be. Messages say so */
	bool index_on_disk;	/* an index that cannot be written there is an error, and not kept in memory */
	uint64_t cache_bytes;	/* of views in memory, at most; 0: 256 MiB */
	uint64_t stream_memory; /* that decompressing one stream may take; 0: 256 MiB */
	uint64_t expansion;	/* events for each byte of a capture, at most; 0: 65536, UINT64_MAX: any number */
	uint64_t chunk;		/* instructions between two places where decoding may begin; 0: 16384 */
	uint32_t threads;	/* that make views; 0: one a core */
	uint32_t index_threads; /* that index one capture; 0: one a core */
	const char *views;	/* the names of the views to offer, with commas between them; NULL: all */
	const char *params;	/* parameters of views, "VIEW.key=value", with commas between them; NULL: none */
	/* Lines about what the library does: level as in syslog(3), no line break. From any thread. */
	void (*log)(void *ctx, int level, const char *line);
	void *log_ctx;
	/* Asked now and again from any thread: true ends all that is under way, once and for all, as hartfs_close does.
	 */
	bool (*stop)(void *ctx);
	void *stop_ctx;
	/* Indexes of captures of fewer bytes share files; 0: 16 KiB; 1: none does. They are written about a second after
	 * they were made, or by hartfs_close; what cannot be is logged, and made again when it is needed. */
	uint64_t pack_below;
	/* A directory outside of the archive in which to look for programs, libraries and debug files too, by its name
	 * or a descriptor as above; with a descriptor the name is for messages. NULL and -1: none. */
	const char *debug_dir;
	int debug_fd;
	/* Indexing also sums up what harts execute, into a file of its own beside the index; HARTFS_OPTIONS_INIT says so. */
	bool summary;
	/* Indexing makes every byte of every view, and keeps checksums of them. Such an index has tables of its own for
	 * listing.txt and records.txt. Else it keeps checksums of some lines, and digests of what all are made of. */
	bool all_checksums;
	/* With summary: hartfs_index also sums up captures that were indexed without. */
	bool summary_of_indexed;
	/* The index directory is a team's: its group may read the indexes of captures that it may read, if the umask lets
	 * it. And files that others of the group trusted_group put there are used as one's own. */
	bool index_for_group;
	bool trusts_group;
	uint32_t trusted_group; /* a gid */
};

struct hartfs_archive;
struct hartfs_view;

/* Loads what disassembles, as hartfs_open does: for a host that cannot open libraries any more by then. Once is enough.
 */
int hartfs_load(struct hartfs_diag *diag);

/*
 * Opens an archive, or a capture alone. Of an archive it looks at no capture; only the threads are started and what
 * disassembles is loaded. A member of the options that cannot be is HARTFS_ERROR_MISUSE, and diag says which.
 */
int hartfs_open(const struct hartfs_options *options, struct hartfs_archive **ret_archive, struct hartfs_diag *diag);
/* Ends what is under way and frees all. Its views must have been closed. NULL is allowed. */
void hartfs_close(struct hartfs_archive *archive);

/*
 * Gives fn each capture at or below the path under ("": all) in the order of the tree: its path, and that of its view
 * directory, both valid during the call. fn returns false to end it, which is no error. It decodes nothing: a file that
 * looks like a capture and is damaged is given too. What may not be read is left out, and log hears of it. fn may call
 * the library. HARTFS_ERROR_NOT_FOUND: there is nothing at under.
 */
int hartfs_each_capture(struct hartfs_archive *archive, const char *under,
			bool (*fn)(void *ctx, const char *path, const char *view_dir), void *ctx,
			struct hartfs_diag *diag);

/*
 * Indexes the capture at path, with all its views, on the calling thread and up to index_threads others; at once if
 * that was done before. progress, which may be NULL, hears some times a second, on that thread, how far it is (0 to
 * 100) and how many instructions there were, and returns false to stop: what is done then is kept and gone on with next
 * time. It must not call the library. HARTFS_ERROR_DAMAGED and HARTFS_ERROR_UNSUPPORTED: nothing of it could be
 * decoded; damage in a part of a capture is no error, and told in its errors.txt.
 */
int hartfs_index(struct hartfs_archive *archive, const char *path,
		 bool (*progress)(void *ctx, double percent, uint64_t instructions), void *ctx,
		 struct hartfs_diag *diag);

/* Of a file that is about no hart: hartfs_file.hart. */
#define HARTFS_NO_HART UINT32_MAX

/* A file in a view directory. The library's; it may grow at its end. */
struct hartfs_file {
	const char *path;      /* as hartfs_view_open takes it */
	uint64_t size;	       /* in bytes */
	uint64_t instructions; /* that its hart retired; 0 without a hart */
	uint32_t hart;	       /* its number, or HARTFS_NO_HART */
};

/*
 * Gives fn each file of the view directory of the capture at path, valid during the call: info.json and the others of
 * the capture, then those of each hart, hart by hart. Ranges of instructions are not among them. fn returns false to
 * end it, which is no error, and may call the library. Indexes the capture first, as hartfs_index. HARTFS_ERROR_DAMAGED
 * and HARTFS_ERROR_UNSUPPORTED: the few files that such a capture has were given all the same.
 */
int hartfs_each_file(struct hartfs_archive *archive, const char *path,
		     bool (*fn)(void *ctx, const struct hartfs_file *file), void *ctx, struct hartfs_diag *diag);

/*
 * Opens a file, by its path: a view of a hart or of a range of its instructions (hart0/at/1000-1999/...),
 * another file of a view directory, or a file of the archive itself. Indexes the capture first if need be, which may
 * take as long as hartfs_index. A directory is HARTFS_ERROR_MISUSE; a view that a capture cannot have because nothing
 * of it could be decoded is the error of hartfs_index. HARTFS_ERROR_NOT_FOUND: diag says why the capture has no such
 * view, if it knows.
 */
int hartfs_view_open(struct hartfs_archive *archive, const char *path, struct hartfs_view **ret_view,
		     struct hartfs_diag *diag);
/* Bytes in it: exact, and the same as long as the view is open. */
uint64_t hartfs_view_size(const struct hartfs_view *view);
/*
 * Reads size bytes at offset into buf. *ret_n is fewer only at the end of the view, or after an error: then these first
 * bytes are good, and the error is about the next one. Reads that follow each other are made ahead on all threads.
 */
int hartfs_view_read(struct hartfs_view *view, uint64_t offset, void *buf, size_t size, size_t *ret_n,
		     struct hartfs_diag *diag);

/* Instruction sets. */
enum hartfs_isa {
	HARTFS_ISA_NONE,
	HARTFS_ISA_RV32,
	HARTFS_ISA_RV64,
	HARTFS_ISA_A64,
	HARTFS_ISA_A32,
	HARTFS_ISA_T32,
};

/* What an instruction does to the flow, by its opcode. */
enum hartfs_flow {
	HARTFS_FLOW_PLAIN,
	HARTFS_FLOW_BRANCH, /* conditional, direct */
	HARTFS_FLOW_JUMP,   /* unconditional, direct */
	HARTFS_FLOW_CALL,   /* direct */
	HARTFS_FLOW_INDIRECT_JUMP,
	HARTFS_FLOW_INDIRECT_CALL,
	HARTFS_FLOW_RETURN,
	HARTFS_FLOW_SWAP,	 /* return and call in one (RISC-V) */
	HARTFS_FLOW_TRAP_CALL,	 /* ecall, ebreak; svc, hvc, smc, brk */
	HARTFS_FLOW_TRAP_RETURN, /* mret, sret; eret */
	HARTFS_FLOW_SYNC,	 /* fence.i, isb */
	HARTFS_FLOW_WAIT,	 /* wfi, wfe */
};

/* hartfs_event.flags. "After" an instruction means: before the next retired one of the hart. */
enum hartfs_event_flags {
	HARTFS_EVENT_TAKEN = 1,	      /* the instruction sent the flow to target */
	HARTFS_EVENT_OPEN = 2,	      /* a branch, and the trace does not say whether, or (A32, T32) where to, it was taken */
	HARTFS_EVENT_READ = 4,	      /* the first access reads, */
	HARTFS_EVENT_WRITE = 8,	      /*   or writes; or both */
	HARTFS_EVENT_ADDRESS = 16,    /* address is known */
	HARTFS_EVENT_DATA = 32,	      /* data is known */
	HARTFS_EVENT_EXCEPTION = 64,  /* an exception was taken after it */
	HARTFS_EVENT_INTERRUPT = 128, /* an interrupt was taken after it */
	HARTFS_EVENT_CAUSE = 256,     /* cause, of the first of these, is known */
	HARTFS_EVENT_ATTEMPT = 512,   /* after it instructions began that did not retire */
	HARTFS_EVENT_JUMP = 1024,     /* the flow goes on elsewhere after it, and the trace does not say why */
	HARTFS_EVENT_LOST = 2048,     /* trace was lost after it */
	HARTFS_EVENT_DOUBT = 4096,    /* what follows it, up to where the trace synchronises, may be wrong */
	HARTFS_EVENT_DOUBTED = 8192,  /* it may be wrong itself: the trace contradicts it further on */
};

/*
 * One retired instruction of a hart, whatever the format of the capture is. It is a struct of its own and not the one
 * that the codecs hand to each other (codecs/event.h): that one has 24 kinds, changes with every format that comes, and
 * every change of it would end the life of a program that was built with it. This one grows at its end (event_size).
 * What it does not carry, further accesses, registers, page walks, is in listing.txt and trace.stf.
 */
struct hartfs_event {
	uint64_t ordinal;
	uint64_t pc;
	uint64_t target;  /* with HARTFS_EVENT_TAKEN */
	uint64_t address; /* of the first access; virtual */
	uint64_t data;	  /* its first 8 bytes as a number, right-justified */
	uint64_t cause;	  /* of the first trap after it, as listing.txt has it */
	/* The function that the pc lies in, NULL if no name is known; stays until the view is closed. */
	const char *symbol;
	uint64_t symbol_offset; /* of the pc in it */
	const char *mode;	/* the privilege mode that it ran in, as listing.txt has it: "M", "EL1h", "?"; static */
	uint32_t opcode;
	uint32_t flags;	      /* enum hartfs_event_flags */
	uint32_t accesses;    /* to memory, as far as the trace tells */
	uint32_t access_size; /* of the first, in bytes */
	uint8_t size;	      /* of the instruction, in bytes: 2, 4 */
	uint8_t isa;	      /* enum hartfs_isa */
	uint8_t flow;	      /* enum hartfs_flow; a number that is not known is HARTFS_FLOW_PLAIN for the caller */
};

/*
 * The instructions of the hart that a view is of, from an ordinal on: ev[0..*ret_n), without gaps in their ordinals,
 * and fewer than max only at the end or before an error, which the next call gives. A view of a range has those of its
 * range, with the ordinals of the hart; an ordinal before its first means the first. Decoding begins near the ordinal,
 * wherever that is; a call that goes on where one of the last few ended begins nowhere anew. The view may be of any
 * format; all views of a hart give the same. HARTFS_ERROR_MISUSE: it is of no hart. The capture's files stay open until
 * the view is closed.
 */
int hartfs_view_events(struct hartfs_view *view, uint64_t ordinal, struct hartfs_event *ev, size_t max, size_t *ret_n,
		       struct hartfs_diag *diag);
/*
 * The ordinal of the instruction that the byte at offset belongs to. In listing.txt that is the one of its line, or the
 * last one before a line that begins with '#' (the first of the view, before that). In any other view of a hart it is
 * the instruction up to which the hart had come when the record or packet with that byte was written.
 * HARTFS_ERROR_MISUSE: there is no such byte, or no instruction.
 */
int hartfs_view_ordinal(struct hartfs_view *view, uint64_t offset, uint64_t *ret_ordinal, struct hartfs_diag *diag);
/* NULL is allowed. */
void hartfs_view_close(struct hartfs_view *view);

#pragma GCC visibility pop

static inline struct hartfs_options hartfs_options_init(void)
{
	struct hartfs_options options;

	memset(&options, 0, sizeof options);
	options.size = sizeof options;
	options.event_size = sizeof(struct hartfs_event);
	options.archive_fd = options.index_fd = options.debug_fd = -1;
	options.summary = true;
	return options;
}
#define HARTFS_OPTIONS_INIT hartfs_options_init()

#ifdef __cplusplus
}
#endif

#endif
