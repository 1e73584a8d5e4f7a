/* SPDX-License-Identifier: Apache-2.0 */
/* SQLite as the host has it: of all versions from 3.31 on, which knows SQLITE_DIRECTONLY. */
#ifndef HF_SQL_SQLITE_H
#define HF_SQL_SQLITE_H

#include <sqlite3ext.h>

SQLITE_EXTENSION_INIT3

#define HF_SQLITE_OLDEST 3031000

#endif
