/*
 * SPDX-License-Identifier: MIT
 *
 * A QEMU TCG plugin that writes what ran as captures in STF 1.6, one file a thread or vCPU. See README.md beside it for
 * use, and for what such a capture cannot know.
 *
 * It needs no header of QEMU's: what it calls is declared here, in the shape that interface versions 1 to 4 share.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "ring.h"

#include <dlfcn.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/shm.h>
#include <time.h>
#include <unistd.h>

/* The oldest name of the function, so that QEMU of a machine with an older C library than the build's can load this. */
#if defined(__GLIBC__) && defined(__x86_64__)
__asm__(".symver dlsym, dlsym@GLIBC_2.2.5");
#elif defined(__GLIBC__) && defined(__aarch64__)
__asm__(".symver dlsym, dlsym@GLIBC_2.17");
#endif

typedef uint64_t plugin_id;
struct qemu_plugin_tb;
struct qemu_plugin_insn;

struct qemu_info {
	const char *target_name;
	struct {
		int min, cur;
	} version;
	bool system_emulation;
};

struct mem_value {
	int shift; /* of the size */
	union {
		uint8_t u8;
		uint16_t u16;
		uint32_t u32;
		uint64_t u64;
		struct {
			uint64_t low, high;
		} u128;
	} data;
};

size_t qemu_plugin_tb_n_insns(const struct qemu_plugin_tb *tb);
struct qemu_plugin_insn *qemu_plugin_tb_get_insn(const struct qemu_plugin_tb *tb, size_t i);
uint64_t qemu_plugin_insn_vaddr(const struct qemu_plugin_insn *insn);
size_t qemu_plugin_insn_size(const struct qemu_plugin_insn *insn);
unsigned int qemu_plugin_mem_size_shift(uint32_t info);
void qemu_plugin_register_vcpu_tb_trans_cb(plugin_id id, void (*cb)(plugin_id, struct qemu_plugin_tb *));
void qemu_plugin_register_vcpu_insn_exec_cb(struct qemu_plugin_insn *insn, void (*cb)(unsigned int, void *), int regs,
					    void *data);
void qemu_plugin_register_vcpu_mem_cb(struct qemu_plugin_insn *insn,
				      void (*cb)(unsigned int, uint32_t, uint64_t, void *), int regs, int rw,
				      void *data);
void qemu_plugin_register_vcpu_exit_cb(plugin_id id, void (*cb)(plugin_id, unsigned int));
void qemu_plugin_register_vcpu_syscall_cb(plugin_id id,
					  void (*cb)(plugin_id, unsigned int, int64_t, uint64_t, uint64_t, uint64_t,
						     uint64_t, uint64_t, uint64_t, uint64_t, uint64_t));
void qemu_plugin_register_vcpu_syscall_ret_cb(plugin_id id, void (*cb)(plugin_id, unsigned int, int64_t, int64_t));
void qemu_plugin_register_atexit_cb(plugin_id id, void (*cb)(plugin_id, void *), void *data);
int qemu_plugin_install(plugin_id id, const struct qemu_info *info, int argc, char **argv);

/* QEMU reads this and refuses a version that it does not have; 7.2 has 0 and 1, 10.0 has 2 to 4. */
int qemu_plugin_version = 1;

/* Since interface 3 the function of this name copies, also for a plugin that asks for less; it returned a pointer
 * before. */
static void *insn_data;
static bool insn_data_copies;
static struct mem_value (*mem_get_value)(uint32_t info); /* interface 4 */
static const uintptr_t *guest_base;			 /* user mode before that */

__attribute__((constructor)) static void choose_version(void)
{
	insn_data = dlsym(RTLD_DEFAULT, "qemu_plugin_insn_data");
	mem_get_value = (struct mem_value(*)(uint32_t))dlsym(RTLD_DEFAULT, "qemu_plugin_mem_get_value");
	if (mem_get_value)
		qemu_plugin_version = 4;
	else if (dlsym(RTLD_DEFAULT, "qemu_plugin_read_register"))
		qemu_plugin_version = 2;
}

enum flow {
	FLOW_NEXT,
	FLOW_BRANCH,   /* conditional, to target */
	FLOW_JUMP,     /* to target */
	FLOW_INDIRECT, /* to wherever the next instruction is */
	FLOW_SYSCALL,
	FLOW_NEVER, /* traps, never retires */
};

