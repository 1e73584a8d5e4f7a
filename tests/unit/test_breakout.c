/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A confined process tries to break out, call by call (breakout.def). Each attempt has a process of its own, which
 * confines itself as hartfs does, to an archive and an index directory, and then makes one call. Refused is what fails
 * with ENOSYS (not on the list), EPERM or EACCES, or ends the process; everything else, other errors too, is a way that
 * is open. Calls that would do harm if they succeeded have arguments with which they cannot. Then the same process does
 * what hartfs has to do. All of it as root, if the test is root's, and as an ordinary user.
 */
#include "codecs/isa/disasm.h"
#include "mountd/sandbox.h"
#include "tests/lib/fstest.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/fs.h>
#include <linux/openat2.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <sys/fanotify.h>
#include <sys/inotify.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <unistd.h>

/* Calls that some machines have no number for are refused there by nature. */
#ifndef SYS_open
#define SYS_open -1
#define SYS_creat -1
#define SYS_utime -1
#define SYS_utimes -1
#define SYS_futimesat -1
#define SYS_fork -1
#endif
#ifndef SYS_iopl
#define SYS_iopl -1
#define SYS_ioperm -1
#define SYS_modify_ldt -1
#endif
#ifndef SYS_kexec_file_load
#define SYS_kexec_file_load -1
#endif

#define NOBODY 65534

/* What was prepared before the process confined itself. */
static struct {
	struct hf_fst t;
	char outside_path[80];
	int archive, index, outside;     /* directories */
	int capture, kept;               /* files in archive and index, open for reading and for writing */
	int program;                     /* a memfd that could be executed */
	int terminal, datagram, stream, pidfd, parent_ns;
	pid_t parent;
	uid_t uid;
	gid_t gid;
	struct sockaddr_un abstract, path;
	struct {
		struct file_handle head;
		unsigned char bytes[MAX_HANDLE_SZ];
	} handle;
	int handle_mount, nice;
	cpu_set_t cpus;
	void *page;
	char zeros[512];
} w;

static const char *outside(const char *name)
{
	static char path[160];

	snprintf(path, sizeof path, "%s/%s", w.outside_path, name);
	return path;
}
#define OUTSIDE(name) outside(name)

static const char *parent_file(const char *name)
{
	static char path[64];

	snprintf(path, sizeof path, "/proc/%d/%s", w.parent, name);
	return path;
}
#define PARENT_FILE(name) parent_file(name)

static const char *fd_path(int fd)
{
	static char path[32];

	snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
	return path;
}

static long open_how(int dir, const char *name, uint64_t flags)
{
	struct open_how how = {.flags = flags};

	return syscall(SYS_openat2, dir, name, &how, sizeof how);
}

static long open_by_handle(void)
{
	return open_by_handle_at(w.outside, &w.handle.head, O_RDONLY);
}

static struct msghdr message_to(struct sockaddr_un *to, struct iovec *iov)
{
	return (struct msghdr){.msg_name = to, .msg_namelen = sizeof *to, .msg_iov = iov, .msg_iovlen = 1};
}

static long send_message(int fd, struct sockaddr_un *to)
{
	struct iovec iov = {.iov_base = w.zeros, .iov_len = 1};
	struct msghdr message = message_to(to, &iov);

	return sendmsg(fd, &message, MSG_DONTWAIT);
}

static long send_messages(int fd, struct sockaddr_un *to)
{
	struct iovec iov = {.iov_base = w.zeros, .iov_len = 1};
	struct mmsghdr message = {.msg_hdr = message_to(to, &iov)};

	return sendmmsg(fd, &message, 1, MSG_DONTWAIT);
}

static long vm_access(long call)
{
	struct iovec here = {.iov_base = w.zeros, .iov_len = 1}, there = here;

	return syscall(call, w.parent, &here, 1L, &there, 1L, 0L);
}

/* In the child, if there is one, the result is 0. */
static long leave_child(long pid)
{
	if (pid == 0)
		_exit(0);
	return pid;
}

static long fork_like(long flags)
{
	return leave_child(syscall(SYS_clone, flags | SIGCHLD, 0L, 0L, 0L, 0L));
}

