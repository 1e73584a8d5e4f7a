/* SPDX-License-Identifier: Apache-2.0 */
/* A call stack as people and programs read it: lines that begin with '#', and JSON. Internal to fs/find/. */
#ifndef HF_FIND_STACK_TEXT_H
#define HF_FIND_STACK_TEXT_H

#include "codecs/base/sink.h"
#include "codecs/image/symbols.h"
#include "fs/capture/opened.h"
#include "index/answer/stack.h"

/* Those that name the hart's code in its listing; NULL: there are none. */
const struct hf_symbols *hf_find_symbols(const struct hf_open *open, uint32_t hart);

/* " <memcpy+0x1c>", or nothing. */
void hf_find_put_place(struct hf_sink *sink, const struct hf_symbols *symbols, uint64_t pc);

/* A line a frame: prefix, its number from 0, where it is, and which function that is. */
void hf_stack_put_lines(struct hf_sink *sink, const struct hf_stack *stack, const struct hf_symbols *symbols,
			const char *prefix);
/* An array of objects. */
void hf_stack_put_json(struct hf_sink *sink, const struct hf_stack *stack, const struct hf_symbols *symbols);

#endif
