/* SPDX-License-Identifier: Apache-2.0 */
#include "mountd/sql/client.h"

#include <stdlib.h>

SQLITE_EXTENSION_INIT1

/*
 * SQLite tells nobody but its own programs that sqlite3_interrupt was called, or what the progress handler says: so one
 * of these is run. It takes as many steps as some thousand, for handlers that are called rarely.
 */
static bool is_interrupted(void *ctx)
{
	static const char text[] = "WITH RECURSIVE c(n) AS (VALUES(1) UNION ALL SELECT n + 1 FROM c WHERE n < 200) "
				   "SELECT max(n) FROM c";
	struct hf_client *client = ctx;
	sqlite3_stmt *look;
	bool interrupted;

	/* One that stayed would keep the connection from being closed. */
	if (sqlite3_prepare_v2(client->db, text, -1, &look, NULL) != SQLITE_OK)
		return true;
	interrupted = sqlite3_step(look) != SQLITE_ROW;
	sqlite3_finalize(look);
	return interrupted;
}

struct hf_client *hf_client_new(sqlite3 *db)
{
	struct hf_client *client = calloc(1, sizeof *client);

	if (!client)
		return NULL;
	client->db = db;
	client->child.fd = client->child.errors = -1;
	client->child.interrupted = is_interrupted;
	client->child.ctx = client;
	return client;
}

void hf_client_put(void *aux)
{
	struct hf_client *client = aux;

	if (--client->refs)
		return;
	hf_child_fini(&client->child);
	free(client);
}
