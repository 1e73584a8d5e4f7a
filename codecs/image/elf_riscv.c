/* SPDX-License-Identifier: Apache-2.0 */
#include "codecs/image/elf_riscv.h"

#include "codecs/base/bytes.h"
#include "codecs/isa/riscv.h"

#include <ctype.h>
#include <elf.h>
#include <stdlib.h>
#include <string.h>

#define RISCV_ATTRIBUTES 0x70000003u /* SHT_RISCV_ATTRIBUTES */
#define ATTRIBUTES_MAX 65536u
#define JVT_ALIGN 64 /* the low bits of csr jvt are its mode */

enum { TAG_FILE = 1, TAG_ARCH = 5 };

/* Whether the name of an extension, which ends before its version, is that one. */
static bool is_named(const char *item, size_t n, const char *name)
{
	const size_t size = strlen(name);

	if (n < size || (n > size && !isdigit((unsigned char)item[size])))
		return false;
	for (size_t i = 0; i < size; i++)
		if (tolower((unsigned char)item[i]) != name[i])
			return false;
	return true;
}

uint32_t hf_riscv_arch_extensions(const char *arch, size_t size)
{
	uint32_t ret = 0;

	for (const char *p = arch, *end = arch + size; p < end;) {
		const char *mark = memchr(p, '_', (size_t)(end - p));
		const size_t n = (size_t)((mark ? mark : end) - p);

		if (is_named(p, n, "zcmp") || is_named(p, n, "zce"))
			ret |= HF_RISCV_ZCMP;
		if (is_named(p, n, "zcmt") || is_named(p, n, "zce"))
			ret |= HF_RISCV_ZCMT;
		if (is_named(p, n, "zfinx") || is_named(p, n, "zdinx") || is_named(p, n, "zhinx") ||
		    is_named(p, n, "zhinxmin"))
			ret |= HF_RISCV_ZFINX;
		p += n + 1;
	}
	return ret;
}

/* A span of the section; both NULL at the end of what can be read. */
struct span {
	const uint8_t *p, *end;
};

/* The bytes of a (sub-)subsection: length counts from where it begins, and the header is passed over. */
static struct span subsection(struct span *outer, uint32_t length, size_t header)
{
	struct span ret = {NULL, NULL};

	if (length < header || length > (size_t)(outer->end - outer->p)) {
		outer->p = outer->end;
		return ret;
	}
	ret = (struct span){outer->p + header, outer->p + length};
	outer->p += length;
	return ret;
}

/* The arch string among the attributes of a file: odd tags have strings, even ones numbers. NULL: there is none. */
static const char *find_arch(struct span attributes)
{
	const uint8_t *p = attributes.p, *end = attributes.end;
	uint64_t tag, number;

	while (p && p < end) {
		p = hf_get_varint(p, end, &tag);
		if (p && tag % 2) {
			const uint8_t *zero = memchr(p, 0, (size_t)(end - p));

			if (tag == TAG_ARCH && zero)
				return (const char *)p;
			p = zero ? zero + 1 : NULL;
		} else if (p) {
			p = hf_get_varint(p, end, &number);
		}
	}
	return NULL;
}

/* In the subsection of vendor "riscv", whose name is passed. */
static const char *find_file_arch(struct span vendor)
{
	const char *arch = NULL;

	while (!arch && vendor.p && vendor.end - vendor.p >= 5) {
		const uint8_t tag = vendor.p[0]; /* LEB128, of values below 4 */
		const struct span attributes = subsection(&vendor, hf_get32(vendor.p + 1), 5);

		if (tag == TAG_FILE)
			arch = find_arch(attributes);
	}
	return arch;
}

static const char *find_section_arch(const uint8_t *bytes, size_t size)
{
	struct span section = {bytes + 1, bytes + size};
	const char *arch = NULL;

	if (size < 1 || bytes[0] != 'A')
		return NULL;
	while (!arch && section.end - section.p >= 4) {
		struct span vendor = subsection(&section, hf_get32(section.p), 4);

		if (vendor.p && vendor.end - vendor.p > 6 && memcmp(vendor.p, "riscv", 6) == 0) {
			vendor.p += 6;
			arch = find_file_arch(vendor);
		}
	}
	return arch;
}

/* What is only damaged is not there. */
static int forgive(int err)
{
	return err < 0 && !hf_err_is_passing(err) ? 0 : err;
}

int hf_elf_file_riscv(const struct hf_elf_file *file, struct hf_elf_riscv *ret_riscv, struct hf_diag *diag)
{
	const char *arch = NULL;
	uint8_t *bytes = NULL;
	size_t size = 0;
	int err;

	*ret_riscv = (struct hf_elf_riscv){0};
	err = forgive(hf_elf_file_section(file, RISCV_ATTRIBUTES, ATTRIBUTES_MAX, &bytes, &size, diag));
	if (err)
		return err;
	arch = bytes ? find_section_arch(bytes, size) : NULL;
	if (arch)
		ret_riscv->extensions = hf_riscv_arch_extensions(arch, strlen(arch));
	if (!arch || (ret_riscv->extensions & HF_RISCV_ZCMT)) {
		err = hf_elf_file_symbol(file, "__jvt_base$", &ret_riscv->jvt, diag);
		ret_riscv->has_jvt = !err && ret_riscv->jvt % JVT_ALIGN == 0;
		err = forgive(err);
	}
	free(bytes);
	return err;
}
