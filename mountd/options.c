/* SPDX-License-Identifier: Apache-2.0 */
#include "mountd/options.h"

#include "codecs/base/array.h"
#include "codecs/base/nearest.h"
#include "fs/fs.h"
#include "mountd/colour.h"
#include "mountd/guess.h"
#include "mountd/number.h"
#include "mountd/pager.h"
#include "mountd/session.h"
#include "mountd/topic.h"

#include <getopt.h>
#include <grp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum option_id {
#define HF_OPTION(id, commands, letter, name, arg, help) OPTION_##id,
#include "mountd/options.def"
	OPTION_COUNT
};

static const struct {
	char letter;
	const char *name, *args, *help;
} commands[] = {
#define HF_COMMAND(id, letter, name, args, help) {letter, name, args, help},
#include "mountd/options.def"
};

static const struct {
	const char *commands;
	char letter;
	const char *name, *arg, *help;
} options[] = {
#define HF_OPTION(id, commands, letter, name, arg, help) {commands, letter, name, arg, help},
#include "mountd/options.def"
};

static const struct {
	enum hf_command command;
	const char *name;
} other_commands[] = {
#define HF_OTHER_COMMAND(id, name) {HF_COMMAND_##id, name},
#include "mountd/options.def"
};

static const struct other_option {
	enum option_id id;
	const char *name, *value;
} other_options[] = {
#define HF_OTHER_OPTION(id, name, value) {OPTION_##id, name, value},
#include "mountd/options.def"
};

static const char *const fuse_options[] = {
#define HF_FUSE_OPTION(name) name,
#include "mountd/options.def"
};

static const char *const mount_noise[] = {
#define HF_MOUNT_NOISE(name) name,
#include "mountd/options.def"
};

/* Topics of the manual that are looked at for a hint, at most. */
#define TOPICS 64

#define COUNT(table) (sizeof(table) / sizeof((table)[0]))

static bool valid_for(enum option_id id, enum hf_command command)
{
	return strchr(options[id].commands, commands[command].letter) != NULL;
}

/* Whether it may stand without its argument. */
static bool is_optional(enum option_id id)
{
	return options[id].arg && options[id].arg[0] == '[';
}

int hf_settings_usage(const struct hf_settings *settings, const char *format, ...)
{
	const char *name = commands[settings->command].name;
	va_list args;

	fprintf(stderr, "hartfs %s: ", name);
	va_start(args, format);
	vfprintf(stderr, format, args);
	va_end(args);
	fprintf(stderr, "\nTry 'hartfs %s --help'.\n", name);
	return HF_EXIT_USAGE;
}

static void put_title(const char *title)
{
	printf("%s%s%s\n", hf_colour(stdout, HF_COLOUR_HEAD), title, hf_colour(stdout, HF_COLOUR_NONE));
}

static void print_options(const char *title, enum hf_command command)
{
	put_title(title);
	for (size_t i = 0; i < OPTION_COUNT; i++) {
		char left[64], letter[8] = "    ";

		if (!valid_for((enum option_id)i, command))
			continue;
		if (options[i].letter)
			snprintf(letter, sizeof letter, "-%c, ", options[i].letter);
		snprintf(left, sizeof left, "%s--%s%s%s", letter, options[i].name,
			 options[i].arg && !is_optional((enum option_id)i) ? "=" : "",
			 options[i].arg ? options[i].arg : "");
		printf("  %-24s %s\n", left, options[i].help);
	}
}

static void print_version(void)
{
	char libraries[512];

	hf_fs_libraries(libraries, sizeof libraries);
	printf("hartfs %s\nlibfuse %s, %s\n", HARTFS_VERSION, fuse_pkgversion(), libraries);
}

