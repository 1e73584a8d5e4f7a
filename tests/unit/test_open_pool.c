/* SPDX-License-Identifier: Apache-2.0 */
/* Which captures stay open: by number, by bytes and by descriptors, never one that is in use being closed for others; and
 * that who waits for descriptors ends with the fs. */
#include "codecs/base/errors.h"
#include "fs/capture/index_wait.h"
#include "fs/whole.h"
#include "tests/lib/fstest.h"
#include "tests/lib/testclock.h"

#include <sys/stat.h>
#include <unistd.h>

static struct hf_fst t;

enum { MANY = 24, THREADS = 2, CHUNK = 16 };

static struct hf_capture *capture_of(unsigned i)
{
	struct hf_capture *capture;
	char name[64];

	snprintf(name, sizeof name, "%03u.stf", i);
	CHECK_EQ(hf_capture_at(&t.fs->captures, name, &capture), 0);
	return capture;
}

static struct hf_open *open_it(unsigned i)
{
	struct hf_capture *capture = capture_of(i);
	struct hf_open *open;

	CHECK_EQ(hf_open_get(capture, capture->version, &open), 0);
	return open;
}

static void begin(void)
{
	char name[64];

	hf_fst_begin(&t);
	for (unsigned i = 0; i < MANY; i++) {
		struct hf_walk_bytes stf = hf_fst_stf(50 + i, i, false);

		snprintf(name, sizeof name, "%03u.stf", i);
		hf_fst_write(&t, name, stf.p, stf.n);
		hf_bytes_free(&stf);
	}
	hf_fst_open(&t, &(struct hf_fs_options){.threads = THREADS, .index_threads = 1, .chunk_insns = CHUNK});
	hf_fs_index_all(t.fs);
	hf_fs_idle(t.fs);
	hf_open_pool_shed(&t.fs->captures.open_pool);
	CHECK_EQ(t.fs->captures.open_pool.count, 0);
	CHECK_EQ(t.fs->captures.open_pool.bytes, 0);
	CHECK_EQ(t.fs->captures.open_pool.files, 0);
}

/* As many as fit the bytes; the ones used longest ago go. */
static void test_bytes(void)
{
	struct hf_open_pool *pool = &t.fs->captures.open_pool;
	struct hf_open *open = open_it(0);
	const uint64_t one = open->bytes;

	CHECK(one > 1 << 16);
	hf_open_put(open);
	pool->max_bytes = one * 5;
	for (unsigned i = 0; i < MANY; i++) {
		hf_open_put(open_it(i));
		CHECK(pool->bytes <= pool->max_bytes);
		CHECK(capture_of(i)->open);
	}
	CHECK(pool->count >= 2 && pool->count < 10);
	CHECK(!capture_of(0)->open);
	/* One that alone is too large stays until there is another. */
	pool->max_bytes = 1;
	hf_open_put(open_it(3));
	CHECK_EQ(pool->count, 1);
	hf_open_put(open_it(3));
	hf_open_put(open_it(4));
	CHECK_EQ(pool->count, 1);
	CHECK(capture_of(4)->open && !capture_of(3)->open);
	pool->max_bytes = HF_OPEN_CAPTURES_BYTES;
	hf_open_pool_shed(pool);
}

/* As many as fit the descriptors, one that is being opened counted with all it may need. */
static void test_files(void)
{
	struct hf_open_pool *pool = &t.fs->captures.open_pool;
	const size_t before = pool->max_files;

	pool->max_files = 3 * HF_OPEN_FILES;
	for (unsigned i = 0; i < MANY; i++) {
		hf_open_put(open_it(i));
		CHECK(pool->files <= pool->max_files);
	}
	CHECK(pool->count >= 2 && pool->count < MANY / 2);
	pool->max_files = before;
	hf_open_pool_shed(pool);
	CHECK_EQ(pool->files, 0);
}

/* What is in use stays open, whatever it takes, and is closed when it is not any more. */
static void test_in_use(void)
{
	struct hf_open_pool *pool = &t.fs->captures.open_pool;
	struct hf_open *open[8];

	pool->max_bytes = 1;
	for (unsigned i = 0; i < 8; i++)
		open[i] = open_it(i);
	CHECK_EQ(pool->count, 8);
	CHECK_EQ(hf_open_pool_shed(pool), 0);
	for (unsigned i = 0; i < 8; i++)
		CHECK(capture_of(i)->open == open[i] && open[i]->index);
	for (unsigned i = 0; i < 8; i++)
		hf_open_put(open[i]);
	CHECK(pool->count <= 1);
	pool->max_bytes = HF_OPEN_CAPTURES_BYTES;
	hf_open_pool_shed(pool);
	CHECK_EQ(pool->bytes, 0);
}

/* Returns how many chunks those that wait have made of it, which are all. */
static unsigned read_listing(unsigned i)
{
	struct hf_decoder_pool *pool = &t.fs->captures.decoder_pool;
	unsigned chunks = 0;
	char path[64];

	snprintf(path, sizeof path, "%03u@stf/hart0/listing.txt", i);
	free(hf_fst_text(&t, path));
	hf_fs_idle(t.fs);
	for (unsigned k = 0; k < pool->count; k++)
		chunks += pool->waiting[k].open == capture_of(i)->open ? pool->waiting[k].chunks : 0;
	CHECK_EQ(chunks, hf_facts_hart(capture_of(i)->open->facts, 0)->info.chunks);
	return chunks;
}

