/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Makes a long capture of a program that is run here, in bounded memory:
 *   make_run SEED INSTRUCTIONS stf OUT.zstf [ORDINAL]
 *   make_run SEED INSTRUCTIONS etrace DIRECTORY
 *   make_run SEED INSTRUCTIONS chase OUT.zstf
 * The directory gets capture.ini, program.elf and trace.bin. tests/lib/rvprogram.h says what the program is; the same
 * seed gives the same one and the same run of it. With ORDINAL that instruction has another opcode. A chase is a
 * loop that follows pointers through all of 4 GiB and marks each node: no two of its accesses are close to each other.
 */
#include "codecs/codec.h"
#include "codecs/stf/records.h"
#include "tests/lib/check.h"
#include "tests/lib/rvmachine.h"
#include "tests/lib/zstfwriter.h"

#include <sys/stat.h>

#define EVENTS 4096
#define PER_CHUNK 100000 /* instruction records of a .zstf */
#define ROOM (1u << 20)

extern const struct hf_enc_ops hf_view_stf, hf_view_etrace;

/* ld a0,0(a0); sd a1,8(a0); bne a0,zero,-8. Nodes are lines of memory; each is the next one's neighbour only by chance. */
#define CHASE_PC 0x10000u
#define CHASE_NODES (UINT64_C(4) << 30 >> 6)
static const uint32_t chase_code[3] = {0x00053503, 0x00b53423, 0xfe051ce3};

struct chase {
	uint64_t node, retired, mark;
};

struct job {
	const struct hf_rvprogram *program;
	struct chase *chase; /* NULL: the machine runs */
	struct hf_rvmachine *machine;
	struct hf_stream stream;
	struct hf_enc_env env;
	struct hf_enc *enc;
	struct hf_sink sink;
	uint64_t want;          /* instructions, retired */
	uint64_t change;        /* the one with another opcode, or UINT64_MAX */
	struct hf_event ev[EVENTS];
};

/* ---- the chase ---- */

static uint64_t node_at(uint64_t node)
{
	return (UINT64_C(1) << 32) + (node << 6);
}

/* Comes to every node before it comes to one again. */
static uint64_t node_after(uint64_t node)
{
	return (node * 0x2545f495 + 0x3c6ef35f) % CHASE_NODES;
}

static struct hf_event *put_access(struct hf_event *ev, uint8_t flag, uint64_t address, uint64_t data)
{
	*ev = (struct hf_event){.kind = HF_EVENT_MEM, .flags = flag, .words = 1};
	ev->mem.address = address;
	ev->mem.data = data;
	ev->mem.size = 8;
	return ev + 1;
}

static struct hf_event *chase_step(struct chase *c, struct hf_event *ev)
{
	const unsigned at = (unsigned)(c->retired++ % 3);

	*ev = (struct hf_event){.kind = HF_EVENT_INSN};
	ev->insn = (struct hf_ev_insn){
		.pc = CHASE_PC + 4 * at, .opcode = chase_code[at], .size = 4, .isa = HF_ISA_RV64, .mode = HF_MODE_U};
	if (at == 2) {
		ev->flags = HF_EVF_TAKEN;
		ev->insn.flow = HF_FLOW_BRANCH;
		ev->insn.target = CHASE_PC;
		return ev + 1;
	}
	if (at == 1)
		return put_access(ev + 1, HF_EVF_WRITE, node_at(c->node) + 8, c->mark);
	ev = put_access(ev + 1, HF_EVF_READ, node_at(c->node), node_at(node_after(c->node)));
	c->node = node_after(c->node);
	return ev;
}

/* ---- either ---- */

static uint64_t retired(const struct job *j)
{
	return j->chase ? j->chase->retired : hf_rvmachine_retired(j->machine);
}

static uint64_t pc_of(const struct job *j)
{
	return j->chase ? CHASE_PC + 4 * (j->chase->retired % 3) : hf_rvmachine_pc(j->machine);
}

/* As hf_rvmachine_run. */
static size_t run(struct job *j, uint64_t most, uint64_t *ret_begun)
{
	struct hf_event *p = j->ev, *const end = j->ev + EVENTS - HF_RVMACHINE_EVENTS;
	uint64_t begun = 0;

	if (!j->chase)
		return hf_rvmachine_run(j->machine, most, j->ev, EVENTS, ret_begun);
	for (; begun < most && p <= end; begun++)
		p = chase_step(j->chase, p);
	*ret_begun = begun;
	return (size_t)(p - j->ev);
}

/* ---- .zstf ---- */

static const struct hf_stf_layout layout = {.event64 = true};

/* The first bytes of the sink up to the end of an instruction's records. */
static size_t up_to_instruction(const struct hf_sink *sink)
{
	const uint8_t *p = sink->start;
	uint8_t descriptor;

	do {
		uint64_t size;

		CHECK(p < sink->p);
		CHECK_EQ(hf_stf_record_size(&layout, p, (size_t)(sink->p - p), &size), 0);
		descriptor = *p;
		p += size;
	} while (descriptor != HF_STF_INST_OPCODE32 && descriptor != HF_STF_INST_OPCODE16);
	return (size_t)(p - sink->start);
}

/* Of count events with the instructions that retired from number first on. */
static void change(struct job *j, uint64_t first, size_t count)
{
	for (size_t i = 0; i < count && first <= j->change; i++)
		if (j->ev[i].kind == HF_EVENT_INSN && first++ == j->change)
			j->ev[i].insn.opcode ^= 1u << 7;
}