struct insn {
	struct insn *chain; /* of one slot of the table */
	uint64_t pc, target;
	uint32_t opcode;
	uint8_t size; /* bytes */
	uint8_t flow; /* enum flow */
	bool access;  /* retires only with an access to memory */
	bool store_conditional;
	bool syncs; /* may order what threads do: an atomic access, a barrier, a system call */
};

struct access {
	uint64_t address, value;
	uint16_t size; /* bytes */
	bool read, write, known;
};

enum {
	READ = 1,
	WRITE = 2,
	ACCESS_MAX = 512, /* of one instruction: SVE's largest gather has 256 elements */
	HART_MAX = 4096,
	BUFFER = 128 * 1024,
	GROUP_MAX = 32 * 1024, /* bytes that one instruction may need */
	TIME_EVERY = 4096,     /* instructions from one time to the next, at most */
};

struct hart {
	int fd;
	struct ring_slot *slot; /* instead of a file */
	uint64_t sent;		/* bytes of the stream, in the ring */
	uint64_t rung;		/* how many of them when the reader was woken */
	bool lost;		/* nothing of it is written */
	bool maps_code;		/* the system call at hand does */
	unsigned int number;	/* in order of creation */
	const struct insn *pending;
	uint64_t expected; /* where a reader goes on */
	uint64_t seen, written;
	uint64_t ticked; /* one more than seen when it took part in the clock last */
	uint64_t time;	 /* to be written before the next instruction; 0: none */
	bool synced;	 /* the instruction before did */
	bool begun;
	unsigned int accesses;
	struct access access[ACCESS_MAX];
	size_t used;
	unsigned char buffer[BUFFER];
};

static struct hart *harts[HART_MAX];
static struct insn *table[1 << 16];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* of table, created */
static _Atomic unsigned int created;
static _Atomic uint64_t ticks; /* instructions of all threads, each up to when it took part last */
static volatile bool stopped;

static bool arm, rv32, system_mode;
static const char *out = "capture";
static uint64_t skip, count = UINT64_MAX;
static char name[64];
static struct ring *ring; /* of hartfs record */
static _Atomic uint32_t cut; /* without one: accesses that are left out */

static void stop(const char *what)
{
	if (!stopped)
		fprintf(stderr, "hartfs_capture: %s: %s; the capture ends here\n", what, strerror(errno));
	stopped = true;
}

/* Bytes to the ring */

static bool reader_lives(void)
{
	if (atomic_load(&ring->stop) || getppid() != ring->reader)
		stopped = true;
	return !stopped;
}

static void wait_for_reader(struct ring_slot *s, uint32_t seen)
{
	ring_wake(&ring->bell);
	ring_wait(&s->moved, seen, 100);
}

static void ring_flush(struct hart *h)
{
	struct ring_slot *s = h->slot;
	uint32_t seen = atomic_load(&s->moved);

	for (; h->sent + h->used - atomic_load(&s->read) > RING_BYTES; seen = atomic_load(&s->moved)) {
		if (!reader_lives())
			return;
		wait_for_reader(s, seen);
	}
	size_t at = h->sent % RING_BYTES, first = RING_BYTES - at < h->used ? RING_BYTES - at : h->used;
	memcpy(s->bytes + at, h->buffer, first);
	memcpy(s->bytes, h->buffer + first, h->used - first);
	h->sent += h->used;
	h->used = 0;
	atomic_store_explicit(&s->written, h->sent, memory_order_release);
	if (h->sent - h->rung >= RING_BELL) {
		h->rung = h->sent;
		ring_wake(&ring->bell);
	}
}

/* With the lock held. If all are in use, the reader may just be behind. */
static struct ring_slot *ring_slot(void)
{
	for (bool behind = true; behind && reader_lives(); usleep(1000)) {
		behind = false;
		for (unsigned int i = 0; i < RING_SLOTS; i++) {
			struct ring_slot *s = &ring->slot[i];
			uint32_t state = atomic_load(&s->state);
			if (state == RING_FREE) {
				atomic_store(&s->state, RING_OPEN);
				return s;
			}
			behind |= state == RING_DONE;
		}
	}
	/* After the end of the recording, which was told, nothing is lost. */
	if (!stopped)
		atomic_fetch_add(&ring->lost, 1);
	return NULL;
}

static bool ring_attach(const char *id)
{
	struct ring *r = shmat(atoi(id), NULL, 0);

	if (r == (void *)-1 || r->version != RING_VERSION)
		return false;
	ring = r;
	return true;
}

