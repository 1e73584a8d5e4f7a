/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A Linux system in one description, traced as SiFive's units do: a kernel in pages, two processes whose code lies at the
 * same address, their common library at another one in each, and the vdso. What they had mapped their copies of
 * /proc/PID/maps tell; the trace is our encoder's.
 */
#include "codecs/base/bytes.h"
#include "codecs/isa/riscv.h"
#include "tests/lib/fstest.h"
#include "tests/lib/ntracetest.h"
#include "tests/lib/rvelf.h"

#include <elf.h>

#define MAIN UINT64_C(0x2aaaaac100)   /* of both processes */
#define LIBC(i) ((i) ? UINT64_C(0x3fc0000100) : UINT64_C(0x3fb0000100))
#define VDSO(i) ((i) ? UINT64_C(0x3fd0000100) : UINT64_C(0x3fb1000100))
#define KERNEL UINT64_C(0xffffffff80001000)
#define HANDLER (KERNEL + 0xff8) /* its third instruction lies on two pages */

enum { NOP = 0x13, C_NOP = 1, ADDI = 0x150513, CALL_T0 = 0x280e7, CALL_T1 = 0x300e7, RET = 0x8067, ECALL = 0x73, SRET = 0x10200073,
       SET_SATP = 0x18079073, JUMP_T0 = 0x28067 };

static const uint32_t a_code[] = {NOP, CALL_T0, NOP, CALL_T1, ECALL, JUMP_T0}, b_code[] = {ADDI, ADDI, CALL_T0, ECALL, ADDI},
		      libc_code[] = {NOP, ADDI, RET}, vdso_code[] = {ADDI, RET},
		      kernel_code[] = {NOP, C_NOP, SET_SATP, NOP, SRET};

static struct hf_fst t;

/* ---- what runs ---- */

static struct hf_event event[256];
static size_t event_count;
static uint8_t mode;

static struct hf_event *add(uint8_t kind)
{
	CHECK(event_count < 256);
	event[event_count] = (struct hf_event){.kind = kind};
	return &event[event_count++];
}

static void run_as(uint32_t pid, uint8_t now)
{
	struct hf_event *ev = add(HF_EVENT_CONTEXT);

	ev->fields = HF_CONTEXT_PID | HF_CONTEXT_MODE;
	ev->context.pid = pid;
	ev->context.mode = mode = now;
}

/* One instruction; target 0: it does not jump. */
static uint64_t step(uint64_t pc, uint32_t opcode, uint64_t target)
{
	struct hf_event *ev = add(HF_EVENT_INSN);

	ev->flags = target ? HF_EVF_TAKEN : 0;
	ev->insn = (struct hf_ev_insn){.pc = pc, .target = target, .opcode = opcode, .size = (opcode & 3) == 3 ? 4 : 2,
				       .isa = HF_ISA_RV64, .flow = hf_riscv_flow(opcode, 64), .mode = mode};
	return target ? target : pc + ev->insn.size;
}

/* All of a function, which returns to back. */
static void run_function(uint64_t pc, const uint32_t *code, size_t n, uint64_t back)
{
	for (size_t i = 0; i < n; i++)
		pc = step(pc, code[i], i + 1 < n ? 0 : back);
}

/* An ecall at pc; the kernel goes on as pid, at back. */
static void run_ecall(uint64_t pc, uint32_t from, uint32_t pid, uint64_t back)
{
	struct hf_event *ev;
	uint64_t at = HANDLER;

	step(pc, ECALL, 0);
	event[event_count - 1].kind = HF_EVENT_ATTEMPT;
	ev = add(HF_EVENT_TRAP);
	ev->flags = HF_EVF_HANDLER;
	ev->trap.handler = HANDLER;
	run_as(from, HF_MODE_S);
	for (size_t i = 0; i < 5; i++) {
		at = step(at, kernel_code[i], i == 4 ? back : 0);
		if (i == 2)
			run_as(pid, HF_MODE_S);
	}
	run_as(pid, HF_MODE_U);
}

static void run_a(void)
{
	run_as(5, HF_MODE_U);
	step(MAIN, NOP, 0);
	step(MAIN + 4, CALL_T0, LIBC(0));
	run_function(LIBC(0), libc_code, 3, MAIN + 8);
	step(MAIN + 8, NOP, 0);
	step(MAIN + 12, CALL_T1, VDSO(0));
	run_function(VDSO(0), vdso_code, 2, MAIN + 16);
	run_ecall(MAIN + 16, 5, 9, MAIN);
}

