/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where a summary says that things happen: rare events, writes and reads, registers. For every sample, with chunks of
 * several sizes, with much memory, with so little that there are many spans, and with so small a bound that it becomes
 * coarse: nothing that the events have is missing, and what else is said is as wrong as the answer says itself.
 */
#include "index/index.h"
#include "index/summary/rare.h"
#include "index/summary/registers.h"
#include "index/summary/run_table.h"
#include "index/summary/summary.h"
#include "index/summary/words.h"
#include "index/summary/words_pages.h"
#include "tests/codec/loops.h"
#include "tests/lib/summarytest.h"

#include <fcntl.h>
#include <unistd.h>

#define MUCH (1u << 24)
static const struct hf_run_table_room rooms[] = {
	{.runs = 1u << 12, .code = 1u << 20, .sets = MUCH, .attempts = MUCH, .rare = MUCH, .keys = MUCH}, /* exact, one
													     span */
	{.runs = 40,
	 .code = HF_RUN_BYTES + 2000,
	 .sets = MUCH,
	 .attempts = MUCH,
	 .rare = MUCH,
	 .keys = MUCH},										      /* many spans */
	{.runs = 40, .code = HF_RUN_BYTES + 2000, .sets = 40, .attempts = 20, .rare = 30, .keys = 8}, /* coarse in
													 places */
	{.runs = 1u << 12, .code = 1u << 20}, /* as coarse as can be */
};
static const uint64_t chunk_insns[] = {1, 7, 1000};
enum { EXACT_ROOMS = 2, QUESTIONS = 12 };

/* One thing that happened, as the events tell. */
struct item {
	unsigned kind, detail;
	uint64_t value, ordinal, chunk;
	uint64_t first, last; /* of an access */
};

struct items {
	struct item *item;
	size_t n, cap;
};

static void add(struct items *items, const struct item *item)
{
	if (items->n == items->cap) {
		items->cap = items->cap ? 2 * items->cap : 256;
		items->item = realloc(items->item, items->cap * sizeof *items->item);
		CHECK(items->item);
	}
	items->item[items->n++] = *item;
}

struct facts {
	struct items rare, accesses, registers; /* accesses: kind is enum hf_words_what; value 1: no address */
	uint64_t chunks;
	bool exact;
};

/* ---- what the events have ---- */

static void add_rare(struct facts *f, struct item at, unsigned kind, unsigned detail, uint64_t value)
{
	at.kind = kind;
	at.detail = detail;
	at.value = value;
	add(&f->rare, &at);
}

static void add_context(struct facts *f, const struct item *at, const struct hf_event *ev)
{
	const uint64_t values[] = {ev->context.hw,   ev->context.pid,  ev->context.tid,
				   ev->context.asid, ev->context.vmid, ev->context.mode,
				   ev->context.vlen, ev->context.isa,  ev->state};

	add_rare(f, *at, HF_RARE_CONTEXT, HF_RARE_CONTEXT_ALL, 0);
	for (unsigned i = 0; i < 9; i++)
		if (ev->fields >> i & 1)
			add_rare(f, *at, HF_RARE_CONTEXT, i + 1, values[i]);
}