static void print_help(void)
{
	printf("Processor traces as files: every capture of an archive in every format it can have.\n\n"
	       "  hartfs mount ~/traces ~/mnt; less ~/mnt/boot@zstf/hart0/listing.txt; hartfs umount ~/mnt\n"
	       "  hartfs cat ~/traces/boot.zstf hart0/listing.txt       the same without a mount\n\n");
	put_title("Commands (hartfs help COMMAND):");
	for (size_t i = 0; i < HF_COMMAND_COUNT; i++)
		printf("  %-14s %s\n", commands[i].name, commands[i].help);
	printf("\n");
	put_title("Topics (hartfs help TOPIC), the pages of the manual:");
	hf_topic_print_list();
	printf("\nExit status: 0 ok, 1 failure, 2 wrong usage, 3 some captures failed; of find: 0 found, 1 not\nfound, 2 failure. See hartfs(1).\n");
}

/* The completion reads this line. */
static void print_views(void)
{
	char name[HF_FS_VIEW_NAME];

	putchar('\n');
	put_title("Views of a hart, for --views:");
	putchar(' ');
	for (size_t i = 0; hf_fs_view_name(i, name); i++)
		printf(" %s", name);
	printf("\n");
}

static void print_command_help(enum hf_command command)
{
	printf("Usage: hartfs %s [OPTION...] %s\n%c%s.\n\n", commands[command].name, commands[command].args,
	       commands[command].help[0] & ~0x20, commands[command].help + 1);
	print_options("Options:", command);
	if (valid_for(OPTION_VIEWS, command))
		print_views();
	if (command != HF_COMMAND_MOUNT)
		return;
	printf("\nThe long options may also be given to -o (cache=1G,wait,views=listing.txt+trace.stf,etrace.version=2.1)"
	       ", and:\n ");
	for (size_t i = 0; i < COUNT(fuse_options); i++)
		printf(" %s", fuse_options[i]);
	printf("\nIgnored, because they are so or cannot be so:\n ");
	for (size_t i = 0; i < COUNT(mount_noise); i++)
		printf(" %s", mount_noise[i]);
	printf("\n");
}

/* A number with an optional unit K, M, G, T (of 1024). */
static bool parse_size(const char *text, bool units, uint64_t *ret_value)
{
	const char *letters = "KMGT", *unit;
	const char *end;
	uint64_t value;

	if (!hf_number_read(text, &end, &value))
		return false;
	if (*end && units && (unit = strchr(letters, *end & ~0x20))) {
		unsigned shift = 10 * (unsigned)(unit - letters + 1);

		if (value > UINT64_MAX >> shift)
			return false;
		value <<= shift;
		end++;
	}
	*ret_value = value;
	return *end == 0;
}

static bool parse_count(const char *text, unsigned *ret_value)
{
	uint64_t value;

	if (!parse_size(text, false, &value) || value == 0 || value > 1024)
		return false;
	*ret_value = (unsigned)value;
	return true;
}

static bool parse_hart(const char *text, uint32_t *ret_hart)
{
	uint64_t n;

	if (!parse_size(text, false, &n) || n >= UINT32_MAX)
		return false;
	*ret_hart = (uint32_t)n;
	return true;
}

static bool parse_shard(const char *text, struct hf_settings *settings)
{
	const char *slash = strchr(text, '/');
	char part[24];

	if (!slash || slash - text >= (long)sizeof part)
		return false;
	memcpy(part, text, (size_t)(slash - text));
	part[slash - text] = 0;
	return parse_size(part, false, &settings->shard) && parse_size(slash + 1, false, &settings->shards) &&
	       settings->shard < settings->shards;
}

static bool parse_sandbox(const char *text, enum hf_sandbox_mode *ret_mode)
{
	static const char *const names[] = {
		[HF_SANDBOX_REQUIRED] = "required", [HF_SANDBOX_TRY] = "try", [HF_SANDBOX_OFF] = "off"};

	for (size_t i = HF_SANDBOX_REQUIRED; i < COUNT(names); i++)
		if (!strcmp(text, names[i])) {
			*ret_mode = (enum hf_sandbox_mode)i;
			return true;
		}
	return false;
}

