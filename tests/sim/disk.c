/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/sim/disk.h"

#include "tests/sim/sched.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define MEMORY ((size_t)1 << 30)
#define CLASSES 31
#define PAGE 4096

/* A change of a name that the directory was not synced after. */
struct undo {
	struct undo *next;
	struct sim_inode *dir, *before;
	char name[];
};

/* In front of the shared memory. */
struct disk {
	size_t begin, used;
	void *spare[CLASSES]; /* blocks of 1 << i bytes */
	struct sim_inode *inodes, *root[SIM_PARTS];
	struct undo *undo;
	uint64_t numbers;
};

static struct disk *disk;

uint64_t sim_disk_room[SIM_PARTS];

/* ---- memory ---- */

static unsigned class_of(size_t n)
{
	unsigned i = 4;

	while ((size_t)1 << i < n)
		i++;
	return i;
}

static void *take(size_t n)
{
	const unsigned i = class_of(n);
	void *p = disk->spare[i];

	if (p) {
		memcpy(&disk->spare[i], p, sizeof(void *));
	} else {
		if (disk->used + ((size_t)1 << i) > MEMORY)
			sim_fail("the simulated disks are full");
		p = (char *)disk + disk->used;
		disk->used += (size_t)1 << i;
	}
	memset(p, 0, (size_t)1 << i);
	return p;
}

static void give(void *p, size_t n)
{
	const unsigned i = class_of(n);

	if (!p)
		return;
	memcpy(p, &disk->spare[i], sizeof(void *));
	disk->spare[i] = p;
}

