/* SPDX-License-Identifier: Apache-2.0 */
/*
 * perf_wrap OUT <COMMANDS: writes a perf.data of any form, around trace bytes that are in files. Numbers are decimal or
 * 0x hexadecimal. One command a line:
 *
 *   form NAME...                                  pipe, killed, zstd, threads, events, nocpu: comes first
 *   register NUMBER VALUE                         of the trace units: 0 TRCCONFIGR, 2 TRCIDR0 ... 7 TRCDEVARCH
 *   text FEATURE WORD...                          a feature whose section is a text (5 version), or several (11 command)
 *   info VERSION CPUS
 *   riscv                                         instead of info: its trace is that of RISC-V
 *   comm PID TID TIME NAME [exec]
 *   fork PID TID PARENT TIME
 *   map PID TIME ADDRESS SIZE OFFSET PROT NAME [ID]   ID: two hexadecimal digits, the first byte of a build id
 *   kernel ADDRESS SIZE OFFSET NAME ID
 *   ksymbol TIME ADDRESS SIZE NAME
 *   poke TIME ADDRESS OLD NEW                     words of code
 *   switch CPU TIME PID TID
 *   hwid CPU ID SINK
 *   trace CPU PID TID TIME FLAGS FILE             a recording: an AUX and an AUXTRACE record
 *   split CPU PID TID TIME FLAGS FILE N           one for each synchronisation in the file, N of them in an AUXTRACE record
 *   aux CPU PID TID TIME FLAGS OFFSET SIZE        an AUX record alone
 *   hole CPU SIZE                                 at the end of a killed recorder's: a buffer whose bytes are not written
 *   clock SHIFT MULT ZERO                         TIME_CONV, before info: the units' timestamps are of that clock
 *   kcore FILE ADDRESS WORD...                    no record: a copy of the kernel with these words there, as a file
 *   elf FILE ID WORD...                           no record: a program of these words at 0x1000, as a file
 */
#include "codecs/base/bytes.h"
#include "tests/lib/check.h"
#include "tests/lib/perfdata.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WORDS = 32 };

static char *word[WORDS];
static size_t words;
static struct perf_data out;
static bool begun;
static uint64_t filled; /* of the buffers */

static uint64_t number(size_t i)
{
	char *end;
	uint64_t value = i < words ? strtoull(word[i], &end, 0) : 0;

	CHECK(i < words && !*end);
	return value;
}

static bool is(const char *name, size_t least)
{
	return strcmp(word[0], name) == 0 && words > least;
}

static const uint8_t *id_of(size_t i)
{
	static uint8_t id[20] = {0, 1, 2, 3};

	if (i >= words)
		return NULL;
	id[0] = (uint8_t)strtoul(word[i], NULL, 16);
	return id;
}

static uint8_t *read_file(const char *name, size_t *ret_n)
{
	FILE *file = fopen(name, "rb");
	uint8_t *bytes;

	CHECK(file && !fseek(file, 0, SEEK_END));
	*ret_n = (size_t)ftell(file);
	rewind(file);
	bytes = malloc(*ret_n + 1);
	CHECK(bytes && fread(bytes, 1, *ret_n, file) == *ret_n);
	fclose(file);
	return bytes;
}

static void write_file(const char *name, const uint8_t *bytes, size_t n)
{
	FILE *file = fopen(name, "wb");

	CHECK(file && fwrite(bytes, 1, n, file) == n && !fclose(file));
}

static struct perf_who who(size_t pid, size_t tid, uint32_t cpu, size_t time)
{
	return (struct perf_who){(uint32_t)number(pid), (uint32_t)number(tid), cpu, number(time)};
}

/* Bytes up to the next synchronisation but the first. */
static size_t next_sync(const uint8_t *bytes, size_t n)
{
	static const uint8_t sync[12] = {[11] = 0x80};
	const uint8_t *at = n > sizeof sync ? memmem(bytes + 1, n - 1, sync, sizeof sync) : NULL;

	return at ? (size_t)(at - bytes) : n;
}

static void trace(size_t together)
{
	const uint32_t cpu = (uint32_t)number(1);
	struct perf_who of = who(2, 3, cpu, 4);
	size_t n, at = 0;
	uint8_t *bytes = read_file(word[6], &n);

	while (at < n) {
		const size_t begin = at;
		const uint64_t base = filled;

		for (size_t i = 0; i < (together ? together : 1) && at < n; i++) {
			const size_t size = together ? next_sync(bytes + at, n - at) : n - at;

			perf_aux(&out, &of, base + (at - begin), size, number(5));
			at += size;
			of.time++;
		}
		perf_auxtrace(&out, cpu, of.tid, base, bytes + begin, at - begin);
		filled += (at - begin + 63) & ~(uint64_t)63;
	}
	free(bytes);
}

