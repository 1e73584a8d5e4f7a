/* SPDX-License-Identifier: Apache-2.0 */
#include "mountd/record_plan.h"
#include "mountd/log.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define PLUGIN "hartfs_capture.so"

struct machine {
	uint16_t number; /* e_machine */
	uint8_t class;	 /* EI_CLASS */
	const char *name, *triplet, *package;
};

static const struct machine machines[] = {
	{EM_RISCV, ELFCLASS64, "riscv64", "riscv64-linux-gnu", "libc6-riscv64-cross"},
	{EM_RISCV, ELFCLASS32, "riscv32", "riscv32-linux-gnu", NULL},
	{EM_AARCH64, ELFCLASS64, "aarch64", "aarch64-linux-gnu", "libc6-arm64-cross"},
};

static bool complain(const char *about, const char *what)
{
	hf_say(stderr, "hartfs record: %s: %s", about, what);
	return false;
}

static bool is_program(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 && S_ISREG(st.st_mode) && access(path, X_OK) == 0;
}

/* As a shell finds it; NULL: it does not. */
static char *find_program(const char *name)
{
	const char *path = getenv("PATH");
	char *found;

	if (strchr(name, '/'))
		return is_program(name) ? strdup(name) : NULL;
	for (const char *part = path ? path : "/usr/bin:/bin"; part; part = strchr(part, ':')) {
		part += *part == ':';
		if (asprintf(&found, "%.*s/%s", (int)strcspn(part, ":"), *part && *part != ':' ? part : ".", name) < 0)
			return NULL;
		if (is_program(found))
			return found;
		free(found);
	}
	return NULL;
}

/* ---- the program ---- */

/* What is of interest in its headers. */
struct head {
	uint16_t machine;
	uint8_t class;
	char interpreter[256]; /* "": it is linked statically */
};

static void read_interpreter(int fd, uint64_t at, uint64_t size, struct head *head)
{
	size_t n = size < sizeof head->interpreter ? size : sizeof head->interpreter;
	ssize_t got = pread(fd, head->interpreter, n, (off_t)at);

	if (got <= 0 || !memchr(head->interpreter, 0, (size_t)got))
		head->interpreter[0] = 0;
}

static void find_interpreter(int fd, struct head *head)
{
	union {
		Elf32_Ehdr e32;
		Elf64_Ehdr e64;
	} e;
	const bool wide = head->class == ELFCLASS64;

	if (pread(fd, &e, sizeof e, 0) < (ssize_t)sizeof e.e32)
		return;
	for (unsigned i = 0; i < (wide ? e.e64.e_phnum : e.e32.e_phnum); i++) {
		Elf32_Phdr p32;
		Elf64_Phdr p64;

		if (wide &&
		    (pread(fd, &p64, sizeof p64, (off_t)(e.e64.e_phoff + i * sizeof p64)) < (ssize_t)sizeof p64))
			return;
		if (!wide &&
		    (pread(fd, &p32, sizeof p32, (off_t)(e.e32.e_phoff + i * sizeof p32)) < (ssize_t)sizeof p32))
			return;
		if ((wide ? p64.p_type : p32.p_type) == PT_INTERP)
			read_interpreter(fd, wide ? p64.p_offset : p32.p_offset, wide ? p64.p_filesz : p32.p_filesz,
					 head);
	}
}

/* NULL, or what is wrong with it. */
static const char *read_head(const char *path, struct head *ret_head)
{
	unsigned char e[20];
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	const char *why = fd < 0 ? strerror(errno) : NULL;

	*ret_head = (struct head){0};
	if (!why && (pread(fd, e, sizeof e, 0) < (ssize_t)sizeof e || memcmp(e, ELFMAG, SELFMAG) != 0))
		why = "this is not an ELF program";
	if (!why && e[EI_DATA] == ELFDATA2LSB) {
		ret_head->class = e[EI_CLASS];
		ret_head->machine = (uint16_t)(e[18] | e[19] << 8);
		find_interpreter(fd, ret_head);
	}
	if (fd >= 0)
		close(fd);
	return why;
}

bool hf_record_is_elf(const char *path)
{
	struct head head;

	return !read_head(path, &head);
}

static const struct machine *machine_of(const char *program, struct head *ret_head)
{
	const char *why = read_head(program, ret_head);

	for (size_t i = 0; !why && i < sizeof machines / sizeof machines[0]; i++)
		if (machines[i].number == ret_head->machine && machines[i].class == ret_head->class)
			return &machines[i];
	complain(program, why ? why : "this is no program for riscv32, riscv64 or aarch64 (little-endian)");
	return NULL;
}

/* ---- its libraries ---- */

/* Whether a directory is the root of a system with that dynamic linker, for that machine. */
static bool has_linker(const char *root, const struct head *program)
{
	char path[PATH_MAX];
	struct head head;

	return snprintf(path, sizeof path, "%s%s", root, program->interpreter) < (int)sizeof path &&
	       !read_head(path, &head) && head.machine == program->machine && head.class == program->class;
}

/* A directory above the program, if it lies in a system of its own. */
static char *root_above(const char *path, const struct head *head)
{
	char *real = realpath(path, NULL), *found = NULL;

	for (char *slash; real && !found && (slash = strrchr(real, '/')) && slash > real;) {
		*slash = 0;
		if (has_linker(real, head))
			found = strdup(real);
	}
	free(real);
	return found;
}