/* What of the program's memory is files */

static bool is_guest_elf(const char *path)
{
	Elf64_Ehdr e;
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	bool is = fd >= 0 && pread(fd, &e, sizeof(e), 0) == sizeof(e) && memcmp(e.e_ident, ELFMAG, SELFMAG) == 0 &&
		  e.e_machine == (arm ? EM_AARCH64 : EM_RISCV);

	if (fd >= 0)
		close(fd);
	return is;
}

/* With the lock held. */
static void add_load(uint64_t address, const char *path)
{
	uint32_t n = atomic_load(&ring->loads);

	for (uint32_t i = 0; i < n && i < RING_LOADS; i++)
		if (ring->load[i].address == address && strcmp(ring->load[i].path, path) == 0)
			return;
	if (n > RING_LOADS || !is_guest_elf(path))
		return;
	if (n < RING_LOADS) {
		ring->load[n].address = address;
		snprintf(ring->load[n].path, RING_PATH, "%s", path);
	}
	atomic_store(&ring->loads, n + 1);
	ring_wake(&ring->bell);
}

/* The emulator has the program's files in its own memory, guest_base further up. */
static void find_loads(void)
{
	char line[RING_PATH + 128];
	FILE *maps = guest_base ? fopen("/proc/self/maps", "re") : NULL;

	pthread_mutex_lock(&lock);
	while (maps && fgets(line, sizeof(line), maps)) {
		uint64_t from, offset;
		int at = 0;
		line[strcspn(line, "\n")] = 0;
		if (sscanf(line, "%" SCNx64 "-%*x %*s %" SCNx64 " %*s %*s %n", &from, &offset, &at) == 2 && at > 0 &&
		    line[at] == '/' && offset == 0 && from >= *guest_base)
			add_load(from - *guest_base, line + at);
	}
	pthread_mutex_unlock(&lock);
	if (maps)
		fclose(maps);
}

/* Bytes to the file */

static void flush(struct hart *h)
{
	if (h->slot) {
		ring_flush(h);
		return;
	}
	for (size_t at = 0; at < h->used && !stopped;) {
		ssize_t n = write(h->fd, h->buffer + at, h->used - at);
		if (n < 0 && errno != EINTR)
			stop(out);
		else if (n > 0)
			at += (size_t)n;
	}
	h->used = 0;
}

static void put(struct hart *h, uint64_t value, unsigned int bytes)
{
	for (unsigned int i = 0; i < bytes; i++)
		h->buffer[h->used++] = (unsigned char)(value >> 8 * i);
}

static void put_text(struct hart *h, const char *text)
{
	size_t n = strlen(text);

	memcpy(h->buffer + h->used, text, n);
	h->used += n;
}

/* STF: a header of records, then a group of records an instruction that its opcode ends. */

static uint64_t stf_features(void)
{
	uint64_t bits = 0x80400; /* EVENT64, PROCESS_ID */

	if (!arm)
		bits |= (rv32 ? 0 : 0x20) | (system_mode ? 0 : 8); /* RV64, EVENT */
	return ring ? bits | 0x10000 : bits;			   /* MULTI_CORE: each thread is one */
}

static void stf_header(struct hart *h, uint64_t pc)
{
	put(h, 0x01, 1), put_text(h, "STF");
	put(h, 0x02, 1), put(h, 1, 4), put(h, 6, 4);
	put(h, 0x03, 1), put(h, strlen(name), 4), put_text(h, name);
	put(h, 0x04, 1), put(h, arm ? 2 : 1, 2);		   /* ARM, RISC-V */
	put(h, 0x05, 1), put(h, rv32 ? 1 : 2, 2);		   /* INST_IEM */
	put(h, 0x06, 1), put(h, 1, 1), put(h, 1, 3), put(h, 0, 2); /* generator QEMU */
	put(h, 0x07, 1), put(h, stf_features(), 8);
	put(h, 0x08, 1), put(h, h->number, 4);
	put(h, system_mode ? 0 : (uint32_t)getpid(), 4), put(h, system_mode ? 0 : (uint32_t)gettid(), 4);
	put(h, 0x09, 1), put(h, pc, 8);
	put(h, 0x13, 1);
	/* MODE_CHANGE to U or EL0 */
	if (!system_mode)
		put(h, 0x64, 1), put(h, UINT64_C(1) << 62, 8), put(h, 1, 1), put(h, 0, 8);
	h->expected = pc;
}