static void run_b(void)
{
	step(MAIN, ADDI, 0);
	step(MAIN + 4, ADDI, 0);
	step(MAIN + 8, CALL_T0, LIBC(1));
	run_function(LIBC(1), libc_code, 3, MAIN + 12);
	run_ecall(MAIN + 12, 9, 5, MAIN + 20);
	step(MAIN + 20, JUMP_T0, MAIN);
}

/* ---- what they had mapped ---- */

/* A shared object whose code has another address than offset in the file. */
static void write_elf(const char *path, uint64_t address, uint64_t offset, const uint32_t *code, size_t n)
{
	const struct hf_rvelf elf = {.xlen = 64, .base = address, .code = (const uint8_t *)code, .code_size = n};
	struct hf_walk_bytes bytes = {0};
	size_t size;
	uint8_t *file = hf_rvelf_make(&elf, &size);

	hf_bytes_add(&bytes, file, size);
	free(file);
	while (bytes.n < offset + n)
		hf_bytes_add(&bytes, "", 1);
	memcpy(bytes.p + offset, code, n);
	hf_put16(bytes.p + offsetof(Elf64_Ehdr, e_type), ET_DYN);
	hf_put64(bytes.p + sizeof(Elf64_Ehdr) + offsetof(Elf64_Phdr, p_offset), offset);
	hf_fst_write(&t, path, bytes.p, bytes.n);
	hf_bytes_free(&bytes);
}

/* Pages as they are dumped: two bytes of the next one are in each. */
static void write_kernel(void)
{
	uint8_t bytes[2 * 4096 + 2] = {0};
	size_t at = HANDLER - KERNEL;

	for (size_t i = 0; i < 5; i++) {
		hf_put32(bytes + at, kernel_code[i]);
		at += kernel_code[i] == C_NOP ? 2 : 4;
	}
	hf_fst_write(&t, "run/kmem.0", bytes, 4098);
	hf_fst_write(&t, "run/kmem.1", bytes + 4096, 4098);
}

static void write_files(void)
{
	write_elf("run/rootfs/usr/bin/a", 0x11100, 0x100, a_code, sizeof a_code);
	write_elf("run/rootfs/usr/bin/b", 0x11100, 0x100, b_code, sizeof b_code);
	write_elf("run/rootfs/usr/lib/libc.so.6", 0x45100, 0x2100, libc_code, sizeof libc_code);
	write_elf("run/vdso.bin", 0x100, 0x100, vdso_code, sizeof vdso_code);
	write_kernel();
	hf_fst_write_text(&t, "run/maps/5", "2aaaaab000-2aaaaac000 r--p 00000000 08:01 11                 /usr/bin/a\n"
					    "2aaaaac000-2aaaaad000 r-xp 00000000 08:01 11                 /usr/bin/a\n"
					    "3fb0000000-3fb0001000 r-xp 00002000 08:01 12                 /../usr/lib/./libc.so.6\n"
					    "3fb0001000-3fb0002000 rw-p 00003000 08:01 12                 /usr/lib/libc.so.6\n"
					    "3fb1000000-3fb1002000 r-xp 00000000 00:00 0                  [vdso]\n"
					    "3fb2000000-3fb2001000 rwxp 00000000 00:00 0 \n"
					    "3ffff00000-3ffff21000 rw-p 00000000 00:00 0                  [stack]\n");
	hf_fst_write_text(&t, "run/maps/9", "2aaaaac000-2aaaaad000 r-xp 00000000 08:01 13 /usr/bin/b\n"
					    "3fc0000000-3fc0001000 r-xp 00002000 08:01 12 /usr/lib/libc.so.6\n"
					    "3fd0000000-3fd0002000 r-xp 00000000 00:00 0 [vdso]\n");
}

#define PROGRAMS "[program]\n" \
		 "raw = kmem.0, address = 0xffffffff80001000\nraw = kmem.1, address = 0xffffffff80002000\n"
#define MAPS "map = maps/5, context = 5, root = rootfs\nmap = maps/9, root = rootfs/, context = 9\n"

static void describe(const char *name, const char *programs, const char *params)
{
	char text[2048], path[64];

	snprintf(text, sizeof text, "[capture]\nformat = ntrace\ntrace = trace.bin\n%s[parameters]\n%s\n", programs, params);
	for (char *p = strstr(text, "[parameters]"); *p; p++)
		*p = *p == ',' ? '\n' : *p;
	snprintf(path, sizeof path, "run/%s", name);
	hf_fst_write_text(&t, path, text);
}

/* ---- what is read ---- */

