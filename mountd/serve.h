/* SPDX-License-Identifier: Apache-2.0 */
/* Answering requests about the tables of an archive (mountd/sql/PROTOCOL.md). */
#ifndef HF_MOUNTD_SERVE_H
#define HF_MOUNTD_SERVE_H

#include "fs/rows/rows.h"

/*
 * Answers on the socket until the client hangs up, or says what is no request. capture: the one that is meant where none is
 * named, and the only one that there is; NULL: there is none. False: the client went wrong.
 */
bool hf_serve(struct hf_fs *fs, int fd, const char *capture);

#endif