static void stf_access(struct hart *h, const struct access *a, bool write)
{
	put(h, 0x3c, 1), put(h, a->address, 8), put(h, a->size, 2), put(h, 0, 2), put(h, write ? WRITE : READ, 1);
	/* What an atomic read before it wrote is not told. */
	if (a->known && (write || !a->write))
		put(h, 0x3d, 1), put(h, a->value, 8);
}

static void stf_group(struct hart *h, const struct insn *in, bool taken, uint64_t target)
{
	if (in->pc != h->expected)
		put(h, 0x09, 1), put(h, in->pc, 8);
	if (taken)
		put(h, 0x1f, 1), put(h, target, 8);
	for (unsigned int i = 0; i < h->accesses; i++) {
		const struct access *a = &h->access[i];
		if (a->read)
			stf_access(h, a, false);
		if (a->write)
			stf_access(h, a, true);
	}
	put(h, in->size == 2 ? 0xf1 : 0xf0, 1), put(h, in->opcode, in->size);
}

static void stf_time(struct hart *h)
{
	char text[64];

	snprintf(text, sizeof(text), "hartfs: timestamp %" PRIu64, h->time);
	put(h, 0x03, 1), put(h, strlen(text), 4), put_text(h, text);
}

/* What ran */

/* The emulator compares before it stores; the architecture does not read. */
static void drop_reads(struct hart *h)
{
	unsigned int n = 0;

	for (unsigned int i = 0; i < h->accesses; i++) {
		h->access[i].read = false;
		if (h->access[i].write)
			h->access[n++] = h->access[i];
	}
	h->accesses = n;
}

/* The pending instruction is over. The next one is at next, or there is none. */
static void complete(struct hart *h, const uint64_t *next)
{
	const struct insn *in = h->pending;
	uint64_t after = in->pc + in->size, target = in->target;
	bool taken = in->flow == FLOW_JUMP;

	h->pending = NULL;
	if (in->flow == FLOW_NEVER || (next && *next != after && in->access && h->accesses == 0))
		return;
	if (h->seen++ < skip || h->written >= count)
		return;
	if (in->store_conditional)
		drop_reads(h);
	if (next && in->flow == FLOW_BRANCH)
		taken = *next == target && target != after;
	if (next && in->flow == FLOW_INDIRECT)
		taken = true, target = *next;

	bool first = !h->begun;
	if (first)
		stf_header(h, in->pc);
	h->begun = true;
	if (h->time && (first || created > 1))
		stf_time(h);
	h->time = 0;
	stf_group(h, in, taken, target);
	h->written++;
	h->expected = taken ? target : after;
	if (h->slot || h->used > BUFFER - GROUP_MAX)
		flush(h);
}

static void finish(struct hart *h)
{
	if (h->pending)
		complete(h, NULL);
	if (!h->lost)
		flush(h);
	if (h->slot) {
		atomic_store(&h->slot->state, RING_DONE);
		ring_wake(&ring->bell);
	} else if (!h->lost) {
		close(h->fd);
	}
	free(h);
}

static bool create_file(struct hart *h)
{
	char path[4096];

	snprintf(path, sizeof(path), "%s.t%u.stf", out, h->number);
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
	if (fd < 0) {
		stop(path);
		return false;
	}
	/* The guest shares our descriptors and uses the low ones. */
	h->fd = fcntl(fd, F_DUPFD_CLOEXEC, 512);
	if (h->fd < 0)
		h->fd = fd;
	else
		close(fd);
	return true;
}

static struct hart *create(unsigned int vcpu)
{
	struct hart *h = calloc(1, sizeof(*h));

	if (!h) {
		stop("a thread");
		return NULL;
	}
	pthread_mutex_lock(&lock);
	h->number = created++;
	if (ring)
		h->slot = ring_slot();
	pthread_mutex_unlock(&lock);
	if (ring ? stopped : !create_file(h)) {
		free(h);
		return NULL;
	}
	h->lost = ring && !h->slot;
	if (ring && h->number == 0)
		find_loads();
	return harts[vcpu] = h;
}

static struct hart *hart_of(unsigned int vcpu)
{
	if (stopped || vcpu >= HART_MAX)
		return NULL;
	return harts[vcpu] ? harts[vcpu] : create(vcpu);
}

/*
 * Whatever a thread does before an instruction that syncs has a smaller time than what another thread does after one
 * that has seen it: both take the time anew, before and after.
 */