static void count_rare(struct facts *f, const struct item *at, const struct hf_event *ev)
{
	const bool cause = ev->flags & HF_EVF_CAUSE;

	if (ev->kind == HF_EVENT_TRAP)
		add_rare(f, *at, HF_RARE_TRAP, (ev->flags & HF_EVF_ASYNC ? 1 : 0) + (cause ? 0 : 2),
			 cause ? ev->trap.cause : 0);
	else if (ev->kind == HF_EVENT_TRAP_RETURN)
		add_rare(f, *at, HF_RARE_TRAP_RETURN, 0, 0);
	else if (ev->kind == HF_EVENT_CONTEXT)
		add_context(f, at, ev);
	else if (ev->kind == HF_EVENT_MARKER)
		add_rare(f, *at, HF_RARE_MARKER, ev->what, ev->marker.number);
	else if (ev->kind == HF_EVENT_TIMESTAMP)
		add_rare(f, *at, HF_RARE_TIMESTAMP, ev->flags & HF_EVF_NO_TIME ? 1 : 0, 0);
	else if (ev->kind == HF_EVENT_CYCLES)
		add_rare(f, *at, HF_RARE_CYCLES, ev->flags & HF_EVF_NO_TIME ? 1 : 0, 0);
	else if (ev->kind == HF_EVENT_GAP)
		add_rare(f, *at, HF_RARE_GAP, 0, ev->code);
	else if (ev->kind == HF_EVENT_DOUBT)
		add_rare(f, *at, HF_RARE_DOUBT, 0, ev->code);
	else if (ev->kind == HF_EVENT_DISCONTINUITY)
		add_rare(f, *at, HF_RARE_DISCONTINUITY, ev->flags & HF_EVF_UNTRACED ? 1 : 0, 0);
	else if (ev->kind == HF_EVENT_ATTEMPT)
		add_rare(f, *at, HF_RARE_ATTEMPT, 0, 0);
}

static void count_access(struct facts *f, struct item at, const struct hf_event *ev, bool attempt)
{
	at.value = ev->flags & HF_EVF_NO_ADDRESS ? 1 : 0;
	at.first = ev->mem.address;
	at.last = at.first + ev->mem.size - (ev->mem.size != 0);
	at.kind = attempt ? HF_WORDS_ATTEMPT_WRITES : HF_WORDS_WRITES;
	if (ev->flags & HF_EVF_WRITE || !(ev->flags & HF_EVF_READ))
		add(&f->accesses, &at);
	at.kind = attempt ? HF_WORDS_ATTEMPT_READS : HF_WORDS_READS;
	if (ev->flags & HF_EVF_READ || !(ev->flags & HF_EVF_WRITE))
		add(&f->accesses, &at);
}

static void count_register(struct facts *f, struct item at, const struct hf_event *ev)
{
	if (ev->reg.role != HF_REG_DESTINATION && ev->reg.role != HF_REG_STATE)
		return;
	at.kind = ev->reg.class;
	at.detail = ev->reg.number;
	at.value = ev->reg.role == HF_REG_DESTINATION ? HF_REGISTERS_WRITTEN : HF_REGISTERS_STATED;
	add(&f->registers, &at);
}

static void count_events(const struct sample *s, struct hf_index *index, const struct hf_index_hart *hart,
			 struct facts *f)
{
	struct hf_events all = sample_all(s, hart->id, 512);
	struct hf_chunk chunk = {0};
	struct item at = {0};
	uint64_t insns = 0, end = 0;
	bool attempt = false;

	for (size_t i = 0; i < all.n; i++) {
		const struct hf_event *ev = &all.ev[i];

		if (hf_event_is_instruction(ev))
			attempt = ev->kind == HF_EVENT_ATTEMPT;
		if (ev->kind == HF_EVENT_INSN && insns++ >= end) {
			CHECK_EQ(hf_index_chunk_of(index, hart->id, insns - 1, &chunk), 0);
			end = chunk.ordinal + chunk.insns;
		}
		at.chunk = chunk.number;
		at.ordinal = insns ? insns - 1 : 0;
		count_rare(f, &at, ev);
		if (ev->kind == HF_EVENT_MEM)
			count_access(f, at, ev, attempt);
		else if (ev->kind == HF_EVENT_REG && !attempt)
			count_register(f, at, ev);
	}
	hf_events_free(&all);
}

/* ---- rare events ---- */

static bool answers(const struct item *item, const struct hf_rare_question *q)
{
	const bool detail = q->any_detail ? item->kind != HF_RARE_CONTEXT || item->detail == HF_RARE_CONTEXT_ALL
					  : item->detail == q->detail;

	return item->kind == (unsigned)q->kind && detail && (q->any_value || item->value == q->value);
}

struct walk {
	uint64_t n, last;
	bool exact;
};