/* Adds a parameter of a view, or several with commas between, and before each the option that gave it. */
static bool add_params(struct hf_settings *settings, const char *option, const char *list)
{
	const size_t n = strcspn(list, ",");
	char *all;

	if (asprintf(&all, "%s%s%s %.*s", settings->params ? settings->params : "", settings->params ? "," : "", option,
		     (int)n, list) < 0)
		return false;
	free(settings->params);
	settings->params = all;
	return !list[n] || add_params(settings, option, list + n + 1);
}

/* One that the command reads itself. */
static bool is_of_command(enum option_id id)
{
	switch (id) {
#define HF_OPTION(id, commands, letter, name, arg, help)
#define HF_ASKED_OPTION(id, commands, name, arg, help) case OPTION_##id:
#include "mountd/options.def"
		return true;
	default:
		return false;
	}
}

static bool add_asked(struct hf_settings *settings, const char *name, const char *value)
{
	if (hf_array_room(&settings->asked, settings->asked_count, sizeof *settings->asked))
		return false;
	settings->asked[settings->asked_count++] = (struct hf_asked){name, value};
	return true;
}

/* Options without an argument. */
static bool set_flag(struct hf_settings *settings, enum option_id id)
{
	switch (id) {
	case OPTION_WAIT:
		settings->wait = true;
		return true;
	case OPTION_BLOCK:
		settings->block = true;
		return true;
	case OPTION_DIRECT:
		settings->direct = true;
		return true;
	case OPTION_FOREGROUND:
		settings->foreground = true;
		return true;
	case OPTION_LAZY:
		settings->lazy = true;
		return true;
	case OPTION_PRUNE:
		settings->prune = true;
		return true;
	case OPTION_AS_JSON:
	case OPTION_STATE_JSON:
	case OPTION_LINES_JSON:
		settings->json = true;
		return true;
	case OPTION_AS_CSV:
	case OPTION_AS_TABLE:
	case OPTION_AS_LINES:
	case OPTION_AS_ROWS:
		settings->mode = options[id].name;
		return true;
	case OPTION_PROFILES:
		settings->profiles = true;
		return true;
	case OPTION_DRY_RUN:
		settings->dry_run = true;
		return true;
	case OPTION_SYSTEM:
		settings->system = true;
		return true;
	case OPTION_SOURCES:
		settings->sources = true;
		return true;
	case OPTION_NO_SUMMARY:
		settings->summary = false;
		return true;
	case OPTION_VERBOSE:
		settings->verbosity += settings->verbosity < 2;
		return true;
	case OPTION_QUIET:
		settings->verbosity -= settings->verbosity > -2;
		return true;
	default:
		return false;
	}
}

/* Options whose argument is a number; value: that argument. */
static bool set_number(struct hf_settings *settings, enum option_id id, const char *value)
{
	switch (id) {
	case OPTION_PACK_BELOW:
		if (!parse_size(value, true, &settings->pack_below))
			return false;
		settings->pack_below = settings->pack_below ? settings->pack_below : 1;
		return true;
	case OPTION_CACHE:
		return parse_size(value, true, &settings->cache);
	case OPTION_STREAM_MEMORY:
		return parse_size(value, true, &settings->stream_memory) && settings->stream_memory;
	case OPTION_EXPANSION:
		if (!parse_size(value, false, &settings->expansion))
			return false;
		settings->expansion = settings->expansion ? settings->expansion : UINT64_MAX;
		return true;
	case OPTION_SPOOL:
		return parse_size(value, true, &settings->spool);
	case OPTION_INDEX_LIMIT:
		return parse_size(value, true, &settings->index_limit) && settings->index_limit;
	case OPTION_THREADS:
		return parse_count(value, &settings->threads);
	case OPTION_JOBS:
		return parse_count(value, &settings->jobs);
	case OPTION_CHUNK:
		return parse_size(value, true, &settings->chunk);
	case OPTION_SHARD:
		return parse_shard(value, settings);
	case OPTION_OFFSET:
		return parse_size(value, true, &settings->offset);
	case OPTION_LENGTH:
		return parse_size(value, true, &settings->length);
	case OPTION_ONE_HART:
	case OPTION_TOP_HART:
		settings->has_hart = true;
		return parse_hart(value, &settings->hart);
	case OPTION_ROWS:
		return parse_size(value, false, &settings->rows);
	default:
		return set_flag(settings, id);
	}
}