/* The listing has these instructions and no other, up to the first that is not known. */
static size_t check_listing(const char *views)
{
	char path[64], *text;
	size_t i = 0, n = 0;

	snprintf(path, sizeof path, "run/%s/hart0/listing.txt", views);
	text = hf_fst_text(&t, path);
	for (char *line = text, *end; *line; line = end + 1) {
		char is[8];
		uint64_t ordinal, pc;
		uint32_t opcode;

		end = strchr(line, '\n');
		CHECK(end);
		if (sscanf(line, "%" SCNu64 " %7s %" SCNx64 " %" SCNx32, &ordinal, is, &pc, &opcode) != 4)
			continue;
		while (i < event_count && event[i].kind != HF_EVENT_INSN)
			i++;
		CHECK(i < event_count);
		CHECK_EQ(pc, event[i].insn.pc);
		CHECK_EQ(opcode, event[i].insn.opcode);
		CHECK_EQ(*is, event[i].insn.mode == HF_MODE_U ? 'U' : 'S');
		i++;
		n++;
	}
	free(text);
	return n;
}

static void check_errors(const char *views, const char *has)
{
	char path[64], *text;

	snprintf(path, sizeof path, "run/%s/errors.txt", views);
	text = hf_fst_text(&t, path);
	if (*has ? !strstr(text, has) : *text)
		fprintf(stderr, "%s:\n%s\n", views, text);
	CHECK(*has ? strstr(text, has) != NULL : !*text);
	free(text);
}

int main(void)
{
	struct hf_ntt_events events = {.ev = event};
	struct hf_walk_bytes trace;
	size_t insns = 0;
	char params[512];

	for (unsigned i = 0; i < 4; i++) {
		run_a();
		run_b();
	}
	events.n = event_count;
	for (size_t i = 0; i < event_count; i++)
		insns += event[i].kind == HF_EVENT_INSN;
	trace = hf_ntt_encode_described(NULL, &events, 64, 0, "dialect=sifive,address_width=49,ownership=1,sync_instructions=25",
					params, sizeof params);
	hf_fst_begin(&t);
	hf_fst_write(&t, "run/trace.bin", trace.p, trace.n);
	hf_fst_write_text(&t, "secret", "not of this system");
	write_files();
	describe("all.ini", PROGRAMS "vdso = vdso.bin\n" MAPS, params);
	describe("none.ini", PROGRAMS MAPS, params);
	describe("other.ini", PROGRAMS "vdso = vdso.bin\n" MAPS
		 "raw = kmem.0, offset = 8, size = 8, address = 0xffffffff80001ff8\n", params);
	hf_fst_write_text(&t, "run/maps/out", "1000-2000 r-xp 00000000 08:01 14 /../../../secret\n"
					      "2000-3000 r-xp 00000000 08:01 14 /tmp/x (deleted)\n");
	describe("out.ini", PROGRAMS "vdso = vdso.bin\n" MAPS "map = maps/out, root = rootfs\n", params);
	describe("odd.ini", "[program]\nmap = maps/odd\n", params);
	hf_fst_write_text(&t, "run/maps/odd", "1000-2000 r-xp 00000000 08:01 14 /a\nwhat\n");
	hf_fst_open(&t, NULL);
	CHECK_EQ(check_listing("all.ini@ntrace"), insns);
	/* Of two files at the same addresses no name would be right. */
	check_errors("all.ini@ntrace", "maps/5:2: warning: 'rootfs/usr/bin/a' and 1 more files lie where another context has "
				       "another one: they give no names");
	/* Without its bytes the vdso is a gap. */
	check_errors("none.ini@ntrace", "maps/5:5: warning: [vdso] is left out: no 'vdso = FILE' of [program] has its bytes");
	check_errors("none.ini@ntrace", "the program has no instruction at address 3fb1000100");
	/* Of two that overlap the last holds, and it is told that they differ. */
	check_errors("other.ini@ntrace", "'kmem.0' and 'kmem.0' of other.ini:5 differ at 0xffffffff80001ff8");
	/* Paths do not lead out of the root. */
	check_errors("out.ini@ntrace", "'rootfs/secret' is no file within the archive: it is left out");
	check_errors("out.ini@ntrace", "'/tmp/x' was deleted when this was written");
	CHECK_EQ(check_listing("out.ini@ntrace"), insns);
	check_errors("odd.ini@ntrace", "maps/odd:2: this is no line of /proc/PID/maps");
	hf_fst_close(&t);
	hf_fst_end(&t);
	hf_bytes_free(&trace);
	return 0;
}
