/* SPDX-License-Identifier: Apache-2.0 */
#include "fs/program/debug_file.h"
#include "codecs/base/bytes.h"
#include "codecs/image/errors.h"

#include <libdeflate.h>
#include <stdlib.h>
#include <string.h>

#define SUMMED_MAX (UINT64_C(4) << 30)

/* A section's bytes, or NULL. */
static int read_section(const struct hf_elf_file *elf, const char *name, uint8_t **ret_bytes, size_t *ret_size)
{
	enum { SECTION_MAX = 4096 };
	int err = hf_elf_file_named(elf, name, SECTION_MAX, ret_bytes, ret_size, NULL);

	if (err) {
		*ret_bytes = NULL;
		*ret_size = 0;
	}
	return hf_err_is_passing(err) ? err : 0;
}

/* An NT_GNU_BUILD_ID note: sizes of name and content, type, "GNU", the content. */
static void take_build_id(struct hf_debug_id *id, const uint8_t *note, size_t size)
{
	enum { HEAD = 16 };

	if (size <= HEAD || hf_get32(note) != 4)
		return;
	id->build_id_size = size - HEAD < sizeof id->build_id ? size - HEAD : sizeof id->build_id;
	memcpy(id->build_id, note + HEAD, id->build_id_size);
}

/* .gnu_debuglink: the name, zeros up to a multiple of 4 bytes, the checksum. */
static void take_link(struct hf_debug_id *id, const uint8_t *section, size_t size)
{
	const size_t length = strnlen((const char *)section, size), sum = (length + 4) & ~(size_t)3;

	if (!length || length >= sizeof id->link || memchr(section, '/', length) || sum + 4 > size)
		return;
	memcpy(id->link, section, length);
	id->link_sum = hf_get32(section + sum);
}

/* With a limit of no bytes, any section that is there is over the limit. */
static bool has_lines(const struct hf_elf_file *elf)
{
	uint8_t *bytes;
	size_t size;

	return hf_elf_file_named(elf, ".debug_line", 0, &bytes, &size, NULL) == HF_ERR_ELF_LIMIT;
}

int hf_debug_id_read(const struct hf_elf_file *elf, struct hf_debug_id *ret_id)
{
	static const struct {
		const char *section;
		void (*take)(struct hf_debug_id *id, const uint8_t *bytes, size_t size);
	} part[] = {{".note.gnu.build-id", take_build_id}, {".gnu_debuglink", take_link}};
	int err = 0;

	*ret_id = (struct hf_debug_id){.has_lines = has_lines(elf)};
	for (size_t i = 0; i < sizeof part / sizeof *part && !err; i++) {
		uint8_t *bytes;
		size_t size;

		err = read_section(elf, part[i].section, &bytes, &size);
		if (bytes)
			part[i].take(ret_id, bytes, size);
		free(bytes);
	}
	return err;
}

static int sum_up(struct hf_src *src, uint32_t *ret_sum)
{
	enum { PIECE = 1 << 16 };
	uint8_t *piece = malloc(PIECE);
	uint32_t sum = 0;
	size_t n = PIECE;
	int err = piece ? 0 : HF_ERR_NOMEM;

	for (uint64_t at = 0; !err && n == PIECE; at += n) {
		err = hf_src_read_at(src, at, piece, PIECE, &n, NULL);
		if (!err)
			sum = libdeflate_crc32(sum, piece, n);
	}
	free(piece);
	*ret_sum = sum;
	return err;
}

int hf_debug_is_of(const struct hf_debug_id *id, const struct hf_debug_id *other, const char *name, struct hf_src *src,
		   bool *ret_is)
{
	uint32_t sum;
	int err;

	*ret_is = false;
	if (id->has_lines && !other->has_lines)
		return 0;
	if (id->build_id_size) {
		*ret_is = other->build_id_size == id->build_id_size &&
			  memcmp(other->build_id, id->build_id, id->build_id_size) == 0;
		return 0;
	}
	if (!*id->link || strcmp(id->link, name) != 0 || src->size > SUMMED_MAX)
		return 0;
	err = sum_up(src, &sum);
	*ret_is = !err && sum == id->link_sum;
	return err;
}
