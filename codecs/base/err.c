/* SPDX-License-Identifier: Apache-2.0 */
#include "codecs/base/errors.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

/* By the number: that a number is there twice is a warning. */
static const struct {
	const char *name; /* NULL: no error has the number */
	enum hf_err_class class;
	int errnum;
	const char *text;
} table[] = {
#define ROW(name, class, errnum, text) [-HF_ERR_##name] = {#name, HF_CLASS_##class, errnum, text}
	ROW(NOMEM, nomem, ENOMEM, "out of memory"),
	ROW(IO, io, EIO, "reading failed"),
	ROW(BUG, bug, EIO, "internal error, please report it"),
	ROW(STATE, state, EIO, "stored state is not valid"),
	ROW(CANCELLED, state, EINTR, "cancelled"),
	ROW(CHANGED, state, ESTALE, "the file changed while it was used"),
	ROW(NOT_FOUND, state, ENOENT, "not found"),
	ROW(MISMATCH, state, EIO, "bytes differ from what the index promises"),
	ROW(UNKNOWN_FORMAT, unsupported, ENOTSUP, "no codec recognises this content (bare packets need a capture.ini)"),
	ROW(UNSUPPORTED, unsupported, ENOTSUP, "not supported"),
	ROW(LIMIT, limit, EFBIG, "a limit was exceeded"),
	ROW(TRUNCATED, corrupt, EIO, "the file ends too early"),
	ROW(CORRUPT, corrupt, EIO, "the data is damaged"),
	ROW(CHECKSUM, corrupt, EIO, "a checksum does not match"),
#undef HF_ERR
#define HF_ERR(number, name, class, errnum, text) [number] = {#name, HF_CLASS_##class, errnum, text},
#include "codecs/astf/errors.def"
#include "codecs/base/errors.def"
#include "codecs/ete/errors.def"
#include "codecs/itm/errors.def"
#include "codecs/mtb/errors.def"
#include "codecs/etrace/errors.def"
#include "codecs/image/errors.def"
#include "codecs/ntrace/errors.def"
#include "codecs/perf/errors.def"
#include "codecs/setup/errors.def"
#include "codecs/source/errors.def"
#include "codecs/stf/errors.def"
#undef HF_ERR
};

bool hf_err_is_code(int64_t code)
{
	return code == 0 || (code < 0 && code > -(int64_t)(sizeof table / sizeof *table) && table[-code].name);
}

static int row_of(int code)
{
	return code && hf_err_is_code(code) ? -code : -HF_ERR_BUG;
}

const char *hf_err_name(int code)
{
	return table[row_of(code)].name;
}

enum hf_err_class hf_err_class(int code)
{
	return table[row_of(code)].class;
}

bool hf_err_is_shortage(int code)
{
	return code == HF_ERR_NOMEM || code == HF_ERR_FILES || code == HF_ERR_FILES_SYSTEM;
}

bool hf_err_is_passing(int code)
{
	return code < 0 && (hf_err_class(code) == HF_CLASS_io || hf_err_class(code) == HF_CLASS_nomem ||
			    code == HF_ERR_CANCELLED);
}

int hf_err_errno(int code)
{
	return table[row_of(code)].errnum;
}

void hf_diag_fill(struct hf_diag *diag, int code, enum hf_space space, uint64_t offset, uint64_t detail)
{
	if (diag)
		*diag = (struct hf_diag){.code = code, .space = space, .offset = offset, .detail = detail};
}

int hf_diag_format(const struct hf_diag *diag, char *buf, int size)
{
	const char *text = table[row_of(diag->code)].text;
	const char *mark = NULL;
	int len = 0;

	for (const char *s = text; *s && !mark; s++)
		if (s[0] == '%')
			mark = s;
	if (diag->offset != HF_NOWHERE)
		len = snprintf(buf, (size_t)size, "%soffset %" PRIu64 ": ",
			       diag->space == HF_SPACE_FILE ? "file " : "", diag->offset);
	if (mark)
		len += snprintf(buf + len, (size_t)(size - len), mark[3] == 'x' ? "%.*s%" PRIx64 "%s" : "%.*s%" PRIu64 "%s",
				(int)(mark - text), text, diag->detail, mark + 4);
	else
		len += snprintf(buf + len, (size_t)(size - len), "%s", text);
	return len < size ? len : size - 1;
}

const char *hf_err_text(int code, char *buf)
{
	const struct hf_diag diag = {.code = code, .offset = HF_NOWHERE};

	hf_diag_format(&diag, buf, HF_DIAG_SIZE);
	return buf;
}
