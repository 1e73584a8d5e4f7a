/* SPDX-License-Identifier: Apache-2.0 */
/* .hartfs/metrics.prom: Prometheus' text format, version 0.0.4. */
#include "fs/base/metrics.h"
#include "fs/capture/all.h"
#include "fs/facts/state.h"
#include "fs/tree/control.h"
#include "fs/tree/shared.h"

static void put_head(struct hf_sink *sink, const char *name, const char *type, const char *help)
{
	hf_sink_printf(sink, "# HELP hartfs_%s %s\n# TYPE hartfs_%s %s\n", name, help, name, type);
}

static void put_u64(struct hf_sink *sink, const char *name, const char *type, const char *help, uint64_t value)
{
	put_head(sink, name, type, help);
	hf_sink_printf(sink, "hartfs_%s %llu\n", name, (unsigned long long)value);
}

static void put_seconds(struct hf_sink *sink, const char *name, const char *type, const char *help, uint64_t ns)
{
	put_head(sink, name, type, help);
	hf_sink_printf(sink, "hartfs_%s %llu.%09llu\n", name, (unsigned long long)(ns / 1000000000),
		       (unsigned long long)(ns % 1000000000));
}

static uint64_t get(_Atomic uint64_t *counter)
{
	return atomic_load_explicit(counter, memory_order_relaxed);
}

static void put_captures(const struct hf_captures_stats *captures, struct hf_sink *sink)
{
	put_head(sink, "captures", "gauge", "Captures that were seen, by state.");
	for (int i = 0; i < HF_CAPTURE_GONE; i++)
		hf_sink_printf(sink, "hartfs_captures{state=\"%s\"} %zu\n",
			       hf_capture_state_name((enum hf_capture_state)i), captures->count.state[i]);
}

static void put_cache(struct hf_tree *tree, struct hf_sink *sink)
{
	struct hf_cache_stats stats;

	hf_cache_get_stats(tree->common->cache, &stats);
	put_u64(sink, "cache_limit_bytes", "gauge", "Most bytes that the cache of made views may hold.",
		tree->common->options.cache_bytes);
	put_u64(sink, "cache_bytes", "gauge", "Bytes in the cache.", stats.bytes);
	put_u64(sink, "cache_hits_total", "counter", "Pieces that were in the cache when they were needed.",
		stats.hits);
	put_u64(sink, "cache_misses_total", "counter", "Pieces that had to be made.", stats.misses);
	put_u64(sink, "cache_waits_total", "counter", "Pieces that were just being made.", stats.waits);
	put_u64(sink, "cache_evicted_total", "counter", "Pieces dropped to make room.", stats.evicted);
}

static void put_reads(struct hf_metrics *metrics, struct hf_sink *sink)
{
	static const char *const kinds[HF_METRICS_READS] = {
		[HF_METRICS_ARCHIVE] = "archive", [HF_METRICS_TEXT] = "text", [HF_METRICS_BYTES] = "view"};

	put_head(sink, "reads_total", "counter", "Read requests, by what was read.");
	for (size_t i = 0; i < HF_METRICS_READS; i++)
		hf_sink_printf(sink, "hartfs_reads_total{file=\"%s\"} %llu\n", kinds[i],
			       (unsigned long long)get(&metrics->reads[i]));
	put_u64(sink, "read_errors_total", "counter", "Read requests of views that failed, interrupted ones excepted.",
		get(&metrics->read_errors));
}

static void put_latency(struct hf_latency *latency, const char *request, struct hf_sink *sink)
{
	const uint64_t ns = get(&latency->ns);
	uint64_t n = 0;

	for (unsigned i = 0; i < HF_LATENCY_BUCKETS; i++) {
		n += get(&latency->count[i]);
		hf_sink_printf(sink, "hartfs_request_seconds_bucket{request=\"%s\",le=\"", request);
		if (i < HF_LATENCY_BUCKETS - 1)
			hf_sink_printf(sink, "%u.%06u\"} %llu\n", (1u << i) / 1000000, (1u << i) % 1000000,
				       (unsigned long long)n);
		else
			hf_sink_printf(sink, "+Inf\"} %llu\n", (unsigned long long)n);
	}
	hf_sink_printf(sink, "hartfs_request_seconds_sum{request=\"%s\"} %llu.%09llu\n", request,
		       (unsigned long long)(ns / 1000000000), (unsigned long long)(ns % 1000000000));
	hf_sink_printf(sink, "hartfs_request_seconds_count{request=\"%s\"} %llu\n", request, (unsigned long long)n);
}

static void put_requests(struct hf_metrics *metrics, struct hf_sink *sink)
{
	static const char *const requests[HF_METRICS_REQUESTS] = {
		[HF_METRICS_ARCHIVE] = "read_archive", [HF_METRICS_TEXT] = "read_text",
		[HF_METRICS_BYTES] = "read_view",      [HF_METRICS_LOOKUP] = "lookup",
		[HF_METRICS_LIST] = "list",	       [HF_METRICS_OPEN] = "open"};

	put_head(sink, "request_seconds", "histogram", "How long requests took, by what was asked.");
	for (size_t i = 0; i < HF_METRICS_REQUESTS; i++)
		put_latency(&metrics->latency[i], requests[i], sink);
}