static void pass_on(struct hf_zstf_writer *w, struct hf_sink *sink, size_t n)
{
	hf_zstf_append(w, sink->start, n);
	memmove(sink->start, sink->start + n, (size_t)(sink->p - sink->start) - n);
	sink->p -= n;
}

/* The encoder writes the opcode of an instruction, which ends it, when the next begins: the first of a chunk is put alone. */
static void write_zstf(struct job *j, FILE *file)
{
	struct hf_zstf_writer w;
	uint64_t begun = 0;

	hf_zstf_begin(&w, file, PER_CHUNK, 1);
	while (retired(j) < j->want) {
		const uint64_t in_chunk = begun % PER_CHUNK, pc = pc_of(j), done = retired(j);
		const bool first = begun && in_chunk == 0;
		uint64_t most = first ? 1 : PER_CHUNK - in_chunk, n;
		size_t count;

		if (most > j->want - done)
			most = j->want - done;
		count = run(j, most, &n);
		begun += n;
		change(j, done, count);
		hf_enc_put(j->enc, j->ev, count, &j->sink);
		if (first) {
			pass_on(&w, &j->sink, up_to_instruction(&j->sink));
			hf_zstf_end_chunk(&w, pc);
		}
		pass_on(&w, &j->sink, (size_t)(j->sink.p - j->sink.start));
	}
	hf_enc_end(j->enc, &j->sink);
	pass_on(&w, &j->sink, (size_t)(j->sink.p - j->sink.start));
	hf_zstf_end(&w);
}

/* ---- packets, in a directory ---- */

static FILE *create(const char *directory, const char *name)
{
	char path[4096];
	FILE *file;

	CHECK((size_t)snprintf(path, sizeof path, "%s/%s", directory, name) < sizeof path);
	file = fopen(path, "wb");
	if (!file) {
		perror(path);
		exit(1);
	}
	return file;
}

static void write_all(FILE *file, struct hf_sink *sink)
{
	const size_t n = (size_t)(sink->p - sink->start);

	CHECK(!sink->err && fwrite(sink->start, 1, n, file) == n);
	sink->p = sink->start;
}

static void write_packets(struct job *j, FILE *file)
{
	while (retired(j) < j->want) {
		uint64_t n;
		const size_t count = run(j, j->want - retired(j), &n);

		hf_enc_put(j->enc, j->ev, count, &j->sink);
		write_all(file, &j->sink);
	}
	hf_enc_end(j->enc, &j->sink);
	write_all(file, &j->sink);
}

/* What lies beside the packets: how they are to be read, and the program. */
static void write_sides(struct job *j, const char *directory)
{
	const struct hf_side side = {.stream = &j->stream, .env = &j->env, .entry = j->program->entry};
	FILE *ini = create(directory, "capture.ini"), *elf = create(directory, "program.elf");
	size_t size;
	uint8_t *bytes = hf_rvprogram_elf(j->program, &size);

	j->enc->ops->side[0].write(&side, &j->sink);
	write_all(ini, &j->sink);
	CHECK(fwrite(bytes, 1, size, elf) == size);
	CHECK(fclose(ini) == 0 && fclose(elf) == 0);
	free(bytes);
}

/* ---- both ---- */

static void begin(struct job *j, uint64_t seed, const struct hf_enc_ops *view)
{
	j->machine = hf_rvmachine_new(j->program, seed);
	j->stream.info = (struct hf_stream_info){.arch = HF_ARCH_RISCV, .xlen = 64, .isa = HF_ISA_RV64,
						 .flags = HF_STREAM_HARTS};
	CHECK_EQ(hf_sink_init_memory(&j->sink, ROOM), 0);
	CHECK_EQ(hf_enc_new(view, &j->stream, 0, &j->env, &j->enc), 0);
}

int main(int argc, char **argv)
{
	static struct hf_rvprogram program;
	static struct chase chase;
	static struct job job = {.program = &program};
	const bool chases = argc == 5 && strcmp(argv[3], "chase") == 0;
	const bool stf = chases || (argc >= 5 && argc <= 6 && strcmp(argv[3], "stf") == 0);
	uint64_t seed;
	FILE *out;

	if (!stf && (argc != 5 || strcmp(argv[3], "etrace") != 0)) {
		fprintf(stderr, "usage: make_run SEED INSTRUCTIONS stf OUT.zstf [ORDINAL]\n"
				"       make_run SEED INSTRUCTIONS etrace DIRECTORY\n"
				"       make_run SEED INSTRUCTIONS chase OUT.zstf\n");
		return 2;
	}
	seed = strtoull(argv[1], NULL, 10);
	job.want = strtoull(argv[2], NULL, 10);
	job.change = argc > 5 ? strtoull(argv[5], NULL, 10) : UINT64_MAX;
	hf_rvprogram_make(&program, seed);
	if (chases) {
		chase = (struct chase){.node = seed % CHASE_NODES, .mark = seed};
		job.chase = &chase;
	}
	begin(&job, seed, stf ? &hf_view_stf : &hf_view_etrace);
	if (stf) {
		out = fopen(argv[4], "wb");
		CHECK(out);
		write_zstf(&job, out);
	} else {
		CHECK(mkdir(argv[4], 0777) == 0);
		write_sides(&job, argv[4]);
		out = create(argv[4], "trace.bin");
		write_packets(&job, out);
	}
	CHECK(fclose(out) == 0);
	printf("%llu instructions, %llu traps, %zu bytes of code\n", (unsigned long long)retired(&job),
	       (unsigned long long)hf_rvmachine_traps(job.machine), chases ? sizeof chase_code : program.size);
	hf_enc_free(job.enc);
	hf_sink_fini_memory(&job.sink);
	hf_rvmachine_free(job.machine);
	return 0;
}