static long old_fork(void)
{
	return leave_child(syscall(SYS_fork));
}

static long clone3(void)
{
	uint64_t args[8] = {[4] = SIGCHLD};

	return leave_child(syscall(435, args, sizeof args));
}

static long mmap_result(const void *p)
{
	return p == MAP_FAILED ? -1 : 0;
}

static char *const no_environment[] = {NULL};
static char name_of_true[] = "true";
static char *const arguments[] = {name_of_true, NULL};

static long exec_program(void)
{
	return syscall(SYS_execveat, w.program, "", arguments, no_environment, AT_EMPTY_PATH);
}

static long exec_true(void)
{
	return execve("/bin/true", arguments, no_environment);
}

static long perf_open(void)
{
	uint32_t attr[32] = {1 /* software */, sizeof attr, 0 /* cpu clock */};

	return syscall(SYS_perf_event_open, attr, 0, -1, -1, 0);
}

static long io_uring(void)
{
	uint32_t params[30] = {0};

	return syscall(SYS_io_uring_setup, 4, params);
}

static long bpf_map(void)
{
	uint32_t attr[32] = {2 /* array */, 4, 4, 1};

	return syscall(SYS_bpf, 0, attr, sizeof attr);
}

static long int_0x80(void)
{
	long result = -ENOSYS;

#ifdef __x86_64__
	__asm__ volatile("int $0x80" : "=a"(result) : "a"(20L /* getpid there */) : "memory", "r8", "r9", "r10", "r11");
#endif
	if (result < 0)
		errno = (int)-result;
	return result < 0 ? -1 : result;
}

static long x32(void)
{
#ifdef __x86_64__
	return syscall(0x40000000L | SYS_getpid);
#else
	errno = ENOSYS;
	return -1;
#endif
}

static const struct {
	int id;
	const char *name;
} attempts[] = {
#define TRY(name, call) {__LINE__, name},
#include "tests/unit/breakout.def"
#undef TRY
};
#define ATTEMPTS (sizeof attempts / sizeof attempts[0])

static long attempt(int id)
{
	switch (id) {
#define TRY(name, call) \
	case __LINE__: \
		return (long)(call);
#include "tests/unit/breakout.def"
#undef TRY
	default:
		return 0;
	}
}

static int file(int dir, const char *name, int flags)
{
	int fd = openat(dir, name, flags | O_CREAT | O_CLOEXEC, 0666);

	CHECK(fd >= 0);
	return fd;
}

static int copy_of_true(void)
{
	int from = open("/bin/true", O_RDONLY | O_CLOEXEC), to = memfd_create("true", 0);
	char bytes[4096];
	ssize_t n;

	CHECK(from >= 0 && to >= 0);
	while ((n = read(from, bytes, sizeof bytes)) > 0)
		CHECK(write(to, bytes, (size_t)n) == n);
	close(from);
	return to;
}

static int listener(struct sockaddr_un *address, int type)
{
	int fd = socket(AF_UNIX, type | SOCK_CLOEXEC, 0);

	CHECK(fd >= 0 && bind(fd, (struct sockaddr *)address, sizeof *address) == 0);
	if (type == SOCK_STREAM)
		CHECK(listen(fd, 64) == 0);
	return fd;
}

static int open_terminal(void)
{
	int master = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);

	if (master < 0 || unlockpt(master) || !ptsname(master))
		return master;
	return open(ptsname(master), O_RDWR | O_NOCTTY | O_CLOEXEC);
}

