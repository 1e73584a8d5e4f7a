/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The simulated disks: the archive, the index directory, and files without a name. They lie in memory that the
 * processes of a schedule share, so what one wrote before it was killed is what the next one finds.
 *
 * A file has two contents: what was written, which a killed process leaves behind, and what was synced, which a loss of
 * power leaves. Names are as good as synced once their directory was.
 */
#ifndef HF_SIM_DISK_H
#define HF_SIM_DISK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum sim_part { SIM_ARCHIVE, SIM_INDEX, SIM_MEMORY, SIM_PARTS };

struct sim_blob {
	uint8_t *p;
	size_t n, room;
};

struct sim_entry {
	struct sim_entry *next;
	struct sim_inode *inode;
	char name[];
};

struct sim_inode {
	struct sim_inode *next; /* of all */
	uint64_t number;
	enum sim_part part;
	unsigned mode, links, opens;
	uid_t uid;
	gid_t gid;
	int64_t born_ns, mtime_ns, ctime_ns;
	struct sim_blob now, safe;
	bool dirty;
	struct sim_inode *parent;  /* of a directory */
	struct sim_entry *entries; /* in the order of their making */
	const void *lock;	   /* who has it: of this process */
	char name[80];		   /* the last it had, for the trace */
};

/* Makes the memory, with room in front that the caller wants for himself. sim_disk_format makes the disks. */
void sim_disk_init(size_t front, void **ret_front);
/* Empty disks. */
void sim_disk_format(void);
struct sim_inode *sim_disk_root(enum sim_part part);
/* Bytes that all files of a part take, and what it may take (0: any). */
uint64_t sim_disk_used(enum sim_part part);
extern uint64_t sim_disk_room[SIM_PARTS];

struct sim_inode *sim_inode_new(enum sim_part part, unsigned mode, const char *name);
/* When neither a name nor a descriptor is left it goes. */
void sim_inode_tidy(struct sim_inode *inode);
struct sim_inode *sim_dir_find(const struct sim_inode *dir, const char *name, size_t n);
void sim_dir_set(struct sim_inode *dir, const char *name, size_t n, struct sim_inode *inode); /* NULL: takes it out */
void sim_blob_write(struct sim_blob *blob, const void *bytes, size_t n, uint64_t offset);
void sim_blob_resize(struct sim_blob *blob, size_t n);
void sim_inode_sync(struct sim_inode *inode);

/* A process ended without ceremony: its descriptors and locks are gone. */
void sim_disk_killed(void);
/* And the machine lost power: of each page that was not synced the old or the new is there, and the last changes of
 * names may not be. */
void sim_disk_lost_power(void);
/* Turns over a bit of a file of the index directory. */
void sim_disk_rot(void);

/* For whoever prepares the archive: path with directories, replaced as a whole or its bytes exchanged in place. */
void sim_disk_put(enum sim_part part, const char *path, const void *bytes, size_t n, bool in_place);
void sim_disk_remove(enum sim_part part, const char *path);
struct sim_inode *sim_disk_find(enum sim_part part, const char *path);

#endif
