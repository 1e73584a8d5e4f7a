/* SPDX-License-Identifier: Apache-2.0 */
/* records.txt of E-Trace: one line a packet, field by field, in the order of the stream, losses included. */
#ifndef HF_ETRACE_RECORDS_H
#define HF_ETRACE_RECORDS_H

#include "codecs/etrace/framing.h"

extern const struct hf_dec_ops hf_etrace_records_ops;

#endif