static void prepare_files(void)
{
	struct hf_walk_bytes stf = hf_fst_stf(3000, 1, false);

	hf_fst_begin(&w.t);
	hf_fst_write(&w.t, "capture.stf", stf.p, stf.n);
	free(stf.p);
	hf_fst_write_text(&w.t, "capture", "bytes");
	snprintf(w.outside_path, sizeof w.outside_path, "%s/outside", w.t.dir);
	CHECK(mkdir(w.outside_path, 0777) == 0);
	w.archive = open(w.t.archive, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	w.index = open(w.t.index, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	w.outside = open(w.outside_path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	CHECK(w.archive >= 0 && w.index >= 0 && w.outside >= 0);
	close(file(w.outside, "file", O_WRONLY));
	CHECK(symlinkat("../outside/file", w.archive, "link") == 0);
	w.capture = openat(w.archive, "capture", O_RDONLY | O_CLOEXEC);
	w.kept = file(w.index, "kept", O_RDWR);
	CHECK(mkdirat(w.index, "directory", 0700) == 0);
	w.handle.head.handle_bytes = MAX_HANDLE_SZ;
	if (name_to_handle_at(w.outside, "file", &w.handle.head, &w.handle_mount, 0) < 0)
		w.handle.head.handle_bytes = 0;
}

static void prepare(void)
{
	prepare_files();
	w.parent = getpid();
	w.pidfd = (int)syscall(434, w.parent, 0);
	w.parent_ns = open("/proc/self/ns/mnt", O_RDONLY | O_CLOEXEC);
	w.nice = getpriority(PRIO_PROCESS, 0);
	CHECK(sched_getaffinity(0, sizeof w.cpus, &w.cpus) == 0);
	w.program = copy_of_true();
	w.terminal = open_terminal();
	w.page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANON, -1, 0);
	w.abstract.sun_family = w.path.sun_family = AF_UNIX;
	snprintf(w.abstract.sun_path + 1, sizeof w.abstract.sun_path - 1, "hartfs-test-%d", w.parent);
	snprintf(w.path.sun_path, sizeof w.path.sun_path, "%s/socket", w.outside_path);
	listener(&w.abstract, SOCK_STREAM);
	listener(&w.path, SOCK_DGRAM);
	CHECK(chmod(w.path.sun_path, 0777) == 0);
	w.datagram = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	w.stream = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
}

/* The files are those of whoever tries, so that nothing but the sandbox is in the way. */
static void own_files(uid_t uid)
{
	const char *const paths[] = {w.t.dir, w.t.archive, w.t.index, w.outside_path};
	const struct {
		int dir;
		const char *name;
	} files[] = {{w.archive, "capture"}, {w.archive, "capture.stf"}, {w.index, "kept"}, {w.outside, "file"}};

	for (size_t i = 0; i < sizeof paths / sizeof paths[0]; i++)
		CHECK(chown(paths[i], uid, (gid_t)-1) == 0);
	for (size_t i = 0; i < sizeof files / sizeof files[0]; i++)
		CHECK(fchownat(files[i].dir, files[i].name, uid, (gid_t)-1, 0) == 0);
}

static void become(uid_t uid)
{
	if (uid != geteuid())
		CHECK(setgroups(0, NULL) == 0 && setresgid(uid, uid, uid) == 0 && setresuid(uid, uid, uid) == 0);
	w.uid = geteuid();
	w.gid = getegid();
}

static void enter(struct hf_sandbox_report *ret_report)
{
	hf_sandbox_enter(
		&(struct hf_sandbox_places){.read = &w.archive, .read_count = 1, .write = w.index}, false, ret_report);
}

enum { REFUSED = 40, OPEN, MISSING };

static int in_child(uid_t uid, int (*fn)(int id), int id)
{
	int status;
	pid_t pid;

	fflush(NULL);
	pid = fork();
	CHECK(pid >= 0);
	if (pid == 0) {
		become(uid);
		_exit(fn(id));
	}
	CHECK(waitpid(pid, &status, 0) == pid);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

static int try(int id)
{
	struct hf_sandbox_report report;

	enter(&report);
	errno = 0;
	if (attempt(id) == -1 && (errno == ENOSYS || errno == EPERM || errno == EACCES))
		return REFUSED;
	return OPEN;
}

static int look(int id)
{
	struct hf_sandbox_report report;

	(void)id;
	enter(&report);
	if (*report.missing)
		printf("missing: %s\n", report.missing);
	else
		printf("in force as user %u: %s\n", geteuid(), report.in_force);
	fflush(stdout);
	return *report.missing ? MISSING : 0;
}

static unsigned try_all(uid_t uid)
{
	unsigned open = 0;

	own_files(uid);
	for (size_t i = 0; i < ATTEMPTS; i++) {
		int status = in_child(uid, try, attempts[i].id);

		/* Killed is refused too: there is no instruction for it, or the kernel would not have it. */
		if (status == REFUSED || status < 0)
			continue;
		printf("open to user %u: %s\n", uid, attempts[i].name);
		open++;
	}
	printf("user %u: %zu tried, %u open\n", uid, ATTEMPTS, open);
	return open;
}

static void *run_thread(void *arg)
{
	sigset_t set;
	int sig;

	pthread_setname_np(pthread_self(), "test");
	setpriority(PRIO_PROCESS, 0, 5);
	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	CHECK(sigwait(&set, &sig) == 0);
	*(int *)arg = sig;
	return NULL;
}

static void use_threads(void)
{
	pthread_t thread;
	sigset_t set;
	int sig = 0;

	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	CHECK(pthread_sigmask(SIG_BLOCK, &set, NULL) == 0);
	CHECK(pthread_create(&thread, NULL, run_thread, &sig) == 0);
	CHECK(pthread_kill(thread, SIGUSR1) == 0);
	CHECK(pthread_join(thread, NULL) == 0);
	CHECK_EQ(sig, SIGUSR1);
}

static void use_index(void)
{
	struct flock range = {.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_len = 1};
	int fd = openat(w.index, "built", O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);

	CHECK(fd >= 0);
	CHECK(fcntl(fd, F_OFD_SETLK, &range) == 0);
	CHECK(pwrite(fd, "x", 1, 100) == 1 && ftruncate(fd, 50) == 0 && fsync(fd) == 0);
	CHECK(renameat(w.index, "built", w.index, "published") == 0);
	CHECK(unlinkat(w.index, "published", 0) == 0);
	close(fd);
	/* A directory that is in the way is put aside. */
	CHECK(renameat(w.index, "directory", w.index, "aside") == 0 && renameat(w.index, "aside", w.index, "directory") == 0);
}

/* Everything at once: tree, indexing, decoding, disassembling, reading. */
static void use_captures(void)
{
	struct hf_file *file;
	char *text;
	size_t n;

	hf_fst_open(&w.t, NULL);
	CHECK(hf_fs_index(w.t.fs, "capture.stf", NULL, NULL, NULL) == 0);
	file = hf_fst_open_file(&w.t, "capture@stf/hart0/listing.txt");
	text = malloc(1 << 16);
	CHECK(text && hf_fs_read_wait(w.t.fs, file, 0, text, 1 << 16, &n) == 0 && n == 1 << 16);
	free(text);
	hf_file_close(file);
	hf_fst_close(&w.t);
}

static int work(int id)
{
	struct hf_sandbox_report report;
	char byte;

	(void)id;
	enter(&report);
	CHECK(pread(w.capture, &byte, 1, 0) == 1);
	use_threads();
	use_index();
	use_captures();
	return 0;
}

/* What another user has built is nothing that this one could use. */
static void empty_index(void)
{
	DIR *dir = opendir(w.t.index);
	struct dirent *entry;

	CHECK(dir);
	while ((entry = readdir(dir)))
		if (entry->d_type == DT_REG && strcmp(entry->d_name, "kept") != 0)
			unlinkat(w.index, entry->d_name, 0);
	closedir(dir);
}

static unsigned run_as(uid_t uid)
{
	unsigned open = HF_SANDBOX_SANITIZER ? 0 : try_all(uid);

	own_files(uid);
	empty_index();
	CHECK_EQ(in_child(uid, work, 0), 0);
	return open;
}

int main(void)
{
	unsigned open = 0;
	int looked;

	/* as the commands do: who is confined cannot reach it */
	CHECK(!hf_disasm_load());
	prepare();
	looked = in_child(geteuid(), look, 0);
	if (looked != MISSING || HF_SANDBOX_SANITIZER) {
		if (geteuid() == 0)
			open += run_as(0);
		open += run_as(geteuid() == 0 ? NOBODY : geteuid());
	}
	hf_fst_end(&w.t);
	CHECK_EQ(open, 0);
	if (looked == MISSING) {
		printf("SKIP: not everything could be tried: see above what is missing\n");
		return 77;
	}
	return 0;
}
