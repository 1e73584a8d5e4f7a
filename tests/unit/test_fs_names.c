/* SPDX-License-Identifier: Apache-2.0 */
/* Names of view directories and the JSON writer. */
#include "fs/base/json.h"
#include "fs/archive/names.h"
#include "tests/lib/check.h"

static void check_view(const char *name, const char *view)
{
	char buf[NAME_MAX + 1];

	CHECK_EQ(hf_name_view(name, hf_codec_by_name("stf"), false, buf), strlen(view));
	CHECK_STR(buf, view);
}

struct search {
	const char *name;
	bool found;
	unsigned count;
};

static bool is_it(void *ctx, const char *name)
{
	struct search *search = ctx;

	search->count++;
	search->found |= strcmp(name, search->name) == 0;
	return !search->found;
}

/* The way back from a view name finds the name. */
static void check_origin(const char *name)
{
	struct search search = {.name = name};
	char buf[NAME_MAX + 1];

	hf_name_view(name, hf_codec_by_name("stf"), false, buf);
	hf_name_origins(buf, is_it, &search);
	CHECK(search.found);
}

static void test_views(void)
{
	static const char *const names[] = {"x.stf",	 "x.stf.xz",   "x.zstf", "a b.stf.gz", "x",
					    "x.bin",	 ".stf",       "x.stf.", "x.STF",      "v1.2.stf.zst",
					    "@stf.stf",	 "a@stf.xz",   "a@stf",	 "x.stf.stf",  "x.gz.stf",
					    "\xff\n.stf"};

	check_view("x.stf", "x@stf");
	check_view("x.stf.xz", "x@stf@xz");
	check_view("x.stf.gz", "x@stf@gz");
	check_view("x.zstf", "x@zstf");
	check_view("v1.2.stf.zst", "v1.2@stf@zst");
	check_view("x", "x@stf");
	check_view("trace.bin", "trace.bin@stf");
	check_view(".stf", ".stf@stf");
	check_view("x.stf.bak", "x.stf.bak@stf");
	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		check_origin(names[i]);
}

static void check_elf(const char *name, const char *elf)
{
	char buf[NAME_MAX + 1];

	CHECK_EQ(hf_name_elf(name, buf), strlen(elf));
	CHECK_STR(buf, elf);
}

static void test_elves(void)
{
	char name[NAME_MAX + 1], buf[NAME_MAX + 1];

	check_elf("x.stf", "x.elf");
	check_elf("x.stf.gz", "x.elf");
	check_elf("x.zstf", "x.elf");
	check_elf("v1.2.stf.zst", "v1.2.elf");
	check_elf("x", "x.elf");
	check_elf("trace.bin", "trace.bin.elf");
	check_elf(".stf", ".stf.elf");
	check_elf("x.elf", "x.elf.elf");
	memset(name, 'n', NAME_MAX);
	name[NAME_MAX] = '\0';
	CHECK_EQ(hf_name_elf(name, buf), NAME_MAX + 4);
}

static void test_substitutes(void)
{
	char name[NAME_MAX + 1], buf[NAME_MAX + 1], other[NAME_MAX + 1];
	const struct hf_codec *stf = hf_codec_by_name("stf");

	hf_name_substitute("x.stf", stf, false, 0, buf);
	CHECK_EQ(strlen(buf), strlen("x@stf~01234567"));
	CHECK(hf_name_is_substitute(buf));
	CHECK(hf_name_substitute_of(buf, "x.stf"));
	CHECK(!hf_name_substitute_of(buf, "y.stf"));
	hf_name_substitute("x.stf", stf, false, 1, other);
	CHECK(strcmp(buf, other) != 0);
	CHECK(hf_name_substitute_of(other, "x.stf"));
	CHECK(!hf_name_is_substitute("x@stf"));
	CHECK(!hf_name_is_substitute("x@stf~0123456"));

	/* The longest names: "<255>@stf" does not fit. */
	memset(name, 'n', NAME_MAX);
	name[NAME_MAX] = '\0';
	CHECK(hf_name_view(name, stf, false, buf) > NAME_MAX);
	hf_name_substitute(name, stf, false, 0, buf);
	CHECK_EQ(strlen(buf), NAME_MAX);
	CHECK(hf_name_substitute_of(buf, name));
	/* 255 bytes with an extension fit exactly. */
	memcpy(name + NAME_MAX - 4, ".stf", 4);
	CHECK_EQ(hf_name_view(name, stf, false, buf), NAME_MAX);
	/* Characters are not cut: the name ends with a whole one before the '~'. */
	for (size_t i = 0; i < NAME_MAX; i += 3)
		memcpy(name + i, "\xe2\x82\xac", 3);
	hf_name_substitute(name, stf, false, 0, buf);
	CHECK_EQ(strcspn(buf, "~") % 3, 0);
}

static void test_json(void)
{
	struct hf_json json;
	struct hf_sink sink;

	CHECK_EQ(hf_sink_init_memory(&sink, 0), 0);
	hf_json_begin(&json, &sink);
	hf_json_open(&json, NULL, '{');
	hf_json_string(&json, "a", "q\"b\\\n\x7f \xe2\x82\xac \xff\xc0\xed\xa0\x80 \xf0\x9f\x98\x80 \xf5");
	hf_json_u64(&json, "n", UINT64_MAX);
	hf_json_open(&json, "empty", '[');
	hf_json_close(&json, ']');
	hf_json_open(&json, "list", '[');
	hf_json_bool(&json, NULL, true);
	hf_json_u64(&json, NULL, 1);
	hf_json_close(&json, ']');
	hf_json_raw(&json, "\"r\":1");
	hf_json_raw(&json, "");
	hf_json_close(&json, '}');
	hf_json_end(&json);
	hf_sink_write(&sink, "", 1);
	CHECK_STR((const char *)sink.start,
		  "{\n  \"a\": \"q\\\"b\\\\\\u000a\\u007f \xe2\x82\xac \\udcff\\udcc0\\udced\\udca0\\udc80 "
		  "\xf0\x9f\x98\x80 \\udcf5\",\n"
		  "  \"n\": 18446744073709551615,\n  \"empty\": [],\n  \"list\": [\n    true,\n    1\n  ],\n"
		  "  \"r\":1\n}\n");
	hf_sink_fini_memory(&sink);
}

static void test_claims(void)
{
	const struct hf_codec *stf = hf_codec_by_name("stf");

	CHECK(hf_name_claim("x.stf") == stf);
	CHECK(hf_name_claim("x.stf.gz") == stf);
	CHECK(hf_name_claim("x.stf.xz.zst") == stf);
	CHECK(hf_name_claim("x.zstf") == stf);
	CHECK(!hf_name_claim("x.gz"));
	CHECK(!hf_name_claim("x.stf.txt"));
	CHECK(!hf_name_claim(".stf"));
	CHECK(!hf_name_claim("stf"));
	CHECK(!hf_name_claim(""));
}

int main(void)
{
	test_claims();
	test_views();
	test_elves();
	test_substitutes();
	test_json();
	return 0;
}
