/* SPDX-License-Identifier: Apache-2.0 */
#include "fs/bytes/ahead.h"
#include "fs/capture/opened.h"

/* How near to where the last read ended a read must be to count as going on: the kernel's own readahead comes out of
 * order. */
#define NEAR (UINT64_C(1) << 20)

bool hf_reading_note(struct hf_reading *reading, uint64_t offset, uint64_t end)
{
	HF_LOCKED(&reading->lock);
	if (offset + NEAR >= reading->expected && offset <= reading->expected + NEAR / 8) {
		reading->streak++;
		if (end > reading->expected)
			reading->expected = end;
	} else {
		reading->streak = 0;
		reading->expected = end;
		reading->ahead = reading->planned = 0;
	}
	return reading->streak >= 2;
}

static uint64_t planned(struct hf_reading *reading)
{
	HF_LOCKED(&reading->lock);
	return reading->planned;
}

void hf_reading_ahead(struct hf_reading *reading, const struct hf_bytes *source, uint64_t end)
{
	struct hf_common *common = source->capture->common;
	const unsigned threads = hf_exec_seats(common->exec, HF_WORK_DECODE);
	struct hf_piece piece;
	struct hf_open *open;
	struct hf_cache_block *block;
	uint64_t bytes = 0;
	size_t count = 0;
	int err;

	if (end >= source->base + source->size || end <= planned(reading) ||
	    hf_exec_load(common->exec, HF_WORK_DECODE, HF_LATER) > 8u * threads || hf_bytes_open(source, 0, &open))
		return;
	err = source->ops->piece_at(source, open, end - 1, &piece);
	pthread_mutex_lock(&reading->lock);
	if (!err)
		reading->planned = piece.offset + piece.size;
	while (!err && !(err = source->ops->piece(source, open, piece.number + 1, &piece))) {
		struct hf_cache_key key = {source->owner, piece.number};

		if (piece.offset >= source->base + source->size)
			break;
		bytes += piece.size;
		if ((++count > 2 * threads && bytes > HF_EVEN_PIECE) || count > 256 ||
		    (source->ops->at_once && count > source->ops->at_once) ||
		    bytes > common->options.cache_bytes / 4)
			break;
		if (piece.number < reading->ahead || !piece.size || hf_cache_has(common->cache, key))
			continue;
		reading->ahead = piece.number + 1;
		switch (hf_cache_acquire(common->cache, key, NULL, &block, &err)) {
		case HF_CACHE_MAKE:
			hf_bytes_submit(source, piece.number, block, HF_LATER);
			break;
		case HF_CACHE_HIT:
			hf_cache_unpin(common->cache, block);
			break;
		default:
			break;
		}
	}
	pthread_mutex_unlock(&reading->lock);
	hf_bytes_close(open, 0);
}

enum { ONCE_MAX = 64 << 10 };

static bool is_again(struct hf_reading *reading, uint64_t number)
{
	bool again;

	HF_LOCKED(&reading->lock);
	again = reading->once == number + 1;
	reading->once = number + 1;
	return again;
}

bool hf_reading_goes_once(struct hf_reading *reading, const struct hf_bytes *bytes, const struct hf_piece *piece,
			  size_t count, uint64_t offset, size_t size)
{
	/* With pieces so small that there are more of them, whole ones are as good. */
	bool once = offset && size <= ONCE_MAX &&
		    piece[count - 1].offset + piece[count - 1].size >= bytes->base + offset + size;

	for (size_t i = 0; i < count && once; i++)
		once = piece[i].parts && !hf_cache_has(bytes->capture->common->cache,
						       (struct hf_cache_key){bytes->owner, piece[i].number});
	if (!once)
		return false;
	if (!bytes->ops->table)
		return !is_again(reading, piece[count - 1].number);
	for (size_t i = 0; i < count; i++)
		once &= hf_once_note(&bytes->capture->common->once, bytes->owner, piece[i].number);
	return once;
}
