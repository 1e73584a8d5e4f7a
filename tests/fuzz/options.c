/* SPDX-License-Identifier: Apache-2.0 */
/* How the sanitizers run under libFuzzer: what an execution frees is kept apart to see its uses, but not what a
 * thousand freed, which costs each of them fresh pages. */
const char *__asan_default_options(void);

const char *__asan_default_options(void)
{
	return "quarantine_size_mb=16:thread_local_quarantine_size_kb=64";
}
