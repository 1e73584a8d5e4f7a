/* SPDX-License-Identifier: Apache-2.0 */
#include "codecs/base/err.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

static const struct {
	const char *name;
	enum hf_err_class class;
	int errnum;
	const char *text;
} table[] = {
#define HF_ERR(name, class, errnum, text) {#name, HF_CLASS_##class, errnum, text},
#include "codecs/base/errors.def"
#undef HF_ERR
};

static int row_of(int code)
{
	int row = -code - 1;

	return row >= 0 && row < (int)HF_ERRI_COUNT ? row : (int)HF_ERRI_BUG;
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