static void put_chunks(struct hf_tree *tree, struct hf_sink *sink)
{
	struct hf_metrics *metrics = &tree->common->metrics;

	put_u64(sink, "chunks_made_total", "counter", "Chunks of views that were made.", get(&metrics->chunks));
	put_u64(sink, "chunk_bytes_total", "counter", "Bytes in these.", get(&metrics->chunk_bytes));
	put_u64(sink, "chunk_errors_total", "counter", "Chunks that could not be made.", get(&metrics->chunk_errors));
	put_seconds(sink, "decode_seconds_total", "counter", "Time spent making chunks, all threads together.",
		    get(&metrics->chunk_ns));
	put_head(sink, "decode_jobs", "gauge", "Jobs of the decode pool: waited for, or ahead of a reader.");
	hf_sink_printf(sink, "hartfs_decode_jobs{urgency=\"waited_for\"} %zu\n", 
		       hf_exec_load(tree->common->exec, HF_WORK_DECODE, HF_URGENT));
	hf_sink_printf(sink, "hartfs_decode_jobs{urgency=\"ahead\"} %zu\n", 
		       hf_exec_load(tree->common->exec, HF_WORK_DECODE, HF_LATER));
}

static void put_spools(struct hf_tree *tree, struct hf_sink *sink)
{
	struct hf_metrics *metrics = &tree->common->metrics;
	uint64_t count, bytes;

	hf_captures_count_spools(tree->captures, &count, &bytes);
	put_u64(sink, "spool_limit_bytes", "gauge", "Most bytes that spools may take in the index directory; 0: none.",
		tree->common->options.spool_bytes);
	put_u64(sink, "spool_files", "gauge", "Spools in the index directory, those of other archives too.", count);
	put_u64(sink, "spool_bytes", "gauge", "Bytes in these.", bytes);
	put_u64(sink, "spools_made_total", "counter", "Spools that were made.", get(&metrics->spools));
	put_u64(sink, "spool_errors_total", "counter", "Spools that could not be made.", get(&metrics->spool_errors));
	put_u64(sink, "spool_reads_total", "counter", "Blocks, or parts of them, that were read from spools.",
		get(&metrics->spool_reads));
	put_u64(sink, "spools_damaged_total", "counter", "Spools that were damaged and thrown away.",
		get(&metrics->spools_damaged));
}

static void put_index_dir(const struct hf_index_dir_stats *stats, struct hf_sink *sink)
{
	put_u64(sink, "index_directory_failing", "gauge", "1 while the index directory cannot be used.",
		stats->failing);
	put_u64(sink, "index_directory_failures_total", "counter", "Times that the index directory failed.",
		stats->failures);
	put_u64(sink, "index_memory_limit_bytes", "gauge",
		"Most bytes that indexes may take in memory while the index directory fails.", stats->memory.limit);
	put_u64(sink, "index_memory_bytes", "gauge", "Bytes of indexes in memory.", stats->memory.bytes);
}

static void put_indexing(const struct hf_captures_stats *captures, struct hf_metrics *metrics, struct hf_sink *sink)
{
	put_u64(sink, "searching", "gauge", "1 while the archive is searched for captures.", captures->searching);
	put_u64(sink, "indexing_done_bytes", "gauge", "Of the captures being indexed: bytes behind us.",
		captures->done);
	put_u64(sink, "indexing_total_bytes", "gauge", "Of the captures being indexed: all bytes.", captures->total);
	put_u64(sink, "indexed_total", "counter", "Captures that were indexed.", get(&metrics->indexed));
	put_u64(sink, "index_failures_total", "counter", "Captures that could not be indexed.",
		get(&metrics->index_failed));
	put_seconds(sink, "index_seconds_total", "counter", "Time spent indexing, all threads together.",
		    get(&metrics->index_ns));
}

static void put_files(const struct hf_captures_stats *captures, struct hf_metrics *metrics, struct hf_sink *sink)
{
	put_u64(sink, "files_recalled_total", "counter", "Files that were known from the catalogue.",
		captures->recalled);
	put_u64(sink, "files_probed_total", "counter", "Files that were looked into for a format.", captures->probed);
	put_u64(sink, "indexes_opened_total", "counter", "Captures opened for their index, if there was one.",
		captures->opened);
	put_u64(sink, "profiles_made_ahead_total", "counter",
		"Files of profiles that were made because somebody looked into the directory.", get(&metrics->profiles));
	put_u64(sink, "catalogue_writes_total", "counter", "Times that the catalogue was written.", captures->flushed);
}

void hf_control_metrics(struct hf_tree *tree, struct hf_sink *sink)
{
	struct hf_captures_stats captures;

	hf_captures_get_stats(tree->captures, &captures);
	put_head(sink, "info", "gauge", "The version.");
	hf_sink_printf(sink, "hartfs_info{version=\"%s\"} 1\n", HARTFS_VERSION);
	put_head(sink, "start_time_seconds", "gauge", "When the file system was started, in seconds since 1970.");
	hf_sink_printf(sink, "hartfs_start_time_seconds %lld\n", (long long)tree->common->started.tv_sec);
	put_captures(&captures, sink);
	put_files(&captures, &tree->common->metrics, sink);
	put_cache(tree, sink);
	put_reads(&tree->common->metrics, sink);
	put_requests(&tree->common->metrics, sink);
	put_chunks(tree, sink);
	put_spools(tree, sink);
	put_index_dir(&captures.index_dir, sink);
	put_indexing(&captures, &tree->common->metrics, sink);
}