static bool parse_trust(const char *value, struct hf_sharing *sharing)
{
	static const char kind[] = "group:";
	const size_t n = sizeof kind - 1;
	const struct group *group = strncmp(value, kind, n) == 0 ? getgrnam(value + n) : NULL;

	if (!group)
		return false;
	sharing->trust = true;
	sharing->trusted = group->gr_gid;
	return true;
}

/* All options; value: of those with an argument. */
static bool set_option(struct hf_settings *settings, enum option_id id, char *value)
{
	switch (id) {
	case OPTION_INDEX_DIR:
		settings->index_dir = value;
		return *value;
	case OPTION_DEBUG_DIR:
		settings->debug_dir = value;
		return *value;
	case OPTION_OUTPUT:
	case OPTION_CONVERTED:
		settings->output = value;
		return *value;
	case OPTION_SYSROOT:
		settings->sysroot = value;
		return *value;
	case OPTION_LOG:
		settings->log_file = value;
		return *value;
	case OPTION_SUMMARY:
		settings->summary = !strcmp(value, "on");
		return settings->summary || !strcmp(value, "off");
	case OPTION_CHECKSUMS:
		settings->all_checksums = !strcmp(value, "all");
		return settings->all_checksums || !strcmp(value, "some");
	case OPTION_STATUS:
		settings->status_all = !strcmp(value, "all");
		return settings->status_all || !strcmp(value, "owner");
	case OPTION_INDEX_MODE:
		settings->sharing.publish = !strcmp(value, "group");
		return settings->sharing.publish || !strcmp(value, "private");
	case OPTION_TRUST:
		return parse_trust(value, &settings->sharing);
	case OPTION_SANDBOX:
		return parse_sandbox(value, &settings->sandbox);
	case OPTION_VIEWS:
		for (char *plus = value; (plus = strchr(plus, '+'));)
			*plus = ',';
		settings->views = value;
		return hf_fs_knows_views(value);
	default:
		return set_number(settings, id, value);
	}
}

static bool in_list(const char *const *list, size_t count, const char *name, size_t length)
{
	for (size_t i = 0; i < count; i++)
		if (strlen(list[i]) == length && !memcmp(list[i], name, length))
			return true;
	return false;
}

/* Long names with _ for -, as mount options are usually written. */
static bool same_name(const char *option, const char *name, size_t length)
{
	if (strlen(option) != length)
		return false;
	for (size_t i = 0; i < length; i++)
		if (option[i] != (name[i] == '_' ? '-' : name[i]))
			return false;
	return true;
}

static bool set_mount_option(struct hf_settings *settings, char *item)
{
	char *equals = strchr(item, '=');
	size_t length = equals ? (size_t)(equals - item) : strlen(item);

	for (size_t i = 0; i < OPTION_COUNT; i++)
		if (i != OPTION_OPTIONS && i != OPTION_PARAM && valid_for((enum option_id)i, HF_COMMAND_MOUNT) &&
		    same_name(options[i].name, item, length))
			return !options[i].arg == !equals &&
			       set_option(settings, (enum option_id)i, equals ? equals + 1 : item + length);
	if (equals && memchr(item, '.', length))
		return add_params(settings, "-o", item);
	if (in_list(mount_noise, COUNT(mount_noise), item, length))
		return true;
	if (!in_list(fuse_options, COUNT(fuse_options), item, length))
		return false;
	settings->fuse_options[settings->fuse_option_count++] = item;
	return true;
}

