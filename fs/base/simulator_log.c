/* SPDX-License-Identifier: Apache-2.0 */
#include "fs/base/simulator_log.h"

#include <regex.h>
#include <stddef.h>
#include <string.h>

/* So many lines are looked at. */
enum { LINES_MAX = 200 };

/* How a line of each begins; extended regular expressions. The first that matches a line names the file. */
static const struct {
	const char *name, *line;
} logs[] = {
	{"log of cva6 (RVFI)", "^core +[0-9]+: 0x[0-9a-f]+ \\(0x[0-9a-f]+\\) DASM\\("},
	{"log of cva6", "^ *[0-9]+ 0x[0-9a-f]+ [USMD] \\(0x[0-9a-f]+\\) DASM\\("},
	{"Spike commit log", "^(core +[0-9]+: )?[0-3] 0x[0-9a-f]{8,16} \\(0x[0-9a-f]{4,8}\\)"},
	{"Spike log", "^core +[0-9]+: +(0x[0-9a-f]+ \\(0x[0-9a-f]+\\) |>>>> |exception )"},
	{"log of QEMU's execlog plugin", "^[0-9]+, 0x[0-9a-f]+, 0x[0-9a-f]+, \""},
	{"log of QEMU's -d exec", "^Trace ([0-9]+: )?0x[0-9a-f]+ \\["},
	{"log of QEMU's -d in_asm", "^IN: "},
	{"Sail log", "^\\[[0-9]+\\] \\[[MSUHV]+\\]: 0x[0-9A-F]+ \\(0x"},
	{"Whisper log", "^#[0-9]+ [0-9]+ +([MSUDHV]+ +)?[0-9a-f]{8,16} +[0-9a-f]{4,8} [rfvmc] "},
	{"log of Imperas' simulator", "^Info .*'[^']+', 0x[0-9a-f]+\\(.*\\): "},
	{"log of an Ibex or CV32E40P", "^ *Time[ \t]+Cycle[ \t]+PC[ \t]+Ins"},
	{"Tarmac log", "^Tarmac Text Rev"},
	{"Tarmac log", "^[0-9.]+ *(clk|cyc|tic|ns|ps|us|cs)( cpu[0-9]+)? (IT|IS|IF|ES|R|E|BR|EXC|LD|ST|M[RW][0-9]+) "},
	{"gem5 log", "^ *[0-9]+: [^ ]*cpu[^ ]*: (A[0-9]+ )?T[0-9]+ : "},
};

/* The first line of text that is one of such a log. */
static const char *name_of(char *text, const regex_t *expressions)
{
	char *save = NULL, *line = strtok_r(text, "\r\n", &save);

	for (unsigned n = 0; line && n < LINES_MAX; n++, line = strtok_r(NULL, "\r\n", &save))
		for (size_t i = 0; i < sizeof logs / sizeof *logs; i++)
			if (!regexec(&expressions[i], line, 0, NULL, 0))
				return logs[i].name;
	return NULL;
}

const char *hf_simulator_log_name(char *head)
{
	regex_t expressions[sizeof logs / sizeof *logs];
	const char *name = NULL;
	size_t n = 0;

	while (n < sizeof logs / sizeof *logs && !regcomp(&expressions[n], logs[n].line, REG_EXTENDED | REG_NOSUB))
		n++;
	if (n == sizeof logs / sizeof *logs)
		name = name_of(head, expressions);
	while (n)
		regfree(&expressions[--n]);
	return name;
}
