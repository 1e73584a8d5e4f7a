/* SPDX-License-Identifier: Apache-2.0 */
/*
 * All containers: the first byte chooses the container and how the bytes below it arrive, the rest is the file. What
 * a scan gives must come again from read_block and from a resumed scan.
 */
#include "tests/lib/check.h"
#include "tests/lib/fuzz.h"
#include "tests/lib/sliver.h"

/* Enough for pieces of one large block; more only takes time. */
#define OUT_MAX ((size_t)6 << 20)
#define POINTS_MAX 8

struct seen {
	size_t n;
	struct hf_point points[POINTS_MAX];
	uint8_t windows[POINTS_MAX][HF_WINDOW_MAX];
	size_t count;
};

/* Not of the heap: only what an execution writes is touched. */
static uint8_t out[OUT_MAX];
static struct seen seen;

static void scan(const struct hf_box *box, struct hf_src *src)
{
	const uint8_t *bytes, *window;
	struct hf_diag diag = {0};
	struct hf_point point;
	struct hf_scan *s;
	size_t notes = 0;
	int err = box->scan_new(box, src, NULL, NULL, &s, &diag);

	MUST(err == 0);
	while (seen.n < OUT_MAX && (err = box->scan_next(s, &point, &bytes, &window, &diag)) == 0) {
		size_t n = point.out_size < OUT_MAX - seen.n ? (size_t)point.out_size : OUT_MAX - seen.n;

		MUST(point.out_offset == seen.n && point.out_size > 0);
		MUST(!bytes == !!(point.bits & HF_POINT_DAMAGED));
		if (bytes)
			memcpy(out + seen.n, bytes, n);
		else
			memset(out + seen.n, 0, n);
		seen.n += n;
		if (seen.count < POINTS_MAX && n == point.out_size) {
			seen.points[seen.count] = point;
			if (point.window_size)
				memcpy(seen.windows[seen.count], window, point.window_size);
			seen.count++;
		}
	}
	MUST(err != HF_ERR_BUG && err != HF_ERR_STATE);
	MUST(err >= 0 || diag.code == err);
	while (box->scan_note && box->scan_note(s, notes, &diag) == 0)
		notes++;
	box->scan_free(s);
}

static void read_blocks(const struct hf_box *box, struct hf_src *src)
{
	for (size_t i = 0; box->read_block && i < seen.count; i++) {
		const struct hf_point *p = &seen.points[i];
		const uint64_t skip = p->out_size / 3;
		const size_t n = (size_t)(p->out_size - skip);
		uint8_t *buf = malloc(n);

		MUST(buf);
		if (p->bits & HF_POINT_DAMAGED) {
			MUST(hf_err_class(box->read_block(box, src, p, NULL, skip, buf, n, NULL)) == HF_CLASS_corrupt);
		} else if (!(p->bits & HF_POINT_CONTINUES)) {
			MUST(box->read_block(box, src, p, seen.windows[i], skip, buf, n, NULL) == 0);
			MUST(!memcmp(buf, out + p->out_offset + skip, n));
		}
		free(buf);
	}
}

static void resume(const struct hf_box *box, struct hf_src *src, size_t i)
{
	const uint8_t *bytes, *window;
	struct hf_point point;
	struct hf_scan *s;

	if (seen.points[i].bits & (HF_POINT_CONTINUES | HF_POINT_DAMAGED))
		return;
	MUST(box->scan_new(box, src, &seen.points[i], seen.windows[i], &s, NULL) == 0);
	for (; i < seen.count; i++) {
		MUST(box->scan_next(s, &point, &bytes, &window, NULL) == 0);
		MUST(!memcmp(&point, &seen.points[i], sizeof point));
		MUST(!bytes || !memcmp(bytes, out + point.out_offset, (size_t)point.out_size));
	}
	box->scan_free(s);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const size_t most[] = {SIZE_MAX, 1, 7, 2047};
	struct hf_src *memory, *src;
	const struct hf_box *box;
	size_t boxes = 0;

	if (!size)
		return 0;
	while (hf_boxes[boxes])
		boxes++;
	box = hf_boxes[data[0] % boxes];
	MUST(hf_src_memory_new(data + 1, size - 1, &memory) == 0);
	MUST(hf_sliver_new(memory, most[data[0] / boxes % 4], &src) == 0);
	hf_box_probe(data + 1, size - 1 < 64 ? size - 1 : 64, size - 1);
	seen.n = seen.count = 0;
	scan(box, src);
	read_blocks(box, src);
	if (seen.count && box->enterable)
		resume(box, src, data[0] % seen.count);
	hf_src_free(src);
	hf_src_free(memory);
	return 0;
}
