/* SPDX-License-Identifier: Apache-2.0 */
#include "mountd/pager.h"
#include "mountd/colour.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* Without less the text goes to the terminal as it is. */
#define DEFAULT "if command -v less >/dev/null; then exec less; else exec cat; fi"

static pid_t pager;

static void wait_for_pager(void)
{
	fclose(stdout);
	while (waitpid(pager, NULL, 0) < 0 && errno == EINTR)
		;
}

void hf_pager_start(void)
{
	const char *command = getenv("PAGER");
	int ends[2];

	if (!isatty(STDOUT_FILENO) || (command && (!*command || strcmp(command, "cat") == 0)) || pipe(ends) < 0)
		return;
	hf_colour_decide(stdout);
	pager = fork();
	if (pager == 0) {
		dup2(ends[0], STDIN_FILENO);
		close(ends[0]);
		close(ends[1]);
		/* It ends at once if all fits, shows colours, and leaves the text on the screen. */
		setenv("LESS", "FRX", 0);
		execl("/bin/sh", "sh", "-c", command ? command : DEFAULT, (char *)NULL);
		_exit(127);
	}
	if (pager > 0) {
		dup2(ends[1], STDOUT_FILENO);
		atexit(wait_for_pager);
	}
	close(ends[0]);
	close(ends[1]);
}