static void begin(void)
{
	static const char *const names[] = {"pipe", "killed", "zstd", "threads", "", "events", "nocpu"};
	unsigned form = 0;

	for (size_t i = 1; i < words; i++)
		for (unsigned k = 0; k < 7; k++)
			form |= strcmp(word[i], names[k]) == 0 ? 1u << k : 0;
	perf_begin(&out, form);
	begun = true;
}

static void make_elf(void)
{
	uint32_t code[WORDS];
	uint8_t elf[8192];
	size_t n = 4 * (words - 3);

	for (size_t i = 3; i < words; i++)
		code[i - 3] = (uint32_t)number(i);
	n = word[0][0] == 'e' ? perf_elf(id_of(2), code, n, elf) : perf_kcore(number(2), code, n, elf);
	write_file(word[1], elf, n);
}

static void put_clock(void)
{
	uint8_t body[24];

	for (size_t i = 0; i < 3; i++)
		hf_put64(body + 8 * i, number(i + 1));
	perf_record(&out, 79, 0, body, sizeof body, NULL);
	out.clock = true;
}

static void run(void)
{
	struct perf_who of = {0};

	if (is("form", 0)) {
		begin();
		return;
	}
	if (!begun)
		perf_begin(&out, 0);
	begun = true;
	if (is("register", 2)) {
		CHECK(number(1) < 8);
		out.registers[number(1)] = number(2);
	} else if (is("text", 2)) {
		perf_text(&out, (unsigned)number(1), (const char *const *)word + 2, words - 2);
	} else if (is("info", 2)) {
		perf_info(&out, (unsigned)number(1), (unsigned)number(2));
	} else if (is("riscv", 0)) {
		perf_riscv(&out);
	} else if (is("comm", 4)) {
		of = who(1, 2, 0, 3);
		perf_comm(&out, &of, word[4], words > 5);
	} else if (is("fork", 4)) {
		of = who(1, 2, 0, 4);
		perf_fork(&out, &of, (uint32_t)number(3));
	} else if (is("map", 7)) {
		of = who(1, 1, 0, 2);
		perf_map(&out, &of, number(3), number(4), number(5), (unsigned)number(6), word[7], id_of(8));
	} else if (is("kernel", 5)) {
		perf_kernel(&out, word[4], number(1), number(2), number(3), id_of(5));
	} else if (is("ksymbol", 4)) {
		of.time = number(1);
		perf_ksymbol(&out, &of, word[4], number(2), (uint32_t)number(3));
	} else if (is("poke", 4)) {
		of.time = number(1);
		perf_poke(&out, &of, number(2), (uint32_t)number(3), (uint32_t)number(4));
	} else if (is("switch", 4)) {
		of = (struct perf_who){.cpu = (uint32_t)number(1), .time = number(2)};
		perf_switch(&out, &of, (uint32_t)number(3), (uint32_t)number(4));
	} else if (is("hwid", 3)) {
		of.cpu = (uint32_t)number(1);
		perf_hw_id(&out, &of, (unsigned)number(2), (uint32_t)number(3));
	} else if (is("trace", 6) || is("split", 7)) {
		trace(word[0][0] == 's' ? number(7) : 0);
	} else if (is("hole", 2)) {
		perf_auxtrace_head(&out, (uint32_t)number(1), 0, 0, number(2));
	} else if (is("aux", 7)) {
		of = who(2, 3, (uint32_t)number(1), 4);
		perf_aux(&out, &of, number(6), number(7), number(5));
	} else if (is("clock", 3)) {
		put_clock();
	} else if (is("elf", 3) || is("kcore", 3)) {
		make_elf();
	} else {
		fprintf(stderr, "perf_wrap: '%s' is no command, or has too few words\n", word[0]);
		exit(1);
	}
}

int main(int argc, char **argv)
{
	char line[4096];

	CHECK(argc == 2);
	while (fgets(line, sizeof line, stdin)) {
		words = 0;
		for (char *at = strtok(line, " \n"); at && words < WORDS; at = strtok(NULL, " \n"))
			word[words++] = at;
		if (words && word[0][0] != '#')
			run();
	}
	perf_end(&out);
	write_file(argv[1], out.bytes, out.n);
	perf_free(&out);
	return 0;
}