void sim_disk_init(size_t front, void **ret_front)
{
	disk = mmap(NULL, MEMORY, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (disk == MAP_FAILED) {
		perror("mmap");
		_Exit(1);
	}
	*ret_front = disk + 1;
	disk->begin = (sizeof *disk + front + PAGE) & ~(size_t)(PAGE - 1);
}

void sim_disk_format(void)
{
	const size_t begin = disk->begin;

	*disk = (struct disk){.begin = begin, .used = begin};
	for (int i = 0; i < SIM_PARTS; i++) {
		disk->root[i] = sim_inode_new((enum sim_part)i, S_IFDIR | (i == SIM_INDEX ? 0700 : 0755), "/");
		disk->root[i]->links = 2;
	}
}

struct sim_inode *sim_disk_root(enum sim_part part)
{
	return disk->root[part];
}

uint64_t sim_disk_used(enum sim_part part)
{
	uint64_t n = 0;

	for (const struct sim_inode *i = disk->inodes; i; i = i->next)
		n += i->part == part ? i->now.n : 0;
	return n;
}

/* ---- contents ---- */

void sim_blob_resize(struct sim_blob *blob, size_t n)
{
	if (n > blob->room) {
		const size_t room = (size_t)1 << class_of(n);
		uint8_t *p = take(room);

		if (blob->n)
			memcpy(p, blob->p, blob->n);
		if (blob->p)
			give(blob->p, blob->room);
		blob->p = p;
		blob->room = room;
	}
	if (n > blob->n)
		memset(blob->p + blob->n, 0, n - blob->n);
	blob->n = n;
}

void sim_blob_write(struct sim_blob *blob, const void *bytes, size_t n, uint64_t offset)
{
	if (offset + n > blob->n)
		sim_blob_resize(blob, offset + n);
	if (n)
		memcpy(blob->p + offset, bytes, n);
}

static void copy(struct sim_blob *to, const struct sim_blob *from)
{
	sim_blob_resize(to, 0);
	sim_blob_write(to, from->p, from->n, 0);
}

/* ---- names ---- */

struct sim_inode *sim_inode_new(enum sim_part part, unsigned mode, const char *name)
{
	struct sim_inode *inode = take(sizeof *inode);

	*inode = (struct sim_inode){.next = disk->inodes,
				    .number = ++disk->numbers,
				    .part = part,
				    .mode = mode,
				    .uid = geteuid(),
				    .gid = getegid()};
	inode->born_ns = inode->mtime_ns = inode->ctime_ns = sim_now_ns();
	snprintf(inode->name, sizeof inode->name, "%s", name);
	disk->inodes = inode;
	return inode;
}

static bool is_remembered(const struct sim_inode *inode)
{
	for (const struct undo *u = disk->undo; u; u = u->next)
		if (u->before == inode || u->dir == inode)
			return true;
	return false;
}

void sim_inode_tidy(struct sim_inode *inode)
{
	struct sim_inode **at = &disk->inodes;

	if (inode->links || inode->opens || is_remembered(inode))
		return;
	while (*at != inode)
		at = &(*at)->next;
	*at = inode->next;
	give(inode->now.p, inode->now.room);
	give(inode->safe.p, inode->safe.room);
	give(inode, sizeof *inode);
}

static struct sim_entry **find(const struct sim_inode *dir, const char *name, size_t n)
{
	struct sim_entry **at = (struct sim_entry **)&dir->entries;

	while (*at && (strlen((*at)->name) != n || memcmp((*at)->name, name, n) != 0))
		at = &(*at)->next;
	return at;
}

struct sim_inode *sim_dir_find(const struct sim_inode *dir, const char *name, size_t n)
{
	const struct sim_entry *e = *find(dir, name, n);

	return e ? e->inode : NULL;
}

static void set(struct sim_inode *dir, const char *name, size_t n, struct sim_inode *inode)
{
	struct sim_entry **at = find(dir, name, n), *e = *at;
	struct sim_inode *before = e ? e->inode : NULL;

	if (inode)
		inode->links++;
	if (e && !inode) {
		*at = e->next;
		give(e, sizeof *e + n + 1);
	} else if (e) {
		e->inode = inode;
	} else if (inode) {
		e = *at = take(sizeof *e + n + 1);
		e->inode = inode;
		memcpy(e->name, name, n);
	}
	if (inode && S_ISDIR(inode->mode))
		inode->parent = dir;
	if (inode && n < sizeof inode->name) {
		memcpy(inode->name, name, n);
		inode->name[n] = '\0';
	}
	dir->mtime_ns = dir->ctime_ns = sim_now_ns();
	if (before) {
		before->links -= S_ISDIR(before->mode) ? before->links : 1;
		before->ctime_ns = sim_now_ns();
		sim_inode_tidy(before);
	}
}

void sim_dir_set(struct sim_inode *dir, const char *name, size_t n, struct sim_inode *inode)
{
	if (dir->part == SIM_INDEX) {
		struct undo *u = take(sizeof *u + n + 1);

		*u = (struct undo){.next = disk->undo, .dir = dir, .before = sim_dir_find(dir, name, n)};
		memcpy(u->name, name, n);
		disk->undo = u;
	}
	set(dir, name, n, inode);
}

static void forget(struct undo **at)
{
	struct undo *u = *at;

	*at = u->next;
	if (u->before)
		sim_inode_tidy(u->before);
	give(u, sizeof *u + strlen(u->name) + 1);
}

void sim_inode_sync(struct sim_inode *inode)
{
	if (!S_ISDIR(inode->mode)) {
		if (inode->dirty)
			copy(&inode->safe, &inode->now);
		inode->dirty = false;
		return;
	}
	for (struct undo **at = &disk->undo; *at;)
		if ((*at)->dir == inode)
			forget(at);
		else
			at = &(*at)->next;
}

/* ---- disasters ---- */

void sim_disk_killed(void)
{
	for (struct sim_inode *i = disk->inodes, *next; i; i = next) {
		next = i->next;
		i->lock = NULL;
		i->opens = 0;
	}
	for (struct sim_inode *i = disk->inodes, *next; i; i = next) {
		next = i->next;
		sim_inode_tidy(i);
	}
}

static void lose_pages(struct sim_inode *inode)
{
	const bool new_size = sim_one_in(2);

	for (size_t at = 0; at < inode->now.n; at += PAGE) {
		size_t n = inode->now.n - at < PAGE ? inode->now.n - at : PAGE;

		/* A page that did not reach the disk reads as zeros where only the new size did. */
		if (sim_one_in(2)) {
			memset(inode->now.p + at, 0, n);
			if (at < inode->safe.n)
				memcpy(inode->now.p + at, inode->safe.p + at,
				       inode->safe.n - at < n ? inode->safe.n - at : n);
		}
	}
	if (!new_size)
		sim_blob_resize(&inode->now, inode->safe.n);
	copy(&inode->safe, &inode->now);
	inode->dirty = false;
}

void sim_disk_lost_power(void)
{
	while (disk->undo && sim_below(4)) {
		struct undo *u = disk->undo;

		set(u->dir, u->name, strlen(u->name), u->before);
		forget(&disk->undo);
	}
	while (disk->undo)
		forget(&disk->undo);
	for (struct sim_inode *i = disk->inodes; i; i = i->next)
		if (i->part == SIM_INDEX && i->dirty)
			lose_pages(i);
}

void sim_disk_rot(void)
{
	struct sim_inode *found = NULL;
	unsigned n = 0;

	for (struct sim_inode *i = disk->inodes; i; i = i->next)
		if (i->part == SIM_INDEX && S_ISREG(i->mode) && i->now.n && sim_one_in(++n))
			found = i;
	if (found)
		found->now.p[sim_below(found->now.n)] ^= (uint8_t)(1u << sim_below(8));
}

/* ---- for whoever prepares the archive ---- */

static struct sim_inode *make_parent(enum sim_part part, const char *path, const char **ret_name)
{
	struct sim_inode *dir = disk->root[part];
	const char *slash;

	for (; (slash = strchr(path, '/')); path = slash + 1) {
		struct sim_inode *next = sim_dir_find(dir, path, (size_t)(slash - path));

		if (!next) {
			next = sim_inode_new(part, S_IFDIR | 0755, "");
			set(dir, path, (size_t)(slash - path), next);
			next->links = 2;
		}
		dir = next;
	}
	*ret_name = path;
	return dir;
}

void sim_disk_put(enum sim_part part, const char *path, const void *bytes, size_t n, bool in_place)
{
	const char *name;
	struct sim_inode *dir = make_parent(part, path, &name);
	struct sim_inode *inode = in_place ? sim_dir_find(dir, name, strlen(name)) : NULL;

	if (!inode) {
		inode = sim_inode_new(part, S_IFREG | 0644, name);
		set(dir, name, strlen(name), inode);
	}
	sim_blob_resize(&inode->now, 0);
	sim_blob_write(&inode->now, bytes, n, 0);
	inode->mtime_ns = inode->ctime_ns = sim_now_ns();
}

void sim_disk_remove(enum sim_part part, const char *path)
{
	const char *name;
	struct sim_inode *dir = make_parent(part, path, &name);

	set(dir, name, strlen(name), NULL);
}

struct sim_inode *sim_disk_find(enum sim_part part, const char *path)
{
	const char *name;
	struct sim_inode *dir = make_parent(part, path, &name);

	return *name ? sim_dir_find(dir, name, strlen(name)) : dir;
}
