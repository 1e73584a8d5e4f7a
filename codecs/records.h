/* What the decoders of records.txt share: text as DATA events. */
#ifndef HF_RECORDS_H
#define HF_RECORDS_H

#include "codecs/event.h"

#include <string.h>

/* Bytes of text in one event. */
#define HF_RECORDS_PIECE ((uint32_t)sizeof(((struct hf_ev_data *)0)->bytes))

/* text[*given, used) as events, at most max of them; *given moves on. Their number is returned. */
static inline size_t hf_records_give(const uint8_t *text, uint32_t used, uint32_t *given, struct hf_event *ev, size_t max)
{
	size_t n = 0;

	for (; n < max && *given < used; n++) {
		const uint32_t left = used - *given;

		ev[n].kind = HF_EVENT_DATA;
		ev[n].flags = 0;
		ev[n].size = 0;
		if (left >= HF_RECORDS_PIECE) {
			ev[n].small = (uint16_t)HF_RECORDS_PIECE;
			memcpy(ev[n].data.bytes, text + *given, HF_RECORDS_PIECE);
		} else {
			ev[n].small = (uint16_t)left;
			ev[n].data = (struct hf_ev_data){0};
			memcpy(ev[n].data.bytes, text + *given, left);
		}
		*given += ev[n].small;
	}
	return n;
}

#endif