static char *root_of_machine(const struct machine *machine, const struct head *head)
{
	static const char *const places[] = {"/usr/%s",	     "/usr/%s/sys-root", "/usr/%s/sysroot",
					     "/usr/%s/libc", "/opt/%s",		 "/opt/%s/sysroot"};
	char root[PATH_MAX];

	for (size_t i = 0; i < sizeof places / sizeof places[0]; i++) {
		const char *hole = strstr(places[i], "%s");

		snprintf(root, sizeof root, "%.*s%s%s", (int)(hole - places[i]), places[i], machine->triplet, hole + 2);
		if (has_linker(root, head))
			return strdup(root);
	}
	return NULL;
}

static bool find_sysroot(const struct hf_settings *settings, const struct machine *machine, const struct head *head,
			 struct hf_record_plan *plan)
{
	const char *prefix = settings->sysroot ? settings->sysroot : getenv("QEMU_LD_PREFIX");
	char text[512];

	if (settings->sysroot)
		plan->sysroot = strdup(settings->sysroot);
	if (!*head->interpreter || (prefix && has_linker(prefix, head)) || has_linker("", head))
		return true;
	if (!prefix)
		plan->sysroot = root_above(plan->program, head);
	if (!prefix && !plan->sysroot)
		plan->sysroot = root_of_machine(machine, head);
	if (!prefix && plan->sysroot)
		return true;
	snprintf(text, sizeof text,
		 "no libraries for %s: %.200s is neither in %s%.200s nor in /: %s%s--sysroot names their directory",
		 machine->name, head->interpreter, prefix ? "" : "/usr/", prefix ? prefix : machine->triplet,
		 prefix || !machine->package ? "" : machine->package,
		 prefix || !machine->package ? "" : " has them on Debian, ");
	return complain(plan->program, text);
}

/* ---- the plugin ---- */

/* Beside the program in a build directory, or where both are installed. */
static bool find_plugin(struct hf_record_plan *plan)
{
	static const char *const places[] = {"", HARTFS_PLUGIN_FROM_BIN "/"};
	char self[PATH_MAX], path[2 * PATH_MAX];
	ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);

	self[n < 0 ? 0 : n] = 0;
	for (size_t i = 0; n > 0 && i < sizeof places / sizeof places[0]; i++) {
		snprintf(path, sizeof path, "%.*s%s" PLUGIN, (int)(strrchr(self, '/') + 1 - self), self, places[i]);
		plan->plugin = realpath(path, NULL);
		if (plan->plugin)
			return true;
	}
	return complain(PLUGIN, "the plugin is not installed");
}

/* ---- all of it ---- */

static void set_name(struct hf_record_plan *plan, const char *path)
{
	const char *slash = strrchr(path, '/');

	/* Room for what the names of files have behind it. */
	snprintf(plan->name, sizeof plan->name, "%.200s", slash ? slash + 1 : path);
}

static bool plan_machine(const struct hf_settings *settings, struct hf_record_plan *plan)
{
	static const char start[] = "qemu-system-";
	const char *given = settings->operands[0], *slash = strrchr(given, '/');
	const char *name = slash ? slash + 1 : given;
	const char *machine = strncmp(name, start, strlen(start)) ? "" : name + strlen(start);

	if (!strcmp(machine, "aarch64"))
		return complain(
			given,
			"a whole AArch64 machine cannot be recorded: QEMU does not tell plugins the exception level");
	if (strcmp(machine, "riscv64") != 0 && strcmp(machine, "riscv32") != 0)
		return complain(given, "--system takes qemu-system-riscv64 and qemu-system-riscv32");
	plan->qemu = find_program(given);
	if (!plan->qemu)
		return complain(given, "there is no such program (package qemu-system-misc on Debian)");
	set_name(plan, name + strlen("qemu-"));
	return true;
}

static bool plan_program(const struct hf_settings *settings, struct hf_record_plan *plan)
{
	const char *given = settings->operands[0];
	const struct machine *machine;
	struct head head;
	char name[32];

	plan->program = find_program(given);
	if (!plan->program)
		return complain(given, access(given, F_OK) == 0 && strchr(given, '/') ? "this is not executable"
										      : "there is no such program");
	machine = machine_of(plan->program, &head);
	if (!machine)
		return false;
	set_name(plan, given);
	snprintf(name, sizeof name, "qemu-%s", machine->name);
	plan->qemu = find_program(name);
	if (!plan->qemu)
		return complain(name, "there is no such program in PATH (package qemu-user on Debian)");
	return find_sysroot(settings, machine, &head, plan);
}

bool hf_record_plan_make(const struct hf_settings *settings, struct hf_record_plan *ret_plan)
{
	*ret_plan = (struct hf_record_plan){0};
	return (settings->system ? plan_machine : plan_program)(settings, ret_plan) && find_plugin(ret_plan);
}

void hf_record_plan_free(struct hf_record_plan *plan)
{
	free(plan->qemu);
	free(plan->plugin);
	free(plan->program);
	free(plan->sysroot);
}
