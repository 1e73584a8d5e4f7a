/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The calling-context tree as pictures have it: callees of one name are one frame, whatever context they ran in. Frames
 * are in pre-order, callees in the order of their names, so that pictures of two runs can be compared. Internal to
 * fs/profile/.
 */
#ifndef HF_FS_PROFILE_FRAMES_H
#define HF_FS_PROFILE_FRAMES_H

#include "fs/profile/texts.h"

#define HF_FRAME_NONE UINT32_MAX

/* In what a frame is, as its colour tells. */
enum hf_frame_kind {
	HF_FRAME_CALLED, /* what was called, or ran before any call */
	HF_FRAME_TRAP,	 /* a trap handler and what it called */
	HF_FRAME_INTERRUPT,
	HF_FRAME_NO_SYMBOL,
	HF_FRAME_OTHER, /* no function: all, or what is beyond a limit */
	HF_FRAME_KINDS
};

struct hf_frame_name {
	uint32_t at, size; /* bytes of it, in text */
	uint32_t key;	   /* its number while names are given */
	uint64_t function; /* where it begins; of HF_FRAME_OTHER 0 */
	bool known;	   /* there is a symbol */
};

struct hf_frame {
	uint32_t name, parent; /* numbers; HF_FRAME_NONE: of the first frame */
	uint32_t end;	       /* frames in [its own number, end) are it and those below it */
	uint16_t depth;
	uint8_t kind;
	uint64_t own, total, calls; /* instructions; total: with those of the frames below */
	uint64_t before;	    /* own of the first text, of frames of two */
	uint64_t start; /* instructions to the left of it */
};

struct hf_frames {
	struct hf_frame *frame; /* the first is all */
	uint32_t count, names;
	struct hf_frame_name *name; /* in the order of their bytes */
	uint32_t *name_of;	    /* of each node of the tree its name; NULL: of texts */
	struct hf_sink text;
	const char *bytes; /* of text */
};

/* How many bytes of a name of C++ are the type of its result, which a demangler puts before some: "int add<int>(int)". */
size_t hf_frame_result(const char *name, size_t size);

/* HF_ERR_NOMEM. To be freed in any case. */
int hf_frames_make(const struct hf_profiled *of, struct hf_frames *ret_frames);
/*
 * Of texts as stacks.folded: of the second one, and before of the first, which may be NULL. The calls are not known, and
 * kinds as far as names tell. HF_ERR_NOMEM. To be freed in any case.
 */
int hf_frames_fold(const char *before, const char *text, struct hf_frames *ret_frames);
void hf_frames_free(struct hf_frames *frames);

#endif