static void tick(struct hart *h)
{
	uint64_t more = h->seen + 1 - h->ticked;

	h->ticked += more;
	if (more)
		h->time = atomic_fetch_add(&ticks, more) + more;
}

static void on_insn(unsigned int vcpu, void *data)
{
	const struct insn *in = data;
	struct hart *h = hart_of(vcpu);

	if (!h || h->lost)
		return;
	if (h->pending)
		complete(h, &in->pc);
	h->pending = in;
	h->accesses = 0;
	if (in->syncs || h->synced || h->seen + 1 - h->ticked >= TIME_EVERY || !h->ticked)
		tick(h);
	h->synced = in->syncs;
}

static uint64_t value_of(uint32_t info, uint64_t address, unsigned int size, bool *ret_known)
{
	uint64_t value = 0;

	*ret_known = true;
	if (mem_get_value) {
		struct mem_value v = mem_get_value(info);
		memcpy(&value, &v.data, size < 8 ? size : 8);
	} else if (guest_base) {
		memcpy(&value, (const void *)(*guest_base + address), size < 8 ? size : 8);
	} else {
		*ret_known = false;
	}
	return value;
}

static void on_access(unsigned int vcpu, uint32_t info, uint64_t address, void *data)
{
	struct hart *h = hart_of(vcpu);
	unsigned int rw = info >> 16;

	(void)data;
	if (!h || h->lost)
		return;
	if (h->accesses == ACCESS_MAX) {
		atomic_fetch_add(ring ? &ring->cut : &cut, 1);
		return;
	}
	struct access *a = &h->access[h->accesses++];
	*a = (struct access){.address = address, .size = (uint16_t)(1u << qemu_plugin_mem_size_shift(info))};
	a->read = rw & READ;
	a->write = rw & WRITE;
	a->value = value_of(info, address, a->size, &a->known);
	if (a->size > 8)
		a->known = false;
}

/* What an opcode does */

/* Bits low to low + n - 1 of x, at bit to. */
static uint64_t part(uint32_t x, unsigned int low, unsigned int n, unsigned int to)
{
	return (uint64_t)(x >> low & ((1u << n) - 1)) << to;
}

static uint64_t extend(uint64_t x, unsigned int bits)
{
	return (x ^ UINT64_C(1) << (bits - 1)) - (UINT64_C(1) << (bits - 1));
}

static void classify_arm(struct insn *in)
{
	uint32_t x = in->opcode;

	if ((x & 0x7c000000) == 0x14000000)
		in->flow = FLOW_JUMP, in->target = in->pc + extend(part(x, 0, 26, 2), 28);
	else if ((x & 0xff000000) == 0x54000000 || (x & 0x7e000000) == 0x34000000)
		in->flow = FLOW_BRANCH, in->target = in->pc + extend(part(x, 5, 19, 2), 21);
	else if ((x & 0x7e000000) == 0x36000000)
		in->flow = FLOW_BRANCH, in->target = in->pc + extend(part(x, 5, 14, 2), 16);
	else if ((x & 0xfe000000) == 0xd6000000 && (x >> 21 & 0xf) != 4 && (x >> 21 & 0xf) != 5)
		in->flow = FLOW_INDIRECT;
	else if ((x & 0xffe0001f) == 0xd4000001)
		in->flow = FLOW_SYSCALL;
	else if ((x & 0xffe0001f) == 0xd4200000 || x >> 16 == 0)
		in->flow = FLOW_NEVER;
	bool exclusive = (x & 0x3f000000) == 0x08000000; /* and load-acquire, store-release, CAS */
	bool prefetch = (x & 0xfec00000) == 0xf8800000 || (x & 0xff000000) == 0xd8000000;
	in->store_conditional = exclusive && !(x & 1 << 22) && !(x & 1 << 23);
	in->access = (x & 0x0a000000) == 0x08000000 && !prefetch && !in->store_conditional;
	/* with LDADD, SWP and the like, LDAPUR and STLUR, DMB, DSB, ISB */
	in->syncs = exclusive || (x & 0x3b200c00) == 0x38200000 || (x & 0x3f200c00) == 0x19000000 ||
		    (x & 0xfffff01f) == 0xd503301f;
}

