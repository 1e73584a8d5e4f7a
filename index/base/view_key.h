/* SPDX-License-Identifier: Apache-2.0 */
/* Which table of a view. */
#ifndef HF_INDEX_VIEW_KEY_H
#define HF_INDEX_VIEW_KEY_H

#include "codecs/codec.h"

/* Everything that decides the bytes of a view besides the events. */
struct hf_view_key {
	const struct hf_enc_ops *ops;
	/* Canonical text of the view's parameters and of whatever else its bytes depend on: the disassembler's version,
	 * a fingerprint of the symbols. "" for none; at most 4000 bytes. */
	const char *params;
	const char *options; /* the part of it that is the encoder's: hf_enc_env.params; NULL: none */
};

#endif
