/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Any text as view parameters: up to the first 0 byte those of a mount, behind it hartfs.conf. What is taken is in order,
 * each codec takes its own of it, and it is taken again as it is; what is refused is refused with words.
 */
#include "codecs/codec.h"
#include "fs/archive/params.h"
#include "fs/base/views.h"
#include "tests/lib/fstest.h"
#include "tests/lib/fuzz.h"

#include <fcntl.h>
#include <unistd.h>

static struct hf_fst t;
static struct hf_archive archive;
static int conf;

static void clean_up(void)
{
	close(conf);
	close(archive.fd);
	hf_fst_end(&t);
}

static void set_up(void)
{
	hf_fst_begin(&t);
	hf_fst_write(&t, HF_PARAMS_FILE, "", 0);
	archive.fd = open(t.archive, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	MUST(archive.fd >= 0);
	conf = openat(archive.fd, HF_PARAMS_FILE, O_WRONLY | O_CLOEXEC);
	MUST(conf >= 0);
	atexit(clean_up);
}

static void check_views(const char *params)
{
	struct hf_taker view;
	size_t size = 0;
	char why[256];

	for (size_t i = 0; hf_views_taker(i, &view); i++) {
		char *own = hf_params_of(params, view.name);

		MUST(own);
		if (*own) {
			MUST(view.check(own, why, sizeof why) == 0);
			size += strlen(own) + 1;
			for (const char *p = own; p; p = strchr(p, ','), p = p ? p + 1 : p)
				size += strlen(view.name) + 1;
		}
		free(own);
	}
	MUST(size == (*params ? strlen(params) + 1 : 0)); /* none is lost */
}

static void check_taken(const char *params)
{
	char why[256] = "", *again;

	for (const char *p = strchr(params, ','), *last = params; p; last = p + 1, p = strchr(p + 1, ','))
		MUST(strcmp(last, p + 1) < 0);
	MUST(hf_params_read(NULL, params, &again, NULL, why, sizeof why) == 0);
	MUST(strcmp(params, again) == 0 && !*why);
	free(again);
	check_views(params);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	const size_t given_size = strnlen((const char *)bytes, n);
	const size_t from = given_size < n ? given_size + 1 : n;
	struct hf_access access;
	char why[256] = "", *params, *given;
	int err;

	if (!*t.dir)
		set_up();
	given = strndup((const char *)bytes, given_size);
	MUST(given);
	MUST(ftruncate(conf, 0) == 0 && pwrite(conf, bytes + from, n - from, 0) == (ssize_t)(n - from));
	err = hf_params_read(&archive, given, &params, &access, why, sizeof why);
	MUST(!err == !!params && !err == !*why);
	MUST(hf_fs_check_params(archive.fd, given, why, 1) == err && !*why);
	if (!err)
		check_taken(params);
	else
		MUST(err != HF_ERR_BUG && err != HF_ERR_NOMEM);
	free(params);
	free(given);
	return 0;
}
