/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/sim/world.h"

#include "tests/sim/calls.h"
#include "tests/sim/client.h"
#include "tests/sim/sched.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#define SECOND INT64_C(1000000000)
/* A stalled read cannot be called back; beside it nothing may hold up the end. */
#define STALL_NS (30 * SECOND)
#define END_NS (2 * SECOND)
enum { CLIENTS = 4 };

struct sim_world sim_world;

unsigned sim_versions_between(const struct sim_chosen *chosen, uint64_t from, uint64_t to)
{
	const struct sim_history *h = chosen->history;
	unsigned bits = 0;

	for (unsigned i = 0; i < h->count; i++)
		if (h->at[i].step <= to && (i + 1 == h->count || h->at[i + 1].step >= from))
			bits |= 1u << h->at[i].version;
	return bits;
}

/* ---- somebody changes captures ---- */

static void change(struct sim_chosen *chosen)
{
	struct sim_history *h = chosen->history;
	const unsigned now = h->at[h->count - 1].version;
	const bool goes = sim_one_in(6) && now != SIM_GONE;
	const unsigned next = goes ? SIM_GONE : now == SIM_GONE ? (unsigned)sim_below(SIM_VERSIONS) : 1 - now;

	if (h->count == SIM_CHANGES)
		return;
	/* What was written within one tick of a file system's clock cannot be told apart by anybody. */
	sim_sleep_ns(SECOND / 20);
	sim_step("change", chosen->capture->path, next);
	if (next == SIM_GONE)
		sim_capture_remove(chosen->capture);
	else
		sim_capture_put(chosen->capture, next, sim_one_in(2));
	h->at[h->count].step = sim_state->step;
	h->at[h->count++].version = next;
	sim_sleep_ns(SECOND / 20);
}

static void *run_changes(void *arg)
{
	(void)arg;
	sim_thread_name("changes");
	for (int i = 0; i < SIM_CHANGES && sim_world.running && !sim_world.stopped; i++) {
		struct sim_chosen *chosen = &sim_world.chosen[sim_below(sim_world.count)];

		sim_sleep_ns((int64_t)sim_below(4 * (uint64_t)SECOND));
		if (chosen->changes && sim_world.running)
			change(chosen);
	}
	return NULL;
}

/* ---- one process ---- */

static void invalidate(void *ctx, uint64_t ino)
{
	(void)ctx;
	(void)ino;
	sim_world.invalidated++;
}

static void log_line(void *ctx, int level, const char *line)
{
	(void)ctx;
	if (sim_state->trace)
		fprintf(stderr, "        <%d> %s\n", level, line);
}

static void open_fs(void)
{
	struct hf_fs_options options = sim_world.options;
	struct hf_diag diag;
	int err;

	options.archive_fd = sim_open_root(SIM_ARCHIVE, O_PATH | O_DIRECTORY);
	options.index_fd = sim_open_root(SIM_INDEX, O_RDONLY | O_DIRECTORY);
	options.invalidate = invalidate;
	options.log = log_line;
	err = hf_fs_open(&options, &sim_world.fs, &diag);
	if (err)
		sim_fail("the file system does not open: %s", hf_err_name(err));
	sim_world.stopped = sim_world.settling = false;
}

static void run_clients(bool changes, bool stops)
{
	pthread_t client[CLIENTS], changer;

	sim_world.running = sim_world.clients;
	for (unsigned i = 0; i < sim_world.clients; i++)
		pthread_create(&client[i], NULL, sim_client_run, NULL);
	if (changes)
		pthread_create(&changer, NULL, run_changes, NULL);
	if (stops) {
		/* At a step, in the midst of an index, or at a time, when clients read. */
		sim_state->alarm_step = sim_one_in(4) ? 0 : sim_state->step + sim_below(1u << (6 + sim_below(10)));
		sim_wait("stop", &sim_state->alarm_step, sim_now_ns() + (int64_t)sim_below(8 * (uint64_t)SECOND));
		sim_world.stopped = true;
		hf_fs_stop(sim_world.fs);
	}
	for (unsigned i = 0; i < sim_world.clients; i++)
		pthread_join(client[i], NULL);
	if (changes)
		pthread_join(changer, NULL);
}

