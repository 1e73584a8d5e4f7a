/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The seek index of a capture: which events each chunk of each hart holds and how to enter it (the decode index), and
 * where each chunk lies in each view (a view table per view and parameter set). All of it is a cache that can be
 * thrown away at any time. The files are SQLite databases; many small captures share one, a pack (packs.h); schema.sql
 * is the documentation of both.
 * This is the door for those outside of index/; no file of it comes in here.
 */
#ifndef HF_INDEX_H
#define HF_INDEX_H

#include "index/base/codecs.h"
#include "index/base/hart.h"
#include "index/base/identity.h"
#include "index/base/libraries.h"
#include "index/base/limits.h"
#include "index/base/view_key.h"
#include "index/pass/build.h"
#include "index/read/chunk_make.h"
#include "index/read/decode_index.h"
#include "index/read/view_table.h"
#include "index/store/discard.h"
#include "index/store/file_name.h"
#include "index/upkeep/compare.h"
#include "index/upkeep/examine.h"

#endif