static void classify_rv16(struct insn *in)
{
	uint32_t x = in->opcode, f3 = x >> 13;

	switch (x & 3) {
	case 0:
		in->access = f3 != 0 && f3 != 4;
		if (x == 0)
			in->flow = FLOW_NEVER;
		return;
	case 1:
		if (f3 == 5 || (f3 == 1 && rv32)) {
			in->flow = FLOW_JUMP;
			in->target = in->pc + extend(part(x, 3, 3, 1) | part(x, 11, 1, 4) | part(x, 2, 1, 5) |
							     part(x, 7, 1, 6) | part(x, 6, 1, 7) | part(x, 9, 2, 8) |
							     part(x, 8, 1, 10) | part(x, 12, 1, 11),
						     12);
		} else if (f3 >= 6) {
			in->flow = FLOW_BRANCH;
			in->target = in->pc + extend(part(x, 3, 2, 1) | part(x, 10, 2, 3) | part(x, 2, 1, 5) |
							     part(x, 5, 2, 6) | part(x, 12, 1, 8),
						     9);
		}
		return;
	default:
		in->access = f3 != 0 && f3 != 4;
		if (x == 0x9002)
			in->flow = FLOW_NEVER;
		else if (f3 == 4 && (x >> 2 & 31) == 0)
			in->flow = FLOW_INDIRECT;
	}
}

static void classify_rv32(struct insn *in)
{
	uint32_t x = in->opcode;

	switch (x & 0x7f) {
	case 0x63:
		in->flow = FLOW_BRANCH;
		in->target = in->pc +
			     extend(part(x, 8, 4, 1) | part(x, 25, 6, 5) | part(x, 7, 1, 11) | part(x, 31, 1, 12), 13);
		return;
	case 0x6f:
		in->flow = FLOW_JUMP;
		in->target =
			in->pc +
			extend(part(x, 21, 10, 1) | part(x, 20, 1, 11) | part(x, 12, 8, 12) | part(x, 31, 1, 20), 21);
		return;
	case 0x67:
		in->flow = FLOW_INDIRECT;
		return;
	case 0x73:
		in->flow = x == 0x73 ? FLOW_SYSCALL : x == 0x100073 ? FLOW_NEVER : FLOW_NEXT;
		/* In a system's trace the handler of ecall is there, and it did not retire. */
		if (x == 0x73 && system_mode)
			in->flow = FLOW_NEVER;
		return;
	case 0x0f: /* FENCE */
		in->syncs = true;
		return;
	case 0x2f:
		in->syncs = true;
		in->store_conditional = x >> 27 == 3;
		in->access = !in->store_conditional;
		return;
	default:
		/* A vector load or store may have no element to access. */
		in->access = (x & 0x5b) == 0x03 && ((x & 4) == 0 || ((x >> 12 & 7) != 0 && (x >> 12 & 7) < 5));
	}
}

static struct insn *insn_of(uint64_t pc, uint32_t opcode, size_t size)
{
	struct insn **slot = &table[(pc >> 1 ^ pc >> 17 ^ opcode >> 7) & 0xffff];
	struct insn *in;

	pthread_mutex_lock(&lock);
	for (in = *slot; in && (in->pc != pc || in->opcode != opcode); in = in->chain)
		;
	if (!in && (in = calloc(1, sizeof(*in)))) {
		*in = (struct insn){.chain = *slot, .pc = pc, .opcode = opcode, .size = (uint8_t)size};
		if (arm)
			classify_arm(in);
		else if (size == 2)
			classify_rv16(in);
		else
			classify_rv32(in);
		if (rv32)
			in->target &= UINT32_MAX;
		in->syncs |= in->flow == FLOW_SYSCALL;
		*slot = in;
	}
	pthread_mutex_unlock(&lock);
	return in;
}

static uint32_t opcode_of(const struct qemu_plugin_insn *insn, size_t size)
{
	uint32_t opcode = 0;

	if (insn_data_copies) {
		((size_t(*)(const struct qemu_plugin_insn *, void *, size_t))insn_data)(insn, &opcode, size);
	} else {
		const void *bytes = ((const void *(*)(const struct qemu_plugin_insn *))insn_data)(insn);
		memcpy(&opcode, bytes, size);
	}
	return opcode;
}