static void close_fs(int64_t since_ns)
{
	int64_t took;

	hf_fs_close(sim_world.fs);
	took = sim_now_ns() - since_ns;
	if (sim_world.prompt && took > END_NS + (sim_world.stalls ? STALL_NS : 0))
		sim_fail("ending took %.3f s", (double)took / 1e9);
	if (sim_fd_count())
		sim_fail("%u descriptors are left open", sim_fd_count());
}

/* The whole of it in words, when a schedule failed. */
static void tell(const char *what)
{
	strncat(sim_world.told, sim_world.told[0] ? ", " : "", sizeof sim_world.told - strlen(sim_world.told) - 1);
	strncat(sim_world.told, what, sizeof sim_world.told - strlen(sim_world.told) - 1);
}

void sim_world_run(unsigned process)
{
	const bool stops = process == 0 && sim_world.ending == SIM_STOPPED;
	int64_t end_ns;

	if (process) {
		sim_disk_killed();
		if (sim_world.ending == SIM_POWER)
			sim_disk_lost_power();
		if (sim_world.rots)
			sim_disk_rot();
		sim_faults.calm = sim_one_in(2);
	}
	sim_sched_begin();
	open_fs();
	if (sim_one_in(2))
		hf_fs_index_all(sim_world.fs);
	run_clients(process == 0, stops);
	end_ns = sim_now_ns();
	if (!stops) {
		sim_faults.calm = sim_world.settling = true;
		sim_disk_room[SIM_INDEX] = 0;
		sim_client_settle();
		end_ns = sim_now_ns();
	}
	close_fs(end_ns);
	sim_sched_end();
}

/* ---- the draw ---- */

static void add_fault(struct sim_fault fault)
{
	static const unsigned rates[] = {1, 3, 10, 40, 150};

	fault.one_in = rates[sim_below(5)];
	if (!fault.left)
		fault.left = sim_one_in(2) ? 1 + (unsigned)sim_below(3) : 1 + (unsigned)sim_below(200);
	if (sim_faults.count < SIM_FAULTS)
		sim_faults.fault[sim_faults.count++] = fault;
	tell(fault.kind);
}

/* At one capture, or at all of them (NULL). */
static void aim_at_archive(struct sim_fault fault, const struct sim_chosen *chosen)
{

	fault.part = SIM_ARCHIVE;
	fault.path = chosen ? chosen->capture->path : NULL;
	for (size_t i = 0; i < sim_world.count; i++)
		if ((!chosen || chosen == &sim_world.chosen[i]) && fault.errnum)
			sim_world.chosen[i].fails = true;
	sim_world.archive_fails |= fault.errnum != 0;
	add_fault(fault);
}

static void aim_at_index(struct sim_fault fault)
{
	fault.part = SIM_INDEX;
	sim_world.index_fails |= fault.errnum != 0;
	add_fault(fault);
}

/* Each kind is in one schedule of five. */
static void draw_faults(void)
{
	static const struct sim_fault archive[] = {
		{.kind = "EIO of a capture", .calls = SIM_READ, .errnum = 5},
		{.kind = "EIO at opening", .calls = SIM_OPEN | SIM_STAT, .errnum = 5},
		{.kind = "short read", .calls = SIM_READ, .is_short = true},
		{.kind = "slow read", .calls = SIM_READ, .delay_ns = SECOND / 50},
	};
	static const struct sim_fault index[] = {
		{.kind = "EIO of the index", .calls = SIM_READ, .errnum = 5},
		{.kind = "EIO of writing", .calls = SIM_WRITE | SIM_SYNC | SIM_NAME, .errnum = 5},
		{.kind = "ENOSPC", .calls = SIM_WRITE, .errnum = 28},
		{.kind = "EIO of a name", .calls = SIM_OPEN | SIM_STAT, .errnum = 5},
		{.kind = "short write", .calls = SIM_READ | SIM_WRITE, .is_short = true},
		{.kind = "slow index", .calls = SIM_READ | SIM_SYNC, .delay_ns = SECOND / 50},
	};

	for (size_t i = 0; i < sizeof archive / sizeof *archive; i++)
		if (sim_one_in(5))
			aim_at_archive(archive[i],
				       sim_one_in(4) ? NULL : &sim_world.chosen[sim_below(sim_world.count)]);
	for (size_t i = 0; i < sizeof index / sizeof *index; i++)
		if (sim_one_in(5))
			aim_at_index(index[i]);
	if (sim_one_in(8)) {
		sim_disk_room[SIM_INDEX] = 1 + sim_below(400000);
		sim_world.index_fails = true;
		tell("a full disk");
	}
	if (sim_one_in(12)) {
		sim_faults.descriptors = 30 + (unsigned)sim_below(60);
		sim_world.short_of_files = true;
		tell("few descriptors");
	}
}

