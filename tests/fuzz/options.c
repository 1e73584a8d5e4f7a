/* SPDX-License-Identifier: Apache-2.0 */
/* How the sanitizers run under libFuzzer: what an execution frees is kept apart to see its uses, but not what a
 * thousand freed, which costs each of them fresh pages; nor are the pages given back that say what of a large piece may
 * be used. */
const char *__asan_default_options(void);

const char *__asan_default_options(void)
{
	return "quarantine_size_mb=16:thread_local_quarantine_size_kb=64:clear_shadow_mmap_threshold=67108864";
}