static int walk_hit(void *ctx, const struct hf_rare_hit *hit)
{
	struct walk *w = ctx;

	CHECK_EQ(hit->before, w->n);
	CHECK(hit->count && hit->last >= hit->first && hit->first >= (w->n && w->exact ? w->last + 1 : 0));
	CHECK(!w->exact || (hit->first == hit->last && !hit->maybe));
	w->n += hit->count;
	w->last = hit->last;
	return 0;
}

/* Each hit, one behind the other. */
static uint64_t walk(struct hf_rare *rare, bool exact)
{
	struct walk w = {.exact = exact};

	CHECK_EQ(hf_rare_each(rare, walk_hit, &w), 0);
	return w.n;
}

static void check_item(struct hf_rare *rare, const struct items *items, const struct hf_rare_question *q, size_t i,
		       bool exact)
{
	const uint64_t ordinal = items->item[i].ordinal;
	struct hf_rare_hit next, previous;
	uint64_t n = 0, before = 0;

	CHECK_EQ(hf_rare_next(rare, ordinal, &next), 0);
	CHECK_EQ(hf_rare_previous(rare, ordinal, &previous), 0);
	CHECK(next.first <= ordinal && next.last >= ordinal);
	CHECK(previous.first <= ordinal && previous.last >= ordinal);
	if (!exact)
		return;
	for (size_t j = 0; j < items->n; j++)
		if (answers(&items->item[j], q)) {
			n += items->item[j].ordinal == ordinal;
			before += items->item[j].ordinal < ordinal;
		}
	/* An ordinal may lie in two spans. */
	CHECK(next.count <= n && previous.count <= n);
	CHECK_EQ(next.before, before);
	CHECK_EQ(previous.before + previous.count, before + n);
}

static void ask_rare(struct hf_summary *summary, uint32_t hart, const struct facts *f, const struct hf_rare_question *q)
{
	const struct items *items = &f->rare;
	struct hf_rare_counted all;
	uint64_t count, want = 0;
	struct hf_rare *rare;
	size_t step;

	for (size_t i = 0; i < items->n; i++)
		want += answers(&items->item[i], q);
	CHECK_EQ(hf_rare_find(summary, hart, q, &rare), 0);
	CHECK_EQ(hf_rare_counted_of(rare, 0, &all), 0);
	count = all.count;
	CHECK(count >= want && count - all.maybe <= want && (all.maybe || count == want) && !(f->exact && all.maybe));
	step = want / QUESTIONS + 1;
	for (size_t i = 0, n = 0; i < items->n; i++)
		if (answers(&items->item[i], q) && n++ % step == 0)
			check_item(rare, items, q, i, f->exact);
	if (count < 2000)
		CHECK_EQ(walk(rare, false), count);
	hf_rare_free(rare);
}

static void check_rare(struct hf_summary *summary, uint32_t hart, const struct facts *f)
{
	const size_t step = f->rare.n / QUESTIONS + 1;

	for (unsigned kind = 0; kind < HF_RARE_KINDS; kind++)
		ask_rare(summary, hart, f,
			 &(struct hf_rare_question){.kind = kind, .any_detail = true, .any_value = true});
	for (size_t i = 0; i < f->rare.n; i += step) {
		const struct item *item = &f->rare.item[i];
		struct hf_rare_question q = {.kind = item->kind, .detail = (uint8_t)item->detail, .value = item->value};

		ask_rare(summary, hart, f, &q);
		q.value += 77;
		ask_rare(summary, hart, f, &q);
	}
}

/* ---- sets of chunks ---- */

/* Both ways through it. */
static void check_set(const struct hf_chunk_set *set)
{
	uint64_t n = 0, chunk = 0, at;

	for (; hf_chunk_set_next(set, chunk, &at); chunk = at + 1, n++) {
		CHECK(at >= chunk && at < set->chunks && hf_chunk_set_has(set, at));
		CHECK(hf_chunk_set_previous(set, at, &chunk) && chunk == at);
	}
	CHECK_EQ(n, set->count);
	n = 0;
	for (chunk = UINT64_MAX; hf_chunk_set_previous(set, chunk, &at); chunk = at - 1, n++)
		if (!at) {
			n++;
			break;
		}
	CHECK_EQ(n, set->count);
}