/* A read that takes 30 seconds, and nothing else that takes time. */
static void draw_stall(void)
{
	struct sim_chosen *chosen = &sim_world.chosen[sim_below(sim_world.count)];

	sim_world.stalls = sim_world.prompt = chosen->stalls = true;
	sim_state->pace.tick_ns = 0;
	aim_at_archive(
		(struct sim_fault){.kind = "a read that stalls", .calls = SIM_READ, .delay_ns = STALL_NS, .left = 1},
		chosen);
	tell(chosen->capture->path);
}

static void draw_pace(struct sim_pace *pace)
{
	static const unsigned switches[] = {2, 6, 20, 100};
	static const int64_t ticks[] = {0, 0, 1000, 30000, 400000};

	*pace = (struct sim_pace){
		.switch_one_in = switches[sim_below(4)],
		.by_priority = sim_one_in(3),
		.tick_ns = ticks[sim_below(5)],
		.spurious_one_in = sim_one_in(2) ? 20 : 0,
	};
}

static void draw_captures(struct sim_history *history)
{
	static const size_t counts[] = {1, 1, 2, 2, SIM_CHOSEN};

	sim_world.count = counts[sim_below(5)];
	for (size_t i = 0; i < sim_world.count; i++) {
		struct sim_chosen *chosen = &sim_world.chosen[i];
		bool again;

		do {
			chosen->capture = &sim_capture[sim_below(sim_captures)];
			again = false;
			for (size_t j = 0; j < i; j++)
				again |= sim_world.chosen[j].capture == chosen->capture;
		} while (again);
		chosen->changes = sim_one_in(4);
		chosen->history = &history[i];
		history[i] = (struct sim_history){.count = 1};
		history[i].at[0].version = (unsigned)sim_below(SIM_VERSIONS);
		sim_capture_put(chosen->capture, history[i].at[0].version, false);
		tell(chosen->capture->path);
		if (chosen->changes)
			tell("which changes");
	}
}

void sim_world_draw(struct sim_history history[SIM_CHOSEN])
{
	static const uint64_t chunks[] = {7, 7, 1, 50}, caches[] = {1 << 26, 1 << 26, 1 << 16, 1 << 20};
	static const enum sim_ending endings[] = {SIM_CLOSED, SIM_CLOSED, SIM_CLOSED, SIM_STOPPED, SIM_KILL, SIM_POWER};

	sim_world = (struct sim_world){.clients = 1 + (unsigned)sim_below(CLIENTS - 1)};
	sim_faults = (struct sim_faults){.descriptors = 1000};
	sim_disk_room[SIM_INDEX] = 0;
	sim_world.operations = 2 + (unsigned)sim_below(9);
	draw_captures(history);
	draw_pace(&sim_state->pace);
	if (sim_one_in(5))
		draw_stall();
	else if (!sim_one_in(4))
		draw_faults();
	sim_world.options = (struct hf_fs_options){
		.threads = 2,
		.index_threads = 2,
		.chunk_insns = chunks[sim_below(4)],
		.cache_bytes = sim_world.index_fails ? 1 << 26 : caches[sim_below(4)],
		.spool_bytes = sim_one_in(2) ? 1 << 24 : 0,
		.archive_path = sim_one_in(2) ? "/archive" : NULL,
		.views = sim_one_in(2) ? NULL : NULL,
	};
	sim_world.ending = endings[sim_below(6)];
	/* All captures are small, but with chunks of one instruction some indexes are not. */
	if (sim_one_in(2)) {
		sim_world.options.pack_below = 1 << 20;
		tell("packs");
	}
	if (sim_world.ending == SIM_KILL || sim_world.ending == SIM_POWER) {
		sim_state->kill_step = 1 + sim_below(1u << (6 + sim_below(11)));
		sim_world.rots = sim_one_in(4);
		tell(sim_world.ending == SIM_KILL ? "kill" : "loss of power");
	} else if (sim_world.ending == SIM_STOPPED) {
		tell("stop");
	}
	if (sim_world.rots)
		tell("bit rot");
}
