/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The seek index of a capture: which events each chunk of each hart holds and how to enter it (the decode index), and
 * where each chunk lies in each view (a view table per view and parameter set). All of it is a cache that can be
 * thrown away at any time. The files are SQLite databases, or, of small captures, sheets in packs (packs.h); schema.sql
 * is the documentation of both.
 * This is the door for those outside of index/; no file of it comes in here.
 */
#ifndef HF_INDEX_H
#define HF_INDEX_H

#include "index/build.h"
#include "index/chunk_make.h"
#include "index/codecs.h"
#include "index/compare.h"
#include "index/decode_index.h"
#include "index/discard.h"
#include "index/examine.h"
#include "index/file_name.h"
#include "index/hart.h"
#include "index/identity.h"
#include "index/libraries.h"
#include "index/limits.h"
#include "index/view_key.h"
#include "index/view_table.h"

#endif