static void on_translation(plugin_id id, struct qemu_plugin_tb *tb)
{
	(void)id;
	for (size_t i = 0; i < qemu_plugin_tb_n_insns(tb); i++) {
		struct qemu_plugin_insn *insn = qemu_plugin_tb_get_insn(tb, i);
		size_t size = qemu_plugin_insn_size(insn);
		if (size > 4)
			continue;
		struct insn *in = insn_of(qemu_plugin_insn_vaddr(insn), opcode_of(insn, size), size);
		if (!in) {
			stop("instructions");
			return;
		}
		qemu_plugin_register_vcpu_insn_exec_cb(insn, on_insn, 0, in);
		qemu_plugin_register_vcpu_mem_cb(insn, on_access, 0, READ | WRITE, NULL);
	}
}

enum { SYS_MMAP = 222, CODE = 4, ANONYMOUS = 0x20 }; /* of all three machines */

static void on_syscall(plugin_id id, unsigned int vcpu, int64_t number, uint64_t address, uint64_t size,
		       uint64_t protection, uint64_t flags, uint64_t fd, uint64_t offset, uint64_t a7, uint64_t a8)
{
	struct hart *h = hart_of(vcpu);

	(void)id, (void)address, (void)size, (void)fd, (void)offset, (void)a7, (void)a8;
	if (h)
		h->maps_code = number == SYS_MMAP && (protection & CODE) && !(flags & ANONYMOUS);
}

static void on_syscall_end(plugin_id id, unsigned int vcpu, int64_t number, int64_t result)
{
	struct hart *h = hart_of(vcpu);

	(void)id, (void)number, (void)result;
	if (h && h->maps_code)
		find_loads();
}

static void on_vcpu_exit(plugin_id id, unsigned int vcpu)
{
	(void)id;
	if (vcpu < HART_MAX && harts[vcpu]) {
		finish(harts[vcpu]);
		harts[vcpu] = NULL;
	}
}

static void on_exit_all(plugin_id id, void *data)
{
	(void)data;
	for (unsigned int i = 0; i < HART_MAX; i++)
		on_vcpu_exit(id, i);
	if (cut)
		fprintf(stderr, "hartfs_capture: %u accesses are left out: there were too many in one instruction\n",
			(unsigned int)cut);
}

/* The child has copies of the buffers, which are the parent's to write. */
static void on_fork(void)
{
	memset(harts, 0, sizeof(harts));
	stopped = true;
}

static bool option(const char *arg)
{
	if (strncmp(arg, "out=", 4) == 0)
		out = strdup(arg + 4);
	else if (strncmp(arg, "ring=", 5) == 0)
		return ring_attach(arg + 5);
	else if (strncmp(arg, "skip=", 5) == 0)
		skip = strtoull(arg + 5, NULL, 0);
	else if (strncmp(arg, "count=", 6) == 0)
		count = strtoull(arg + 6, NULL, 0);
	else
		return false;
	return true;
}

__attribute__((visibility("default"))) int qemu_plugin_install(plugin_id id, const struct qemu_info *info, int argc,
							       char **argv)
{
	for (int i = 0; i < argc; i++)
		if (!option(argv[i])) {
			fprintf(stderr, "hartfs_capture: %s: not out=PREFIX, skip=N or count=N\n", argv[i]);
			return -1;
		}
	arm = strcmp(info->target_name, "aarch64") == 0;
	rv32 = strcmp(info->target_name, "riscv32") == 0;
	system_mode = info->system_emulation;
	insn_data_copies = info->version.cur >= 3;
	if (!arm && strncmp(info->target_name, "riscv", 5) != 0) {
		fprintf(stderr, "hartfs_capture: %s: only riscv32, riscv64 and aarch64\n", info->target_name);
		return -1;
	}
	if (arm && system_mode) {
		fprintf(stderr, "hartfs_capture: a plugin does not learn the exception level: only user mode on aarch64\n");
		return -1;
	}
	snprintf(name, sizeof(name), "QEMU %s, %s mode", info->target_name, system_mode ? "system" : "user");
	if (!system_mode)
		guest_base = dlsym(RTLD_DEFAULT, "guest_base");
	if (ring)
		atomic_store(&ring->attached, 1);
	if (ring && !system_mode) {
		qemu_plugin_register_vcpu_syscall_cb(id, on_syscall);
		qemu_plugin_register_vcpu_syscall_ret_cb(id, on_syscall_end);
	}
	pthread_atfork(NULL, NULL, on_fork);
	qemu_plugin_register_vcpu_tb_trans_cb(id, on_translation);
	qemu_plugin_register_vcpu_exit_cb(id, on_vcpu_exit);
	qemu_plugin_register_atexit_cb(id, on_exit_all, NULL);
	return 0;
}
