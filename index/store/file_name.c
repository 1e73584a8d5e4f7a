/* SPDX-License-Identifier: Apache-2.0 */
#include "index/store/file_name.h"

#include "codecs/base/bytes.h"
#include "index/table/db.h"

#include <inttypes.h>
#include <stdio.h>
#include <xxhash.h>

static void add_text(uint8_t **p, const uint8_t *end, const char *text)
{
	size_t n = strlen(text) + 1;

	if (n <= (size_t)(end - *p)) {
		memcpy(*p, text, n);
		*p += n;
	}
}

/*
 * Versions of all decoders go in, not only of the one that will be used: which one that is shows only when the
 * capture is opened, and a capture nobody recognises may be recognised by a later version.
 */
void hf_index_files(const struct hf_identity *identity, uint64_t ret_files[2])
{
	uint8_t buf[2048], *p = buf;
	XXH128_hash_t hash;

	hf_put64(p, HF_SCHEMA_VERSION);
	hf_put64(p + 8, identity->size);
	hf_put64(p + 16, (uint64_t)identity->mtime_ns);
	hf_put64(p + 24, identity->print[0]);
	hf_put64(p + 32, identity->print[1]);
	p += 40;
	for (size_t i = 0; hf_codecs[i] && p < buf + sizeof buf - 8; i++) {
		if (!hf_codecs[i]->dec)
			continue;
		hf_put32(p, hf_codecs[i]->version);
		p += 4;
		add_text(&p, buf + sizeof buf - 8, hf_codecs[i]->name);
	}
	hash = XXH3_128bits(buf, (size_t)(p - buf));
	ret_files[0] = hash.low64;
	ret_files[1] = hash.high64;
}

void hf_index_put_hex(const uint64_t files[2], char hex[HF_HEX_SIZE])
{
	snprintf(hex, HF_HEX_SIZE, "%016" PRIx64 "%016" PRIx64, files[1], files[0]);
}

void hf_index_file_hex(const struct hf_identity *identity, char hex[HF_HEX_SIZE])
{
	uint64_t files[2];

	hf_index_files(identity, files);
	hf_index_put_hex(files, hex);
}

void hf_index_file_name_index(const struct hf_identity *identity, char name[HF_FILE_NAME_SIZE])
{
	char hex[HF_HEX_SIZE];

	hf_index_file_hex(identity, hex);
	snprintf(name, HF_FILE_NAME_SIZE, "%s.hfi", hex);
}

static XXH128_hash_t hash_key(const struct hf_view_key *key)
{
	XXH3_state_t *state = XXH3_createState();
	XXH128_hash_t hash = {0, 0};
	uint32_t version = key->ops->version;

	if (!state)
		return hash;
	XXH3_128bits_reset(state);
	XXH3_128bits_update(state, &version, sizeof version);
	XXH3_128bits_update(state, key->ops->view, strlen(key->ops->view) + 1);
	XXH3_128bits_update(state, key->params, strlen(key->params) + 1);
	hash = XXH3_128bits_digest(state);
	XXH3_freeState(state);
	return hash;
}

int hf_index_file_name_view(const struct hf_identity *identity, const struct hf_view_key *key, char name[HF_FILE_NAME_SIZE])
{
	char hex[HF_HEX_SIZE], view[96];
	XXH128_hash_t hash = hash_key(key);

	if (strlen(key->ops->view) >= sizeof view)
		return HF_ERR_LIMIT;
	snprintf(view, sizeof view, "%s", key->ops->view);
	for (char *s = view; *s; s++)
		if (*s == '/')
			*s = '_';
	hf_index_file_hex(identity, hex);
	snprintf(name, HF_FILE_NAME_SIZE, "%s.%s.%016llx%016llx.hfv", hex, view, (unsigned long long)hash.high64,
		 (unsigned long long)hash.low64);
	return 0;
}

void hf_index_file_name_spool(const struct hf_identity *identity, char name[HF_FILE_NAME_SIZE])
{
	char hex[HF_HEX_SIZE];

	hf_index_file_hex(identity, hex);
	snprintf(name, HF_FILE_NAME_SIZE, "%s.hfs", hex);
}

void hf_index_file_name_summary(const struct hf_identity *identity, char name[HF_FILE_NAME_SIZE])
{
	uint64_t files[2];

	hf_index_files(identity, files);
	hf_index_file_name_summary_of(files, name);
}

void hf_index_file_name_summary_of(const uint64_t files[2], char name[HF_FILE_NAME_SIZE])
{
	char hex[HF_HEX_SIZE];

	hf_index_put_hex(files, hex);
	snprintf(name, HF_FILE_NAME_SIZE, "%s.hfq", hex);
}