static bool set_mount_options(struct hf_settings *settings, char *list, const char **ret_bad)
{
	char *save = NULL;

	for (char *item = strtok_r(list, ",", &save); item; item = strtok_r(NULL, ",", &save)) {
		if (hf_array_room(&settings->fuse_options, settings->fuse_option_count, sizeof item))
			return false;
		if (!set_mount_option(settings, item)) {
			*ret_bad = item;
			return false;
		}
	}
	return true;
}

static bool find_command(const char *name, enum hf_command *ret_command)
{
	for (size_t i = 0; i < HF_COMMAND_COUNT; i++)
		if (!strcmp(commands[i].name, name)) {
			*ret_command = (enum hf_command)i;
			return true;
		}
	for (size_t i = 0; i < COUNT(other_commands); i++)
		if (!strcmp(other_commands[i].name, name)) {
			*ret_command = other_commands[i].command;
			return true;
		}
	return false;
}

/* What a command, or with topics a topic may have been meant to be: hf_nearest_hint. */
static const char *hint_command(const char *name, bool topics, char hint[HF_NEAREST_SIZE])
{
	const char *words[HF_COMMAND_COUNT + COUNT(other_commands) + TOPICS + 2];
	size_t n = 0;

	for (size_t i = 0; i < HF_COMMAND_COUNT; i++)
		words[n++] = commands[i].name;
	for (size_t i = 0; i < COUNT(other_commands); i++)
		words[n++] = other_commands[i].name;
	for (size_t i = 0; topics && i < TOPICS && hf_topics[i].name; i++)
		words[n++] = hf_topic_short_name(&hf_topics[i]);
	words[n++] = "help";
	words[n] = NULL;
	return hf_nearest_hint(name, strlen(name), words, hint);
}

static int help_with(const char *name)
{
	const struct hf_topic *topic = hf_topic_find(name);
	char hint[HF_NEAREST_SIZE];
	enum hf_command command;

	if (find_command(name, &command)) {
		print_command_help(command);
		if (topic)
			printf("\nMore, with examples: hartfs help %s\n", topic->name);
	} else if (topic) {
		hf_topic_print(topic);
	} else {
		char *pages = *hint_command(name, true, hint) ? NULL : hf_topic_mentions(name);

		fprintf(stderr, "hartfs: there is no command or topic '%s'%s\nTry 'hartfs help'.\n", name, pages ? pages : hint);
		free(pages);
		return HF_EXIT_USAGE;
	}
	return HF_EXIT_OK;
}

/* What stands where a command is expected, and is none: a path that exists, of which one wants to know what it is, or a
 * mistake. */
static bool parse_path(struct hf_settings *settings, const char *first, const char *operand)
{
	char hint[HF_NEAREST_SIZE];

	if (!*first) {
		fprintf(stderr, "hartfs: a command is missing\nTry 'hartfs help'.\n");
		return false;
	}
	if (*hint_command(first, false, hint) || access(first, F_OK) < 0) {
		hf_guess_command(first, operand, hint);
		return false;
	}
	settings->command = HF_COMMAND_INFO;
	return true;
}

/* *ret_words: how many words it takes. */
static bool parse_command(struct hf_settings *settings, int argc, char **argv, int *ret_words, int *ret_exit)
{
	const char *first = argc > 1 ? argv[1] : "";

	*ret_exit = HF_EXIT_OK;
	*ret_words = 1;
	if (!strcmp(first, "--version") || !strcmp(first, "-V") || !strcmp(first, "version")) {
		print_version();
		return false;
	}
	if (!strcmp(first, "--help") || !strcmp(first, "-h") || !strcmp(first, "help")) {
		hf_pager_start();
		*ret_exit = argc > 2 ? help_with(argv[2]) : HF_EXIT_OK;
		if (argc <= 2)
			print_help();
		return false;
	}
	if (find_command(first, &settings->command))
		return true;
	*ret_words = 0;
	*ret_exit = HF_EXIT_USAGE;
	/* Of "perf report CAPTURE" too the capture is what an advice is about. */
	if (argc > 3 && access(argv[2], F_OK) < 0 && !access(argv[3], F_OK))
		return parse_path(settings, first, argv[3]);
	return parse_path(settings, first, argc > 2 ? argv[2] : NULL);
}

