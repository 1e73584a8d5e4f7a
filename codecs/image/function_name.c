/* SPDX-License-Identifier: Apache-2.0 */
#include "codecs/image/function_name.h"

size_t hf_function_name(char *to, const char *name, struct hf_demangler *demangler)
{
	const bool demangled = demangler && hf_demangle(demangler, name);

	/* Who reads names as the programmer wrote them has to tell blanks and '<' from the field's own anyway. */
	return hf_name_copy(to, demangled ? demangler->text : name, HF_SYMBOL_NAME_MAX, demangler);
}
