/* SPDX-License-Identifier: Apache-2.0 */
/* Packets of ITM and DWT: every kind, each cut at every byte, what is reserved, and what several of them mean together. */
#include "codecs/codec.h"
#include "codecs/itm/errors.h"
#include "codecs/itm/packet.h"
#include "tests/lib/check.h"
#include "tests/lib/walk.h"

#include <stdio.h>

extern const struct hf_codec hf_codec_itm;

static void check_packet(const char *bytes, size_t n, unsigned kind, unsigned id, uint64_t value)
{
	struct hf_itm_packet packet;

	for (size_t i = 0; i < n; i++)
		CHECK_EQ(hf_itm_packet_get((const uint8_t *)bytes, i, &packet), 0);
	CHECK_EQ(hf_itm_packet_get((const uint8_t *)bytes, n, &packet), n);
	CHECK_EQ(packet.size, n);
	CHECK_EQ(packet.kind, kind);
	CHECK_EQ(packet.id, id);
	CHECK_EQ(packet.value, value);
}

#define PACKET(bytes, kind, id, value) check_packet(bytes, sizeof bytes - 1, HF_ITM_##kind, id, value)

static void test_packets(void)
{
	static const uint8_t reserved[] = {0x04, 0x14, 0x24, 0xa4, 0xf4, 0x80, 0x90, 0xa0, 0xb0};
	struct hf_itm_packet packet;

	PACKET("\0\0\0\0\0\x80", SYNC, 0, 0);
	PACKET("\0\0\0\0\0\0\0\0\x80", SYNC, 0, 0);
	PACKET("\x70", OVERFLOW, 0, 0);
	PACKET("\x20", LOCAL, 0, 2);
	PACKET("\xd0\x0d", LOCAL, 1, 13);
	PACKET("\xc0\xbb\xdf\x74", LOCAL, 0, 0x1d2fbb);
	PACKET("\xf0\xff\xff\xff\x7f", LOCAL, 3, 0xfffffff);
	PACKET("\x94\x05", GLOBAL_1, 0, 5);
	PACKET("\x94\xff\xff\xff\x5f", GLOBAL_1, 2, 0x3ffffff);
	PACKET("\xb4\x81\x80\x80\x00", GLOBAL_2, 0, 1);
	PACKET("\xb4\x81\x80\x80\x80\x80\x01", GLOBAL_2, 0, UINT64_C(0x800000001));
	PACKET("\x18", EXTENSION, 0, 1);
	PACKET("\x98\x01", EXTENSION, 0, 9);
	PACKET("\x0c", EXTENSION, 1, 0);
	PACKET("\x19\xbb", SOFTWARE, 3, 0xbb);
	PACKET("\xfa\x34\x12", SOFTWARE, 31, 0x1234);
	PACKET("\x03\x78\x56\x34\x12", SOFTWARE, 0, 0x12345678);
	PACKET("\x17\x00\x10\x00\x00", HARDWARE, 2, 0x1000);
	PACKET("\x8f\x01\x00\x00\x00", HARDWARE, 17, 1);
	for (size_t i = 0; i < sizeof reserved; i++)
		CHECK_EQ(hf_itm_packet_get(&reserved[i], 1, &packet), -1);
	CHECK_EQ(hf_itm_packet_get((const uint8_t *)"\0\0\0\0\x80", 5, &packet), -1);
	CHECK_EQ(hf_itm_packet_get((const uint8_t *)"\0\0\0\0\0\1", 6, &packet), -1);
}