/* getopt's tables for one command; the value of a long option is its row plus LONG, of another name of one the row of that
 * plus OTHER. */
#define LONG 256
#define OTHER (LONG + OPTION_COUNT)

static int has_argument(enum option_id id)
{
	return is_optional(id) ? optional_argument : options[id].arg ? required_argument : no_argument;
}

static void make_tables(enum hf_command command, struct option *longs, char *shorts)
{
	/* What follows the program's name is the program's. */
	if (command == HF_COMMAND_RECORD)
		*shorts++ = '+';
	*shorts++ = ':';
	for (size_t i = 0; i < OPTION_COUNT; i++) {
		if (!valid_for((enum option_id)i, command))
			continue;
		*longs++ = (struct option){
			.name = options[i].name, .has_arg = has_argument((enum option_id)i), .val = LONG + (int)i};
		if (!options[i].letter)
			continue;
		*shorts++ = options[i].letter;
		if (options[i].arg)
			*shorts++ = ':';
	}
	for (size_t i = 0; i < COUNT(other_options); i++)
		if (valid_for(other_options[i].id, command))
			*longs++ = (struct option){.name = other_options[i].name,
						   .has_arg = other_options[i].value ? no_argument
										     : has_argument(other_options[i].id),
						   .val = OTHER + (int)i};
	*shorts = 0;
	*longs = (struct option){0};
}

static int id_of(enum hf_command command, int value)
{
	if (value >= OTHER)
		return (int)other_options[value - OTHER].id;
	if (value >= LONG)
		return value - LONG;
	for (int i = 0; i < OPTION_COUNT; i++)
		if (options[i].letter == value && valid_for((enum option_id)i, command))
			return i;
	return -1;
}

int hf_settings_refuse(const struct hf_settings *settings, const char *option, const char *value)
{
	size_t i = 0;

	while (!valid_for((enum option_id)i, settings->command) || strcmp(options[i].name, option) != 0)
		i++;
	return hf_settings_usage(settings, "'%s' is not a valid value of --%s%s%s: %s", value, option,
				 is_optional((enum option_id)i) ? "" : "=", options[i].arg, options[i].help);
}

static bool parse_one(struct hf_settings *settings, enum option_id id, char *value, int *ret_exit)
{
	const char *bad = NULL;

	*ret_exit = HF_EXIT_OK;
	if (id == OPTION_HELP) {
		hf_pager_start();
		print_command_help(settings->command);
		return false;
	}
	if (id == OPTION_VERSION) {
		print_version();
		return false;
	}
	/* What serve is told, it reads itself. */
	if (settings->command == HF_COMMAND_SQL && valid_for(id, HF_COMMAND_SERVE) &&
	    !add_asked(settings, options[id].name, value)) {
		*ret_exit = hf_settings_usage(settings, "out of memory");
		return false;
	}
	if (id == OPTION_PARAM) {
		if (add_params(settings, "--param", value))
			return true;
		*ret_exit = hf_settings_usage(settings, "out of memory");
		return false;
	}
	if (is_of_command(id)) {
		if (add_asked(settings, options[id].name, value))
			return true;
		*ret_exit = hf_settings_usage(settings, "out of memory");
		return false;
	}
	if (id == OPTION_OPTIONS) {
		if (set_mount_options(settings, value, &bad))
			return true;
		*ret_exit = hf_settings_usage(settings, "unknown or wrong mount option '%s'", bad ? bad : value);
		return false;
	}
	if (set_option(settings, id, value))
		return true;
	*ret_exit = hf_settings_refuse(settings, options[id].name, value);
	return false;
}