/* Whether an access touches a unit of [first, last]. It may go on at the other end of memory. */
static bool meets(const struct item *item, uint64_t first, uint64_t last, unsigned level)
{
	const uint64_t from = level < 64 ? first >> level << level : 0;
	const uint64_t to = level < 64 ? last | ((UINT64_C(1) << level) - 1) : UINT64_MAX;

	if (item->last >= item->first)
		return item->first <= to && item->last >= from;
	return item->first <= to || item->last >= from;
}

/* A part of the hart has the same chunks there as all of it. */
static void ask_part(struct hf_summary *summary, uint32_t hart, unsigned what, const struct hf_words_place *place,
		     const struct hf_chunk_set *set, const struct hf_chunk_set *unknown)
{
	struct hf_chunk_set part;

	CHECK_EQ(hf_words_find_in(summary, hart, what, place, &part, NULL), 0);
	for (uint64_t chunk = place->low; chunk < place->high && chunk < set->chunks; chunk++)
		CHECK_EQ(hf_chunk_set_has(&part, chunk),
			 hf_chunk_set_has(set, chunk) || (place->anywhere && hf_chunk_set_has(unknown, chunk)));
	hf_chunk_set_free(&part);
}

static void ask_words(struct hf_summary *summary, uint32_t hart, const struct facts *f, unsigned what, uint64_t first,
		      uint64_t last)
{
	const unsigned least = what == HF_WORDS_READS || what == HF_WORDS_ATTEMPT_READS ? HF_WORDS_LINE : HF_WORDS_WORD;
	struct hf_chunk_set set, unknown, want, most, lost;

	CHECK_EQ(hf_words_find(summary, hart, what, first, last, &set, &unknown), 0);
	CHECK(f->exact ? set.level == least : set.level >= least);
	CHECK(!hf_chunk_set_init(&want, f->chunks) && !hf_chunk_set_init(&most, f->chunks) &&
	      !hf_chunk_set_init(&lost, f->chunks));
	for (size_t i = 0; i < f->accesses.n; i++) {
		const struct item *item = &f->accesses.item[i];

		if (item->kind != what)
			continue;
		if (item->value)
			hf_chunk_set_add(&lost, item->chunk, 1);
		else if (meets(item, first, last, least))
			hf_chunk_set_add(&want, item->chunk, 1);
		if (!item->value && meets(item, first, last, set.level))
			hf_chunk_set_add(&most, item->chunk, 1);
	}
	for (uint64_t chunk = 0; chunk < f->chunks; chunk++) {
		CHECK_EQ(hf_chunk_set_has(&lost, chunk), hf_chunk_set_has(&unknown, chunk));
		CHECK(!hf_chunk_set_has(&want, chunk) || hf_chunk_set_has(&set, chunk));
		CHECK(!hf_chunk_set_has(&set, chunk) || hf_chunk_set_has(&most, chunk));
	}
	check_set(&set);
	for (unsigned i = 0; i < 6; i++) {
		const struct hf_words_place place = {.first = first,
						     .last = last,
						     .low = i / 2 * f->chunks / 3,
						     .high = i / 2 * f->chunks / 3 + f->chunks / 3 + 1,
						     .anywhere = i % 2};

		ask_part(summary, hart, what, &place, &set, &unknown);
	}
	hf_chunk_set_free(&set);
	hf_chunk_set_free(&unknown);
	hf_chunk_set_free(&want);
	hf_chunk_set_free(&most);
	hf_chunk_set_free(&lost);
}

static bool is_known(const struct facts *f, unsigned what)
{
	const unsigned retired = what >= HF_WORDS_ATTEMPT_WRITES ? what - 2 : what;

	for (size_t i = 0; i < f->accesses.n; i++)
		if (f->accesses.item[i].kind == what || f->accesses.item[i].kind == retired)
			return true;
	return false;
}