/* What a stream means, behind its synchronisation: kinds of events in a word each. */
static const char *words_of(const char *bytes, size_t n)
{
	static char text[2048];
	struct hf_setup setup = {.format = "itm"};
	struct hf_event ev[64];
	struct hf_stream *stream;
	struct hf_src *src;
	struct hf_dec *dec;
	char *p = text;
	size_t got;

	CHECK_EQ(hf_src_memory_new(bytes, n, &src), 0);
	CHECK_EQ(hf_stream_open(&hf_codec_itm, src, &setup, &stream, NULL), 0);
	CHECK_EQ(hf_dec_new(stream, src, 0, &dec), 0);
	*p = 0;
	while (hf_dec_next(dec, ev, 64, &got) == 0) {
		for (size_t i = 0; i < got; i++) {
			if (ev[i].kind == HF_EVENT_MARKER)
				p += sprintf(p, " %s:%llu=%llx/%llu", hf_marker_name(ev[i].what), (unsigned long long)ev[i].marker.number,
					     (unsigned long long)ev[i].marker.value, (unsigned long long)ev[i].marker.type);
			else if (ev[i].kind == HF_EVENT_CYCLES)
				p += sprintf(p, " +%llu%s", (unsigned long long)ev[i].time.value, ev[i].flags & HF_EVF_LATE ? "late" : "");
			else if (ev[i].kind == HF_EVENT_TIMESTAMP)
				p += sprintf(p, ev[i].flags & HF_EVF_NO_TIME ? " @?" : " @%llu", (unsigned long long)ev[i].time.value);
			else if (ev[i].kind != HF_EVENT_DATA)
				p += sprintf(p, " !%u:%llu", ev[i].code, (unsigned long long)ev[i].loss.bytes);
		}
	}
	hf_dec_free(dec);
	hf_stream_close(stream);
	hf_src_free(src);
	return text;
}

#define SYNC "\0\0\0\0\0\x80"
#define WORDS(bytes) words_of(SYNC bytes, sizeof SYNC bytes - 1)

static void test_meaning(void)
{
	CHECK_STR(WORDS("\x01\x48\x20"), " text:0=0/0 +2");
	/* a page holds up to the next synchronisation */
	CHECK_STR(WORDS("\x18\x01\x48" SYNC "\x01\x48"), " text:32=0/0 text:0=0/0");
	CHECK_STR(WORDS("\x47\xaa\xb8\x00\x08\x8f\x01\x00\x00\x00\x4e\x34\x12\x4d\x01"),
		  " watchpoint:0=800b8aa/0 watchpoint:0=1/3 watchpoint:0=1234/1 watchpoint:0=1/1");
	CHECK_STR(WORDS("\x15\x00\x15\xff\x15\x01"), " sample:0=0/1 sample:0=0/2 marker:1=1/2");
	CHECK_STR(WORDS("\x0e\x04\x10\x0e\x04\x20\x0e\x04\x30\x0e\x04\x00"),
		  " exception:4=0/1 exception:4=0/2 exception:4=0/3 marker:2=4/1");
	CHECK_STR(WORDS("\x05\x21\x1d\x80\xe0\x01"), " counter:0=0/1 counter:5=0/1 counter:39=0/1 +1late");
	/* only both halves are a time; of a second low one bits that are not sent stay, and one that wrapped waits */
	CHECK_STR(WORDS("\x94\x80\x80\x80\x01\xb4\x81\x80\x80\x00\x94\x05"), " @? @69206016 @69206021");
	CHECK_STR(WORDS("\x94\x80\x80\x80\x41\xb4\x82\x80\x80\x00"), " @136314880");
	/* what is lost, and what is cut */
	CHECK_STR(WORDS("\x01\x48\x84\x01\x02" SYNC "\x01\x48\x70"), " text:0=0/0 !194:3 text:0=0/0 !195:0");
	CHECK_STR(WORDS("\x01\x48\x03\x01"), " text:0=0/0 !196:2");
	/* without a synchronisation it is a guess, and a byte costs no more than itself */
	CHECK_STR(words_of("\x01\x48\x84\x01\x49", 5), " !197:0 text:0=0/0 !194:1 text:0=0/0");
	CHECK_STR(words_of("\x84\x01" SYNC "\x01\x48\x01\x49\x01\x49", 14), " !193:2 text:0=0/0 text:0=0/0 text:0=0/0");
}

int main(void)
{
	test_packets();
	test_meaning();
	return 0;
}
