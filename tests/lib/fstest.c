/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/lib/fstest.h"
#include "codecs/base/errors.h"
#include "tests/lib/stftest.h"

#include <fcntl.h>
#include <ftw.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static void make_directories(struct hf_fst *t)
{
	snprintf(t->archive, sizeof t->archive, "%s/archive", t->dir);
	snprintf(t->index, sizeof t->index, "%s/index", t->dir);
	CHECK_EQ(mkdir(t->archive, 0755), 0);
	CHECK_EQ(mkdir(t->index, 0700), 0);
}

void hf_fst_begin(struct hf_fst *t)
{
	*t = (struct hf_fst){.dir = "/tmp/hartfs-unit.XXXXXX"};
	CHECK(mkdtemp(t->dir));
	make_directories(t);
}

void hf_fst_begin_quick(struct hf_fst *t)
{
	*t = (struct hf_fst){.dir = "/dev/shm/hartfs-unit.XXXXXX"};
	if (mkdtemp(t->dir))
		make_directories(t);
	else
		hf_fst_begin(t);
}

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	(void)st;
	(void)type;
	(void)ftw;
	return remove(path);
}

void hf_fst_end(struct hf_fst *t)
{
	if (t->fs)
		hf_fst_close(t);
	nftw(t->dir, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

const char *hf_fst_path(struct hf_fst *t, const char *path)
{
	static char buf[8192];

	snprintf(buf, sizeof buf, "%s/%s", t->archive, path);
	return buf;
}

void hf_fst_write(struct hf_fst *t, const char *path, const void *bytes, size_t n)
{
	char full[8192];
	FILE *file;

	snprintf(full, sizeof full, "%s", hf_fst_path(t, path));
	for (char *slash = full + strlen(t->archive) + 1; (slash = strchr(slash, '/')); *slash++ = '/') {
		*slash = '\0';
		mkdir(full, 0755);
	}
	file = fopen(full, "wb");
	CHECK(file);
	CHECK_EQ(fwrite(bytes, 1, n, file), n);
	CHECK_EQ(fclose(file), 0);
}

void hf_fst_write_text(struct hf_fst *t, const char *path, const char *text)
{
	hf_fst_write(t, path, text, strlen(text));
}

struct hf_walk_bytes hf_fst_stf(size_t insns, uint64_t seed, bool many_harts)
{
	struct hf_walk_bytes b = {0};
	uint64_t features = HF_STF_FEATURE_EVENT64 | HF_STF_FEATURE_RV64;

	hf_stft_header(&b, many_harts ? features | HF_STF_FEATURE_MULTI_CORE : features, 0x80000000);
	for (size_t i = 0; i < insns; i++) {
		uint32_t r = hf_rand_next(&seed);

		if (many_harts && r % 5 == 0)
			PUT(&b, PROCESS_ID_EXT, .hw = r >> 8 & 1);
		switch (r >> 16 & 15) {
		case 0: /* a jump back or forth */
			PUT(&b, INST_PC_TARGET, .address = 0x80000000 + (r >> 20 & 0xff) * 4);
			PUT(&b, INST_OPCODE32, .size = 0x78067);
			break;
		case 1: /* a fault, whose instruction does not retire */
			hf_stft_event(&b, 13, 1, (uint64_t[]){0x1000});
			PUT(&b, EVENT_PC_TARGET, .address = 0x80001000);
			PUT(&b, INST_OPCODE32, .size = 0x00052503);
			break;
		case 2:
			PUT(&b, INST_OPCODE16, .size = 0x0001);
			break;
		default:
			PUT(&b, INST_OPCODE32, .size = 0x13 | (r & 31) << 7);
			break;
		}
	}
	return b;
}

static void print_log(void *ctx, int level, const char *line)
{
	(void)ctx;
	fprintf(stderr, "<%d> %s\n", level, line);
}

void hf_fst_open(struct hf_fst *t, const struct hf_fs_options *given)
{
	struct hf_fs_options options = given ? *given : (struct hf_fs_options){0};
	struct hf_diag diag;

	options.archive_fd = open(t->archive, O_PATH | O_DIRECTORY | O_CLOEXEC);
	options.index_fd = open(t->index, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (!options.threads)
		options.threads = 2;
	if (!options.index_threads)
		options.index_threads = 2;
	if (getenv("HARTFS_TEST_LOG"))
		options.log = print_log;
	CHECK_EQ(hf_fs_open(&options, &t->fs, &diag), 0);
}

void hf_fst_close(struct hf_fst *t)
{
	hf_fs_close(t->fs);
	t->fs = NULL;
}

static int look_up(struct hf_fst *t, const char *path, struct hf_attr *ret_attr)
{
	uint64_t ino;
	int err = hf_fs_resolve(t->fs, path, &ino);

	return err ? err : hf_fs_getattr(t->fs, ino, ret_attr);
}

int hf_fst_look_once(struct hf_fst *t, const char *path, struct hf_attr *ret_attr)
{
	int err = look_up(t, path, ret_attr);

	if (err != HF_ERR_NOT_FOUND)
		return err;
	hf_fs_idle(t->fs);
	return look_up(t, path, ret_attr);
}

static void give_back(struct hf_fst *t, const struct hf_attr *attr)
{
	hf_fs_forget(t->fs, attr->st.st_ino, 1);
}

void hf_fst_must_be_indexed(struct hf_fst *t, const char *views)
{
	struct hf_attr attr;
	char path[256];

	snprintf(path, sizeof path, "%s/hart0", views);
	CHECK_EQ(hf_fst_lookup(t, path, &attr), 0);
	give_back(t, &attr);
}

bool hf_fst_exists(struct hf_fst *t, const char *path)
{
	struct hf_attr attr;

	if (hf_fst_look_once(t, path, &attr))
		return false;
	give_back(t, &attr);
	return true;
}

int hf_fst_lookup(struct hf_fst *t, const char *path, struct hf_attr *ret_attr)
{
	int err = hf_fst_look_once(t, path, ret_attr);

	for (int tries = 0; err == HF_ERR_BUSY && tries < HF_TEST_PATIENCE_MS / 50; tries++) {
		usleep(50000);
		err = hf_fst_look_once(t, path, ret_attr);
	}
	return err;
}

bool hf_fst_comes(struct hf_fst *t, const char *path)
{
	struct hf_attr attr;

	if (hf_fst_lookup(t, path, &attr))
		return false;
	give_back(t, &attr);
	return true;
}

/* Fails with the path in the message. */
static void must_look_up(struct hf_fst *t, const char *path, struct hf_attr *ret_attr)
{
	int err = hf_fst_lookup(t, path, ret_attr);

	if (err) {
		fprintf(stderr, "%s: %s\n", path, hf_err_name(err));
		exit(1);
	}
}

uint64_t hf_fst_size(struct hf_fst *t, const char *path)
{
	struct hf_attr attr;

	must_look_up(t, path, &attr);
	give_back(t, &attr);
	return (uint64_t)attr.st.st_size;
}

static struct hf_file *open_file(struct hf_fst *t, const char *path, uint64_t *ret_size)
{
	struct hf_attr attr;
	struct hf_file *file;
	bool keep;
	int err = HF_ERR_CHANGED;

	/* What became ready between the two is looked up again, as the kernel does for ESTALE. */
	for (int tries = 0; tries < 3 && err == HF_ERR_CHANGED; tries++) {
		must_look_up(t, path, &attr);
		err = hf_file_open(t->fs, attr.st.st_ino, &file, &keep);
		give_back(t, &attr);
	}
	CHECK_EQ(err, 0);
	*ret_size = (uint64_t)attr.st.st_size;
	return file;
}

struct hf_file *hf_fst_open_file(struct hf_fst *t, const char *path)
{
	uint64_t size;

	return open_file(t, path, &size);
}

struct hf_walk_bytes hf_fst_read(struct hf_fst *t, const char *path, size_t step)
{
	struct hf_walk_bytes b = {0};
	uint64_t size;
	struct hf_file *file = open_file(t, path, &size);
	uint8_t *buf = malloc(step);
	size_t n;
	int err;

	CHECK(buf);
	do {
		err = hf_fs_read_wait(t->fs, file, b.n, buf, step, &n);
		if (err) {
			fprintf(stderr, "%s: %s at byte %zu\n", path, hf_err_name(err), b.n);
			exit(1);
		}
		hf_bytes_add(&b, buf, n);
	} while (n == step);
	CHECK_EQ(b.n, size);
	hf_file_close(file);
	free(buf);
	return b;
}

char *hf_fst_text(struct hf_fst *t, const char *path)
{
	struct hf_walk_bytes b = hf_fst_read(t, path, 1 << 16);

	hf_bytes_add(&b, "", 1);
	return (char *)b.p;
}

struct names {
	char *text;
	size_t size;
	FILE *out;
	struct hf_fst *t;
	uint64_t ino;
	bool plus;
	unsigned count, room; /* entries this call may still give */
	uint64_t cookie;
};

static bool take(void *ctx, const char *name, const struct hf_attr *attr, uint64_t next_cookie)
{
	struct names *names = ctx;
	struct hf_attr looked;
	int err;

	if (!names->room)
		return false;
	names->room--;
	names->count++;
	names->cookie = next_cookie;
	if (strcmp(name, ".") == 0 || strcmp(name, "..") == 0)
		return true;
	err = hf_fs_lookup(names->t->fs, names->ino, name, &looked);
	if (err == HF_ERR_NOT_FOUND && strcmp(name, "INDEXING") == 0)
		return true; /* the capture was indexed between the two */
	fprintf(names->out, "%s\n", name);
	CHECK_EQ(err, 0);
	CHECK_EQ(looked.st.st_ino, attr->st.st_ino);
	CHECK_EQ(looked.st.st_mode & S_IFMT, attr->st.st_mode & S_IFMT);
	if (names->plus) {
		CHECK_EQ(looked.st.st_mode, attr->st.st_mode);
		CHECK_EQ(looked.st.st_size, attr->st.st_size);
		hf_fs_forget(names->t->fs, attr->st.st_ino, 1);
	}
	hf_fs_forget(names->t->fs, looked.st.st_ino, 1);
	return true;
}

/* The directory read in portions of room entries. */
static char *list(struct hf_fst *t, uint64_t ino, bool plus, unsigned room)
{
	struct names names = {.t = t, .ino = ino, .plus = plus};
	struct hf_dir *dir;
	unsigned before;

	names.out = open_memstream(&names.text, &names.size);
	CHECK_EQ(hf_dir_open(t->fs, ino, &dir, NULL), 0);
	do {
		before = names.count;
		names.room = room;
		CHECK_EQ(hf_dir_read(dir, names.cookie, plus, take, &names), 0);
	} while (names.count > before);
	hf_dir_close(dir);
	fclose(names.out);
	return names.text;
}

char *hf_fst_list(struct hf_fst *t, const char *path)
{
	struct hf_attr attr;
	char *text, *again;

	must_look_up(t, path, &attr);
	text = list(t, attr.st.st_ino, false, 1000000);
	again = list(t, attr.st.st_ino, true, 3);
	CHECK_STR(text, again);
	give_back(t, &attr);
	free(again);
	return text;
}

void hf_fst_sleep_ms(unsigned ms)
{
	nanosleep(&(struct timespec){.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000L}, NULL);
}
