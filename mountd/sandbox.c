/* SPDX-License-Identifier: Apache-2.0 */
#include "mountd/sandbox.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>

/* Appends to a list with that separator. */
static void __attribute__((format(printf, 4, 5)))
add(char *list, size_t size, const char *separator, const char *format, ...)
{
	const size_t length = strlen(list);
	char item[160];
	va_list args;

	va_start(args, format);
	vsnprintf(item, sizeof item, format, args);
	va_end(args);
	snprintf(list + length, size - length, "%s%s", length ? separator : "", item);
}

#define ADD_FORCE(report, ...) add((report)->in_force, sizeof(report)->in_force, ", ", __VA_ARGS__)
#define ADD_MISSING(report, ...) add((report)->missing, sizeof(report)->missing, "; ", __VA_ARGS__)

static bool confine_files(const struct hf_sandbox_places *places, struct hf_sandbox_report *report)
{
	int known, version = hf_landlock_enter(places, &known);

	if (version > known)
		ADD_FORCE(report, "Landlock %d (of this kernel's %d)", known, version);
	else if (version > 0)
		ADD_FORCE(report, "Landlock %d", version);
	else if (version == 0)
		ADD_MISSING(report, "this kernel has no Landlock");
	else
		ADD_MISSING(report, "Landlock cannot be used: %s", strerror(-version));
	return version > 0;
}

static bool confine_calls(pid_t server, bool audit, struct hf_sandbox_report *report)
{
	const char *why;
	int err = hf_syscalls_enter(server, audit, &why);

	if (!err)
		ADD_FORCE(report, "seccomp");
	else if (err == -ENOTSUP)
		ADD_MISSING(report, "no seccomp: %s", why);
	else
		ADD_MISSING(report, "no seccomp: %s (%s)", why, strerror(-err));
	/* Such a build is for tests: what it lacks is said, and is no reason to refuse a mount. */
	return !err || HF_SANDBOX_SANITIZER;
}

static bool give_up_new_privileges(struct hf_sandbox_report *report)
{
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0)
		return true;
	ADD_MISSING(report, "this kernel has no way to give up privileges: %s", strerror(errno));
	return false;
}

void hf_sandbox_enter(const struct hf_sandbox_places *places, bool audit, struct hf_sandbox_report *ret_report)
{
	const char *kept;
	bool files, calls;
	int err;

	*ret_report = (struct hf_sandbox_report){0};
	if (!give_up_new_privileges(ret_report))
		return;
	files = confine_files(places, ret_report);
	err = hf_capabilities_drop(files, &kept);
	calls = confine_calls(0, audit, ret_report);
	if (!err)
		ADD_FORCE(ret_report, "capabilities: %s", kept);
	else
		ADD_MISSING(ret_report, "capabilities cannot be given up: %s", strerror(-err));
	ret_report->complete = files && calls && !err;
}

bool hf_sandbox_enter_supervisor(pid_t server, bool writes, bool audit, struct hf_sandbox_report *ret_report)
{
	bool can, calls;
	int err;

	*ret_report = (struct hf_sandbox_report){0};
	err = hf_capabilities_keep_unmounting(writes, &can);
	if (err)
		ADD_MISSING(ret_report, "capabilities cannot be given up: %s", strerror(-err));
	if (!can)
		return err != 0;
	calls = give_up_new_privileges(ret_report) && confine_calls(server, audit, ret_report);
	ret_report->complete = calls && !err;
	return true;
}