/* What made a chunk makes the next ones too; few wait, and none longer than the capture is open. */
static void test_decoder_pool(void)
{
	struct hf_decoder_pool *pool = &t.fs->captures.decoder_pool;
	const struct hf_open *open;

	CHECK_EQ(pool->count, 0);
	CHECK(read_listing(2) > 1);
	CHECK(pool->count >= 1 && pool->count <= THREADS);
	for (unsigned i = 3; i < 4 + HF_DECODER_POOL_MAX; i++)
		read_listing(i);
	CHECK_EQ(pool->count, HF_DECODER_POOL_MAX);
	open = pool->waiting[1].open;
	hf_open_drop(open->capture);
	CHECK(pool->count < HF_DECODER_POOL_MAX);
	for (unsigned k = 0; k < pool->count; k++)
		CHECK(pool->waiting[k].open != open);
	hf_open_pool_shed(&t.fs->captures.open_pool);
	CHECK_EQ(pool->count, 0);
}

struct waiter {
	pthread_t thread;
	_Atomic bool done;
};

static void *open_another(void *arg)
{
	struct waiter *waiter = arg;

	hf_open_put(open_it(1));
	waiter->done = true;
	return NULL;
}

/* Who waits from now on waits for an hour. */
static void put_deadlines_off(void)
{
	hf_clock_stop();
	hf_clock_advance_ms(3600000);
	hf_clock_go_on();
}

/* Who needs descriptors that another is using waits for them. */
static void test_wait(void)
{
	struct hf_open_pool *pool = &t.fs->captures.open_pool;
	const size_t before = pool->max_files;
	struct waiter waiter = {.done = false};
	struct hf_open *open = open_it(0);

	pool->max_files = HF_OPEN_FILES;
	put_deadlines_off();
	CHECK_EQ(pthread_create(&waiter.thread, NULL, open_another, &waiter), 0);
	hf_fst_sleep_ms(100);
	CHECK(!waiter.done);
	hf_open_put(open);
	CHECK_COMES(waiter.done);
	CHECK_EQ(pthread_join(waiter.thread, NULL), 0);
	CHECK(!capture_of(0)->open);
	pool->max_files = before;
	hf_open_pool_shed(pool);
}

struct opener {
	pthread_t thread;
	struct hf_capture *capture;
	uint64_t version;
	pthread_barrier_t *begin;
};

static void *open_version(void *arg)
{
	struct opener *opener = arg;
	struct hf_open *open;

	pthread_barrier_wait(opener->begin);
	CHECK_EQ(hf_open_get(opener->capture, opener->version, &open), 0);
	hf_open_put(open);
	return NULL;
}

/* As when the file changed. */
static uint64_t begin_version(struct hf_capture *capture)
{
	struct hf_facts *facts;
	uint64_t version;

	pthread_mutex_lock(&capture->lock);
	version = atomic_fetch_add(&capture->version, 1) + 1;
	facts = capture->facts;
	capture->facts = NULL;
	capture->state = HF_CAPTURE_UNKNOWN;
	pthread_mutex_unlock(&capture->lock);
	hf_facts_unref(facts);
	return version;
}

/* A version is opened once, however many ask for it at the same time while an older one is still open. */
static void test_one_flight(void)
{
	struct hf_capture *capture = capture_of(0);
	struct opener opener[4];
	pthread_barrier_t begin;

	pthread_barrier_init(&begin, NULL, 4);
	for (int round = 0; round < 300; round++) {
		struct hf_open *older = open_it(0);
		const uint64_t opened = t.fs->captures.catalogue_use.opened, version = begin_version(capture);

		for (unsigned i = 0; i < 4; i++) {
			opener[i] = (struct opener){.capture = capture, .version = version, .begin = &begin};
			CHECK_EQ(pthread_create(&opener[i].thread, NULL, open_version, &opener[i]), 0);
		}
		for (unsigned i = 0; i < 4; i++)
			CHECK_EQ(pthread_join(opener[i].thread, NULL), 0);
		CHECK_EQ(t.fs->captures.catalogue_use.opened, opened + 1);
		hf_open_put(older);
	}
	pthread_barrier_destroy(&begin);
	hf_open_pool_shed(&t.fs->captures.open_pool);
}

/* ---- files that are held ---- */

static struct hf_open_files held;

static struct hf_src *hold(const char *path)
{
	struct hf_src *src;
	struct stat st;

	CHECK_EQ(hf_open_file_as_src(&held, path, &st, &src), 0);
	return src;
}

static int read_byte(struct hf_src *src, uint8_t *ret_byte)
{
	size_t n;
	int err = hf_src_read_at(src, 0, ret_byte, 1, &n, NULL);

	CHECK(err || n == 1);
	return err;
}

