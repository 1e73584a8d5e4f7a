/* SPDX-License-Identifier: Apache-2.0 */
#include "mountd/sandbox_parts.h"

#include <errno.h>

#if defined(HARTFS_SECCOMP) && !HF_SANDBOX_SANITIZER
#include <fcntl.h>
#include <sched.h>
#include <seccomp.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

/* What every thread of libc is made with, and what none is. */
#define THREAD_FLAGS (CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD)
#define NAMESPACE_FLAGS \
	(CLONE_NEWNS | CLONE_NEWCGROUP | CLONE_NEWUTS | CLONE_NEWIPC | CLONE_NEWUSER | CLONE_NEWPID | CLONE_NEWNET | \
	 CLONE_PTRACE | CLONE_VFORK)
#ifdef __s390__
#define CLONE_FLAGS SCMP_A1
#else
#define CLONE_FLAGS SCMP_A0
#endif

#define MOST_COMPARISONS 2

struct call {
	const char *name;
	struct scmp_arg_cmp comparison[MOST_COMPARISONS];
	unsigned comparisons;
};

static int add(scmp_filter_ctx filter, const struct call *call)
{
	const int number = seccomp_syscall_resolve_name(call->name);

	/* A libseccomp older than the call: it is not allowed then, and whoever would make it takes another way. */
	if (number == __NR_SCMP_ERROR)
		return 0;
	return seccomp_rule_add_array(filter, SCMP_ACT_ALLOW, number, call->comparisons, call->comparison);
}

static int add_all(scmp_filter_ctx filter, pid_t server)
{
	const scmp_datum_t OWN_PID = (scmp_datum_t)getpid(), SERVER_PID = (scmp_datum_t)server;
#define COUNT(...) (sizeof((struct scmp_arg_cmp[]){__VA_ARGS__}) / sizeof(struct scmp_arg_cmp))
#define ROW(call) {.name = #call},
#define ROW_IF(call, ...) {.name = #call, .comparison = {__VA_ARGS__}, .comparisons = COUNT(__VA_ARGS__)},
/* clang misses a member in libseccomp's own macros. */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wmissing-field-initializers"
	const struct call decoders[] = {
#define HF_CALL ROW
#define HF_CALL_IF ROW_IF
#include "mountd/syscalls.def"
	};
	const struct call supervisors[] = {
#define HF_CALL ROW
#define HF_CALL_IF ROW_IF
#include "mountd/supervisor_calls.def"
	};
#pragma GCC diagnostic pop
	const struct call *calls = server ? supervisors : decoders;
	const size_t count = server ? sizeof supervisors / sizeof *supervisors : sizeof decoders / sizeof *decoders;
	int err = 0;

	for (size_t i = 0; i < count && !err; i++)
		err = add(filter, &calls[i]);
	return err;
}

int hf_syscalls_enter(pid_t server, bool audit, const char **ret_why)
{
	scmp_filter_ctx filter = seccomp_init(SCMP_ACT_ERRNO(ENOSYS));
	int err = -ENOTSUP;

	*ret_why = "libseccomp does not know this machine";
	if (!filter)
		return err;
	*ret_why = "this kernel has no seccomp, or refuses it";
	/* Calls of another instruction set on the same machine too: nothing of ours makes one. */
	err = seccomp_attr_set(filter, SCMP_FLTATR_ACT_BADARCH, SCMP_ACT_ERRNO(ENOSYS));
	if (!err)
		err = seccomp_attr_set(filter, SCMP_FLTATR_CTL_TSYNC, 1);
	if (!err && audit)
		seccomp_attr_set(filter, SCMP_FLTATR_CTL_LOG, 1);
	/* A binary tree instead of a list: most calls pass with a few comparisons. */
	seccomp_attr_set(filter, SCMP_FLTATR_CTL_OPTIMIZE, 2);
	if (!err)
		err = add_all(filter, server);
	if (!err)
		err = seccomp_load(filter);
	seccomp_release(filter);
	return err;
}

#else

int hf_syscalls_enter(pid_t server, bool audit, const char **ret_why)
{
	(void)server;
	(void)audit;
	*ret_why = HF_SANDBOX_SANITIZER ? "built with a sanitizer, which needs more system calls"
					: "built without libseccomp";
	return -ENOTSUP;
}

#endif
