/* SPDX-License-Identifier: Apache-2.0 */
/* hartfs.so: what SQLite loads. Functions, and the tables of what hartfs_open was given: hartfs-sql(5). */
#include "mountd/sql/client.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#ifndef SQLITE_INNOCUOUS
#define SQLITE_INNOCUOUS 0
#endif

/* Options of hartfs_open, at most. */
enum { OPTIONS_MOST = 31 };

/* ---- hartfs_open(PATH [, OPTION...]) ---- */

static void fail(sqlite3_context *context, const char *text)
{
	char words[HF_CHILD_WORDS + 16];

	snprintf(words, sizeof words, "hartfs_open: %s", text);
	sqlite3_result_error(context, words, -1);
}

static void open_path(sqlite3_context *context, struct hf_client *client, const char *path, const char *const *options,
		      size_t count)
{
	struct stat st;
	enum hf_child_result result;

	result = hf_child_open(&client->child, path, options, count);
	if (result) {
		fail(context, client->child.words);
		return;
	}
	client->alone = stat(path, &st) == 0 && !S_ISDIR(st.st_mode);
	if (!client->registered && (hf_tables_register(client) || (getenv("HARTFS_SHELL") && hf_tables_show(client))))
		fail(context, sqlite3_errmsg(client->db));
	else
		sqlite3_result_text(context, path, -1, SQLITE_TRANSIENT);
}

static void call_open(sqlite3_context *context, int argc, sqlite3_value **argv)
{
	struct hf_client *client = sqlite3_user_data(context);
	const char *options[OPTIONS_MOST], *path = argc ? (const char *)sqlite3_value_text(argv[0]) : NULL;

	if (!path) {
		fail(context, "a path is needed, and perhaps options of hartfs serve");
		return;
	}
	if (argc > 1 + OPTIONS_MOST) {
		fail(context, "more than 31 options");
		return;
	}
	for (int i = 1; i < argc; i++) {
		options[i - 1] = (const char *)sqlite3_value_text(argv[i]);
		if (!options[i - 1] || options[i - 1][0] != '-') {
			fail(context, "an option begins with --");
			return;
		}
	}
	open_path(context, client, path, options, (size_t)argc - 1);
}

/* ---- addr(HEX), hex64(NUMBER) ---- */

/* A number of 64 bits from hexadecimal digits; NULL if it is none. */
static void call_addr(sqlite3_context *context, int argc, sqlite3_value **argv)
{
	const char *text = (const char *)sqlite3_value_text(argv[0]);
	const size_t prefix = text && strncmp(text, "0x", 2) == 0 ? 2 : 0;
	const size_t digits = text ? strspn(text + prefix, "0123456789abcdefABCDEF") : 0;

	(void)argc;
	if (digits && !text[prefix + digits] && strspn(text + prefix, "0") + 16 >= digits)
		sqlite3_result_int64(context, (sqlite3_int64)strtoull(text + prefix, NULL, 16));
}

static void call_hex64(sqlite3_context *context, int argc, sqlite3_value **argv)
{
	char text[24];

	(void)argc;
	if (sqlite3_value_type(argv[0]) != SQLITE_INTEGER)
		return;
	snprintf(text, sizeof text, "%016llx", (unsigned long long)sqlite3_value_int64(argv[0]));
	sqlite3_result_text(context, text, -1, SQLITE_TRANSIENT);
}

/* ---- loading ---- */

static int add_functions(sqlite3 *db, struct hf_client *client)
{
	const int pure = SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_INNOCUOUS;
	/* It starts a program that reads files. */
	const int direct = SQLITE_UTF8 | SQLITE_DIRECTONLY;
	int err = sqlite3_create_function_v2(db, "addr", 1, pure, NULL, call_addr, NULL, NULL, NULL);

	if (!err)
		err = sqlite3_create_function_v2(db, "hex64", 1, pure, NULL, call_hex64, NULL, NULL, NULL);
	client->refs++;
	/* Also calls hf_client_put if it fails. */
	if (!err)
		return sqlite3_create_function_v2(db, "hartfs_open", -1, direct, client, call_open, NULL, NULL,
						  hf_client_put);
	hf_client_put(client);
	return err;
}

__attribute__((visibility("default"))) int sqlite3_hartfs_init(sqlite3 *db, char **ret_error,
							       const sqlite3_api_routines *api);

int sqlite3_hartfs_init(sqlite3 *db, char **ret_error, const sqlite3_api_routines *api)
{
	struct hf_client *client;

	SQLITE_EXTENSION_INIT2(api);
	if (sqlite3_libversion_number() < HF_SQLITE_OLDEST) {
		*ret_error = sqlite3_mprintf("SQLite %s is too old for hartfs", sqlite3_libversion());
		return SQLITE_ERROR;
	}
	client = hf_client_new(db);
	return client ? add_functions(db, client) : SQLITE_NOMEM;
}
