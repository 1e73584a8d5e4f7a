/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Every row of views.def keeps what codec.h asks of a view and no compiler sees: names, hooks that come in pairs, answers
 * to wrong parameters, and a place in the manual. A failure names the view.
 */
#include "codecs/base/errors.h"
#include "codecs/codec.h"
#include "fs/base/views.h"
#include "tests/lib/check.h"
#include "tests/lib/walk.h"

static void must(bool ok, const struct hf_enc_ops *view, const char *what)
{
	if (ok)
		return;
	fprintf(stderr, "the view %s: %s\n", view->name, what);
	exit(1);
}

/* Letters, digits and what else may stand between the commas and plus signs of lists. */
static bool is_plain(const char *text, const char *more)
{
	for (; *text; text++)
		if (!(*text >= 'a' && *text <= 'z') && !(*text >= '0' && *text <= '9') && !strchr(more, *text))
			return false;
	return true;
}

/* The bytes that two views may not have in common: the directory, or the file. */
static size_t top(const char *view)
{
	return strcspn(view, "/");
}

static void check_names(const struct hf_enc_ops *view)
{
	static const char *const taken[] = {"at", "program.elf", "INDEXING"};

	must(*view->name && is_plain(view->name, "_"), view, "name is not of lower-case letters, digits and '_'");
	must(is_plain(view->view, "_./") && *view->view != '/', view, "view is not such a file name");
	for (size_t i = 0; i < sizeof taken / sizeof *taken; i++)
		must(strlen(taken[i]) != top(view->view) || memcmp(taken[i], view->view, top(view->view)) != 0, view,
		     "view is the name of something else in a hart's directory");
	for (size_t i = 0; hf_views[i] != view; i++) {
		must(strcmp(hf_views[i]->name, view->name) != 0, view, "another one has that name");
		must(top(hf_views[i]->view) != top(view->view) ||
		     memcmp(hf_views[i]->view, view->view, top(view->view)) != 0, view, "another one has that file");
	}
}

static void check_hooks(const struct hf_enc_ops *view)
{
	must(view->version > 0, view, "version is 0");
	must(view->put, view, "put is missing");
	must(!view->size || view->size >= sizeof(struct hf_enc), view, "size is less than that of struct hf_enc");
	must(!view->state || view->size > sizeof(struct hf_enc), view, "it saves a state, and size has no room for one");
	must(!view->side || strchr(view->view, '/'), view, "it has side files and is no directory");
	for (const struct hf_side_file *side = view->side; side && side->name; side++)
		must(strncmp(side->name, view->view, top(view->view) + 1) == 0, view, "a side file is not in its directory");
}

static void check_refusals(const struct hf_enc_ops *view)
{
	struct hf_stream_info info = {.flags = HF_STREAM_HARTS, .xlen = 64};
	char why[200] = "";
	bool any = false;

	for (info.arch = HF_ARCH_RISCV; info.arch < HF_ARCH_COUNT; info.arch++) {
		const char *refusal = hf_enc_refusal(view, &info);

		any |= !refusal;
		must(!refusal || *refusal, view, "it refuses without a reason");
	}
	must(any, view, "it refuses every architecture");
	if (!view->check_params)
		return;
	must(view->check_params("", why, sizeof why) == 0, view, "it refuses to have no parameters");
	must(view->check_params("no_such_key=1", why, sizeof why) == HF_ERR_SETUP_VALUE, view,
	     "it takes a parameter that is none");
	must(*why, view, "it refuses a parameter without a reason");
}

/* hartN/listing.txt, or a section that begins with the name of the directory: "etrace/". */
static void check_manual(const struct hf_enc_ops *view, const char *manual)
{
	const bool is_dir = view->view[top(view->view)];
	char entry[200];

	snprintf(entry, sizeof entry, is_dir ? "%.*s/" : "\nhart*N*/%.*s\n", (int)top(view->view), view->view);
	must(strstr(manual, entry), view, "it is not among the files in mountd/hartfs-views.5.md");
}

int main(void)
{
	const char *data = getenv("HARTFS_DATA");
	struct hf_walk_bytes manual;
	size_t sides = 0;

	if (!data) {
		fprintf(stderr, "HARTFS_DATA is not set: run it with ctest\n");
		return 77;
	}
	manual = hf_bytes_load(data, "../../mountd/hartfs-views.5.md");
	hf_bytes_add(&manual, "", 1);
	for (size_t i = 0; hf_views[i]; i++) {
		check_names(hf_views[i]);
		check_hooks(hf_views[i]);
		check_refusals(hf_views[i]);
		check_manual(hf_views[i], (const char *)manual.p);
		for (const struct hf_side_file *side = hf_views[i]->side; side && side->name; side++)
			must(++sides <= HF_SIDES_MAX, hf_views[i], "there are more side files than HF_SIDES_MAX");
	}
	hf_bytes_free(&manual);
	return 0;
}