static void test_held(void)
{
	struct hf_src *src[20];
	uint8_t byte;
	char name[16];

	hf_open_files_init(&held, &t.fs->archive, 4);
	for (unsigned i = 0; i < 20; i++) {
		snprintf(name, sizeof name, "h%u", i);
		hf_fst_write(&t, name, &(uint8_t){(uint8_t)i}, 1);
		src[i] = hold(name);
		CHECK(held.idle <= 4);
	}
	for (unsigned i = 0; i < 20; i++) {
		CHECK_EQ(read_byte(src[i], &byte), 0);
		CHECK_EQ(byte, i);
		CHECK(held.idle <= 4);
	}
	/* Gone, or another file, by the time it is opened again; a descriptor that is still there reads on. */
	CHECK_EQ(unlink(hf_fst_path(&t, "h19")), 0);
	CHECK_EQ(read_byte(src[19], &byte), 0);
	CHECK_EQ(hf_open_files_shed(&held), 4);
	CHECK_EQ(read_byte(src[19], &byte), HF_ERR_CHANGED);
	CHECK_EQ(unlink(hf_fst_path(&t, "h18")), 0);
	hf_fst_write(&t, "h18", "x", 1);
	CHECK_EQ(read_byte(src[18], &byte), HF_ERR_CHANGED);
	hf_fst_write(&t, "h17", "longer", 6);
	CHECK_EQ(read_byte(src[17], &byte), HF_ERR_CHANGED);
	CHECK_EQ(read_byte(src[16], &byte), 0);
	for (unsigned i = 0; i < 20; i++)
		hf_src_free(src[i]);
	CHECK_EQ(held.idle, 0);
	hf_open_files_fini(&held);
}

/* ---- shares ---- */

static void test_shares(void)
{
	static const size_t limits[] = {64, 128, 256, 1024, 4096, 1 << 20};

	for (size_t i = 0; i < sizeof limits / sizeof *limits; i++) {
		struct hf_descriptors d = {.limit = 0};

		hf_descriptors_divide(&d, limits[i]);
		CHECK(d.open_files && d.open >= HF_OPEN_FILES && d.builds);
		/* Half is left for the moment, where there is any choice. */
		if (limits[i] >= 256)
			CHECK(d.open_files + d.open + d.builds * 2 * (HF_VIEW_COUNT + 1) <= limits[i] * 5 / 8);
	}
}

/* ---- the end ---- */

static void *open_at_the_end(void *arg)
{
	struct waiter *waiter = arg;
	struct hf_capture *capture = capture_of(1);
	struct hf_open *open;

	if (!hf_open_get(capture, capture->version, &open))
		hf_open_put(open);
	waiter->done = true;
	return NULL;
}

static bool is_indexing(struct hf_capture *capture)
{
	bool indexing;

	pthread_mutex_lock(&capture->lock);
	indexing = capture->state == HF_CAPTURE_INDEXING;
	pthread_mutex_unlock(&capture->lock);
	return indexing;
}

/* Builds that wait for descriptors keep no other one from its seat, and end with the fs, as does who waits to open one. */
static void test_end(void)
{
	struct hf_walk_bytes stf = hf_fst_stf(50, 1, false);
	struct hf_open_pool *pool = &t.fs->captures.open_pool;
	struct hf_descriptors *d = &t.fs->descriptors;
	struct waiter waiter = {.done = false};
	struct hf_open *open = open_it(0);
	struct hf_capture *capture[2];
	struct hf_facts *facts;

	pthread_mutex_lock(&d->lock);
	d->builds = 0;
	pthread_mutex_unlock(&d->lock);
	for (unsigned i = 0; i < 2; i++) {
		hf_fst_write(&t, i ? "new1.stf" : "new0.stf", stf.p, stf.n);
		CHECK_EQ(hf_capture_at(&t.fs->captures, i ? "new1.stf" : "new0.stf", &capture[i]), 0);
		CHECK_EQ(hf_capture_facts(capture[i], 0, &facts), HF_ERR_BUSY);
	}
	hf_bytes_free(&stf);
	CHECK_EQ(hf_exec_seats(t.fs->common.exec, HF_WORK_INDEX), 1);
	CHECK_COMES(is_indexing(capture[0]) && is_indexing(capture[1]));
	pthread_mutex_lock(&pool->lock);
	pool->max_files = HF_OPEN_FILES;
	pthread_mutex_unlock(&pool->lock);
	put_deadlines_off();
	CHECK_EQ(pthread_create(&waiter.thread, NULL, open_at_the_end, &waiter), 0);
	hf_fst_sleep_ms(100);
	CHECK(!waiter.done);
	hf_fs_stop(t.fs);
	/* Nobody else's descriptors came free: without the end it waits for them for an hour. */
	CHECK_COMES(waiter.done);
	CHECK_EQ(pthread_join(waiter.thread, NULL), 0);
	hf_open_put(open);
	hf_fst_close(&t);
}

int main(void)
{
	begin();
	test_bytes();
	test_files();
	test_in_use();
	test_decoder_pool();
	test_wait();
	test_one_flight();
	test_held();
	test_shares();
	test_end();
	hf_fst_end(&t);
	return 0;
}