static void check_words(struct hf_summary *summary, uint32_t hart, const struct facts *f, unsigned what)
{
	const size_t step = f->accesses.n / QUESTIONS + 1;
	struct hf_chunk_set set;

	if (!is_known(f, what)) {
		CHECK_EQ(hf_words_find(summary, hart, what, 0, UINT64_MAX, &set, NULL), HF_ERR_UNSUPPORTED);
		return;
	}
	ask_words(summary, hart, f, what, 0, UINT64_MAX);
	ask_words(summary, hart, f, what, UINT64_MAX, UINT64_MAX);
	for (size_t i = 0; i < f->accesses.n; i += step) {
		const struct item *item = &f->accesses.item[i];

		ask_words(summary, hart, f, what, item->first, item->first);
		ask_words(summary, hart, f, what, item->last + 1, item->last + 1 + 16 * (i % 50));
		ask_words(summary, hart, f, what, item->first & ~UINT64_C(4095), item->first | 4095);
	}
}

/* In how many chunks of [first, end) that page was touched. */
static uint64_t count_page(const struct facts *f, unsigned what, const struct hf_words_page *page, uint64_t first,
			   uint64_t end)
{
	struct hf_chunk_set set;
	uint64_t n;

	CHECK_EQ(hf_chunk_set_init(&set, f->chunks), 0);
	for (size_t i = 0; i < f->accesses.n; i++) {
		const struct item *item = &f->accesses.item[i];
		const bool here = item->value ? page->unknown :
						!page->unknown && meets(item, page->first, page->last, HF_WORDS_PAGE);

		if (item->kind == what && item->chunk >= first && item->chunk < end && here)
			hf_chunk_set_add(&set, item->chunk, 1);
	}
	n = set.count;
	hf_chunk_set_free(&set);
	return n;
}

/* Whether that access is in one of the pages. */
static bool has_page(const struct hf_words_pages *pages, const struct item *item)
{
	for (size_t i = 0; i < pages->count; i++)
		if (item->value ? pages->page[i].unknown :
				  !pages->page[i].unknown && meets(item, pages->page[i].first, pages->page[i].last, 0))
			return true;
	return false;
}

static void ask_pages(struct hf_summary *summary, uint32_t hart, const struct facts *f, unsigned what, uint64_t first,
		      uint64_t end)
{
	const size_t step = f->accesses.n / QUESTIONS + 1;
	struct hf_words_pages pages;

	CHECK_EQ(hf_words_pages_count(summary, hart, what, first, end, &pages), 0);
	CHECK_EQ(pages.left_out, 0);
	for (size_t i = 0; i < pages.count; i++) {
		const struct hf_words_page *page = &pages.page[i];

		CHECK(page->chunks && page->chunks <= end - first);
		if (f->exact && (page->unknown || page->last - page->first == 4095))
			CHECK_EQ(page->chunks, count_page(f, what, page, first, end));
	}
	for (size_t i = 0; i < f->accesses.n; i += step) {
		const struct item *item = &f->accesses.item[i];

		if (item->kind == what && item->chunk >= first && item->chunk < end)
			CHECK(has_page(&pages, item));
	}
	hf_words_pages_free(&pages);
}

static void check_pages(struct hf_summary *summary, uint32_t hart, const struct facts *f, unsigned what)
{
	struct hf_words_pages pages;

	if (!is_known(f, what)) {
		CHECK_EQ(hf_words_pages_count(summary, hart, what, 0, f->chunks, &pages), HF_ERR_UNSUPPORTED);
		return;
	}
	ask_pages(summary, hart, f, what, 0, f->chunks);
	ask_pages(summary, hart, f, what, f->chunks / 3, f->chunks - f->chunks / 3);
}

/* ---- registers ---- */

static void check_register(struct hf_summary *summary, uint32_t hart, const struct facts *f, const struct item *of)
{
	struct hf_chunk_set set, want;

	CHECK_EQ(hf_registers_find(summary, hart, (enum hf_registers_what)of->value, (uint8_t)of->kind,
				   (uint16_t)of->detail, &set),
		 0);
	CHECK(!f->exact || !set.level);
	CHECK_EQ(hf_chunk_set_init(&want, f->chunks), 0);
	for (size_t i = 0; i < f->registers.n; i++) {
		const struct item *item = &f->registers.item[i];

		if (item->kind != of->kind || item->detail != of->detail || item->value != of->value)
			continue;
		CHECK(hf_chunk_set_has(&set, item->chunk));
		hf_chunk_set_add(&want, item->chunk >> set.level << set.level, UINT64_C(1) << set.level);
	}
	for (uint64_t chunk = 0; chunk < f->chunks; chunk++)
		CHECK(!hf_chunk_set_has(&set, chunk) || hf_chunk_set_has(&want, chunk));
	check_set(&set);
	hf_chunk_set_free(&set);
	hf_chunk_set_free(&want);
}

