#include "codecs/setup/setup.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

void hf_setup_free(struct hf_setup *setup)
{
	if (!setup)
		return;
	free((char *)setup->format);
	for (size_t i = 0; i < setup->value_count; i++) {
		free((char *)setup->values[i].key);
		free((char *)setup->values[i].value);
		free((char *)setup->values[i].file);
	}
	for (size_t i = 0; i < setup->image_count; i++)
		hf_program_fini(&setup->images[i].program);
	for (size_t i = 0; i < setup->part_count; i++) {
		free((char *)setup->parts[i].name);
		free((char *)setup->parts[i].framing);
	}
	for (size_t i = 0; i < setup->file_count; i++) {
		free((char *)setup->files[i].name);
		free((char *)setup->files[i].said_in);
	}
	for (size_t i = 0; i < setup->warning_count; i++) {
		free((char *)setup->warnings[i].file);
		free((char *)setup->warnings[i].text);
	}
	free(setup->values);
	free(setup->images);
	free(setup->parts);
	free(setup->files);
	free(setup->warnings);
	free(setup);
}

const struct hf_setup_value *hf_setup_get(const struct hf_setup *setup, uint32_t hart, const char *key)
{
	const struct hf_setup_value *common = NULL;

	for (size_t i = 0; setup && i < setup->value_count; i++) {
		const struct hf_setup_value *value = &setup->values[i];

		if (strcmp(value->key, key) != 0)
			continue;
		if (value->hart == hart)
			return value;
		if (value->hart == HF_SETUP_ANY)
			common = value;
	}
	return common;
}

int hf_setup_number(const struct hf_setup *setup, uint32_t hart, const char *key, uint64_t max, uint64_t fallback,
		    uint64_t *ret_number, struct hf_diag *diag)
{
	const struct hf_setup_value *value = hf_setup_get(setup, hart, key);
	char *end;

	*ret_number = fallback;
	if (!value)
		return 0;
	errno = 0;
	*ret_number = strtoull(value->value, &end, 0);
	if (errno || end == value->value || *end || *value->value == '-' || *ret_number > max)
		return hf_diag_set(diag, HF_ERR_SETUP_VALUE, HF_SPACE_FILE, HF_NOWHERE, value->line);
	return 0;
}

const struct hf_program *hf_setup_program(const struct hf_setup *setup, uint32_t hart, uint64_t context,
					  uint32_t space)
{
	const struct hf_setup_image *best = NULL;
	int best_score = -1;

	for (size_t i = 0; setup && i < setup->image_count; i++) {
		const struct hf_setup_image *image = &setup->images[i];
		int score = 0;

		if ((image->hart != HF_SETUP_ANY && image->hart != hart) ||
		    (image->context != HF_SETUP_NO_CONTEXT && image->context != context) || !(image->spaces & space))
			continue;
		score += image->hart != HF_SETUP_ANY ? 4 : 0;
		score += image->context != HF_SETUP_NO_CONTEXT ? 2 : 0;
		score += image->spaces != HF_MEMORY_ANY ? 1 : 0;
		if (score > best_score) {
			best = image;
			best_score = score;
		}
	}
	return best ? &best->program : NULL;
}

const char *hf_params_get(const char *params, const char *key, size_t *ret_size)
{
	const size_t n = strlen(key);

	for (const char *p = params; p && *p; p = *(p + strcspn(p, ",")) ? p + strcspn(p, ",") + 1 : NULL)
		if (strncmp(p, key, n) == 0 && p[n] == '=') {
			*ret_size = strcspn(p + n + 1, ",");
			return p + n + 1;
		}
	*ret_size = 0;
	return NULL;
}