/* The command that alone has an option of that name; NULL: there is none. */
static const char *command_with(const char *option)
{
	for (size_t i = 0; i < OPTION_COUNT; i++)
		for (size_t k = 0; !strcmp(options[i].name, option) && !options[i].commands[1] && k < HF_COMMAND_COUNT; k++)
			if (valid_for((enum option_id)i, (enum hf_command)k))
				return commands[k].name;
	return NULL;
}

/* What getopt stopped at: value is its '?' or ':'. */
static int refuse_option(const struct hf_settings *settings, int value, const char *word)
{
	const char *words[OPTION_COUNT + 1], *text, *command;
	char name[64], hint[HF_NEAREST_SIZE];
	size_t n = strspn(word, "-");

	if (value == ':')
		return hf_settings_usage(settings, "option '%s' needs an argument", word);
	snprintf(name, sizeof name, "%.*s", (int)strcspn(word + n, "="), word + n);
	n = 0;
	for (size_t i = 0; i < OPTION_COUNT; i++)
		if (valid_for((enum option_id)i, settings->command))
			words[n++] = options[i].name;
	words[n] = NULL;
	hf_nearest_hint(name, strlen(name), words, hint);
	text = *hint ? NULL : hf_guess_option(commands[settings->command].letter, name);
	command = *hint || text ? NULL : command_with(name);
	return hf_settings_usage(settings, "unknown option '%s'%s%s%s%s%s", word, hint, text ? ": " : "", text ? text : "",
				 command ? "; it is one of hartfs " : "", command ? command : "");
}

bool hf_settings_parse(struct hf_settings *settings, int argc, char **argv, int *ret_exit)
{
	struct option longs[OPTION_COUNT + COUNT(other_options) + 1];
	char shorts[2 * OPTION_COUNT + 3], why[320];
	int value, words;

	*settings = (struct hf_settings){.length = UINT64_MAX, .rows = 20, .spool = UINT64_C(4) << 30, .summary = true};
	/* mount(8) runs "hartfs ARCHIVE MOUNTPOINT -o OPTIONS" for the type fuse.hartfs. */
	if (argc >= 3 && argv[1][0] == '/') {
		settings->command = HF_COMMAND_MOUNT;
	} else {
		if (!parse_command(settings, argc, argv, &words, ret_exit))
			return false;
		argv += words;
		argc -= words;
	}
	make_tables(settings->command, longs, shorts);
	opterr = 0;
	optind = 1;
	while ((value = getopt_long(argc, argv, shorts, longs, NULL)) != -1) {
		if (value == '?' || value == ':') {
			const char letter[] = {'-', (char)optopt, 0};

			/* Of several letters in one word getopt is still at that word. */
			*ret_exit = refuse_option(settings, value, value == '?' && optopt > ' ' && optopt < 0x7f ? letter : argv[optind - 1]);
			return false;
		}
		if (value >= OTHER && other_options[value - OTHER].value)
			optarg = (char *)other_options[value - OTHER].value;
		if (!parse_one(settings, (enum option_id)id_of(settings->command, value), optarg, ret_exit))
			return false;
	}
	settings->operands = argv + optind;
	settings->operand_count = argc - optind;
	if (!settings->params || !hf_fs_check_params(-1, settings->params, why, sizeof why))
		return true;
	*ret_exit = hf_settings_usage(settings, "%s", why);
	return false;
}

void hf_settings_free(struct hf_settings *settings)
{
	free(settings->fuse_options);
	free(settings->params);
	free(settings->asked);
	settings->asked = NULL;
	settings->fuse_options = NULL;
	settings->params = NULL;
}