static void check_registers(struct hf_summary *summary, uint32_t hart, const struct facts *f)
{
	const size_t step = f->registers.n / QUESTIONS + 1;
	struct hf_chunk_set set;

	if (!f->registers.n) {
		CHECK_EQ(hf_registers_find(summary, hart, HF_REGISTERS_WRITTEN, HF_REG_INTEGER, 1, &set),
			 HF_ERR_UNSUPPORTED);
		return;
	}
	for (size_t i = 0; i < f->registers.n; i += step)
		check_register(summary, hart, f, &f->registers.item[i]);
}

/* ---- samples ---- */

static void check_built(const struct sample *s, const struct hf_build *build, bool exact)
{
	const struct hf_index_hart *harts;
	struct hf_summary *summary;
	struct hf_index *index;
	size_t n;

	CHECK_EQ(hf_index_open(build->dir, &build->identity, &index), 0);
	n = hf_index_harts(index, &harts);
	if (!hf_summary_is_wanted(index))
		n = 0;
	CHECK_EQ(hf_summary_open(build->dir, &build->identity, &summary), n ? 0 : HF_ERR_NOT_FOUND);
	if (n)
		CHECK_EQ(hf_summary_check(summary), 0);
	for (size_t i = 0; i < n; i++) {
		struct facts f = {.exact = exact, .chunks = harts[i].chunks};

		count_events(s, index, &harts[i], &f);
		check_rare(summary, harts[i].id, &f);
		for (unsigned what = HF_WORDS_WRITES; what <= HF_WORDS_ATTEMPT_READS; what++)
			check_words(summary, harts[i].id, &f, what);
		for (unsigned what = HF_WORDS_WRITES; what <= HF_WORDS_READS; what++)
			check_pages(summary, harts[i].id, &f, what);
		check_registers(summary, harts[i].id, &f);
		free(f.rare.item);
		free(f.accesses.item);
		free(f.registers.item);
	}
	hf_summary_close(summary);
	hf_index_close(index);
}

static char base[] = "/tmp/hartfs-places-XXXXXX";
static unsigned directory;

static void check_with(const struct sample *s, uint64_t insns, size_t room)
{
	struct hf_store_dir at = {.fd = -1};
	const struct hf_chunk_limits limits = {.insns = insns};
	struct hf_build build = {
		.file = s->src, .setup = s->setup, .limits = &limits, .summary = true, .room = &rooms[room]};
	struct hf_diag diag;
	char dir[64];

	sample_about("%s, chunks of %llu, room %zu", s->name, (unsigned long long)insns, room);
	snprintf(dir, sizeof dir, "%s/%u", base, directory++);
	CHECK_EQ(mkdir(dir, 0700), 0);
	at.fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	CHECK(at.fd >= 0);
	build.dir = &at;
	CHECK_EQ(hf_identity_of(s->src, 0, &build.identity, &diag), 0);
	CHECK_EQ(hf_build_run(&build, &diag), 0);
	check_built(s, &build, room < EXACT_ROOMS);
	close(at.fd);
}

static void check(struct sample *s)
{
	for (size_t i = 0; i < sizeof chunk_insns / sizeof *chunk_insns; i++)
		for (size_t room = 0; room < sizeof rooms / sizeof *rooms; room++)
			check_with(s, chunk_insns[i], room);
}

void loop_places(struct samples *all)
{
	char command[64];

	CHECK(mkdtemp(base));
	samples_each(all, check);
	snprintf(command, sizeof command, "rm -rf %s", base);
	CHECK_EQ(system(command), 0);
}
