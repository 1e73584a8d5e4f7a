/* SPDX-License-Identifier: Apache-2.0 */
/* What descriptions and programs say of Zcmp, Zcmt and the jump table of a hart. */
#include "codecs/base/bytes.h"
#include "codecs/base/errors.h"
#include "codecs/codec.h"
#include "codecs/isa/riscv.h"
#include "codecs/setup/code_size.h"
#include "tests/lib/check.h"

#define BOTH (HF_RISCV_ZCMP | HF_RISCV_ZCMT)
#define JVT UINT64_C(0x80000040)

static uint8_t bytes[0x40 + 35 * 8];

/* A setup of two programs, the first of every hart, the second of hart 7 and with extensions. */
struct described {
	struct hf_setup setup;
	struct hf_setup_image images[2];
	struct hf_setup_value values[4];
};

static void init(struct described *d)
{
	struct hf_src *src;

	*d = (struct described){.images = {{.hart = HF_SETUP_ANY, .spaces = HF_MEMORY_ANY, .context = HF_SETUP_NO_CONTEXT},
					   {.hart = 7, .spaces = HF_MEMORY_ANY, .context = HF_SETUP_NO_CONTEXT}}};
	d->setup = (struct hf_setup){.images = d->images, .image_count = 2, .values = d->values};
	CHECK_EQ(hf_src_memory_new(bytes, sizeof bytes, &src), 0);
	for (unsigned i = 0; i < 2; i++)
		CHECK_EQ(hf_program_add_raw(&d->images[i].program, src, JVT - 0x40, NULL), 0);
	hf_src_free(src);
	d->images[1].program.extensions = BOTH;
	d->images[1].program.has_jvt = true;
	d->images[1].program.jvt = JVT;
}

static void fini(struct described *d)
{
	for (unsigned i = 0; i < 2; i++)
		hf_program_fini(&d->images[i].program);
}

static void say(struct described *d, uint32_t hart, const char *key, const char *value)
{
	d->values[d->setup.value_count++] = (struct hf_setup_value){
		.hart = hart, .key = key, .value = value, .file = "capture.ini", .line = 9};
}

static struct hf_code_size read(const struct described *d, uint32_t hart)
{
	struct hf_code_size ret;

	CHECK_EQ(hf_code_size_read(d ? &d->setup : NULL, hart, &ret, NULL), 0);
	return ret;
}

/* A stream's own word counts where the description has none. */
static void test_stream(void)
{
	struct described d;
	struct hf_stream stream = {.info.extensions = HF_RISCV_ZCMP};

	CHECK_EQ(hf_code_size_extensions(NULL, 0), 0);
	CHECK_EQ(hf_code_size_extensions(&stream, 0), HF_RISCV_ZCMP);
	init(&d);
	stream.setup = &d.setup;
	CHECK_EQ(hf_code_size_extensions(&stream, 0), HF_RISCV_ZCMP);
	CHECK_EQ(hf_code_size_extensions(&stream, 7), BOTH);
	say(&d, HF_SETUP_ANY, "zcmp", "0");
	CHECK_EQ(hf_code_size_extensions(&stream, 0), 0);
	fini(&d);
}

static void test_read(void)
{
	struct described d;
	const struct hf_stream stream = {.setup = &d.setup};
	struct hf_code_size c;
	uint64_t jvt;

	CHECK_EQ(read(NULL, 0).extensions, 0);
	init(&d);
	CHECK_EQ(read(&d, 0).extensions, 0);
	CHECK_EQ(read(&d, 7).extensions, BOTH); /* the program's */
	CHECK(!read(&d, 7).has_jvt);
	c = read(&d, 7);
	CHECK(!hf_code_size_table(&c, NULL, &jvt));
	CHECK(!hf_code_size_table(&c, &d.images[0].program, &jvt));
	CHECK(hf_code_size_table(&c, &d.images[1].program, &jvt));
	CHECK_EQ(jvt, JVT);
	CHECK(hf_code_size_of_view(&stream, 7, &c) == &d.images[1].program);
	CHECK_EQ(c.jvt, JVT);
	CHECK(!hf_code_size_of_view(&stream, 0, &c));
	say(&d, 7, "zcmp", "0"); /* the description outweighs it */
	CHECK_EQ(read(&d, 7).extensions, HF_RISCV_ZCMT);
	say(&d, HF_SETUP_ANY, "zcmt", "1");
	CHECK_EQ(read(&d, 0).extensions, HF_RISCV_ZCMT);
	say(&d, HF_SETUP_ANY, "jvt", "0x80000080");
	c = read(&d, 7);
	CHECK(hf_code_size_table(&c, &d.images[1].program, &jvt));
	CHECK_EQ(jvt, 0x80000080);
	fini(&d);
}

static void test_refused(void)
{
	static const char *const bad[][2] = {{"zcmp", "2"}, {"zcmt", "yes"}, {"jvt", "0x80000001"}, {"jvt", "here"}};

	for (size_t i = 0; i < 4; i++) {
		struct hf_setup_error error;
		struct hf_code_size c;
		struct described d;

		init(&d);
		say(&d, HF_SETUP_ANY, bad[i][0], bad[i][1]);
		CHECK_EQ(hf_code_size_read(&d.setup, 0, &c, &error), HF_ERR_SETUP_VALUE);
		CHECK_EQ(error.line, 9);
		fini(&d);
	}
}

/* Entries: 2 is odd, 3 zero, and the bytes of the program end within 35 (64 bits) or before 70 (32 bits). */
static void test_target(unsigned xlen)
{
	const unsigned size = xlen / 8, count = xlen == 64 ? 35 : 70;
	struct hf_code_size c = {.extensions = HF_RISCV_ZCMT, .has_jvt = true, .jvt = JVT};
	struct described d;
	uint64_t target = 1;

	for (unsigned i = 0; i < count; i++) {
		const uint64_t entry = i == 3 ? 0 : 0x80001000 + 16 * i + (i == 2);

		memcpy(bytes + 0x40 + i * size, &entry, size);
	}
	init(&d);
	for (unsigned i = 0; i < 256; i++) {
		const bool is = i < count && i != 3;

		CHECK_EQ(hf_code_size_target(&c, &d.images[0].program, xlen, i, &target), is);
		if (is)
			CHECK_EQ(target, 0x80001000 + 16 * i);
	}
	c.jvt -= 0x1000; /* nothing there */
	CHECK(!hf_code_size_target(&c, &d.images[0].program, xlen, 0, &target));
	c = (struct hf_code_size){.extensions = HF_RISCV_ZCMP, .has_jvt = true, .jvt = JVT};
	CHECK(!hf_code_size_target(&c, &d.images[0].program, xlen, 0, &target));
	fini(&d);
}

static void test_write(void)
{
	const struct hf_code_size c = {.extensions = BOTH, .has_jvt = true, .jvt = JVT};
	struct hf_sink sink;

	CHECK_EQ(hf_sink_init_memory(&sink, 256), 0);
	hf_code_size_write(&(struct hf_code_size){0}, &sink);
	hf_code_size_write(&c, &sink);
	hf_sink_write(&sink, "", 1);
	CHECK_STR((const char *)sink.start, "zcmp = 1\nzcmt = 1\njvt = 0x80000040\n");
	hf_sink_fini_memory(&sink);
}

int main(void)
{
	test_read();
	test_stream();
	test_refused();
	test_target(32);
	test_target(64);
	test_write();
	return 0;
}
