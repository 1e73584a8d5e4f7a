/* SPDX-License-Identifier: Apache-2.0 */
#include "mountd/sandbox_parts.h"

#include <errno.h>
#include <linux/capability.h>
#include <stdint.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

/* capset(2) sets those of one thread, as two words of 32 each. */
struct sets {
	struct __user_cap_data_struct word[_LINUX_CAPABILITY_U32S_3];
};

static struct __user_cap_header_struct header(void)
{
	return (struct __user_cap_header_struct){.version = _LINUX_CAPABILITY_VERSION_3};
}

static bool has(const struct sets *sets, unsigned capability)
{
	return sets->word[CAP_TO_INDEX(capability)].permitted & CAP_TO_MASK(capability);
}

/* While it still can: what is not in the bounding set cannot come back with a new program. */
static int drop_bounding_set(const struct sets *sets)
{
	if (!(sets->word[0].effective & CAP_TO_MASK(CAP_SETPCAP)))
		return 0;
	for (unsigned i = 0; i < 64; i++)
		if (prctl(PR_CAPBSET_DROP, i, 0, 0, 0) < 0)
			return errno == EINVAL && i > 0 ? 0 : -errno;
	return 0;
}

static int get(struct sets *ret_had)
{
	struct __user_cap_header_struct head = header();

	*ret_had = (struct sets){0};
	return syscall(SYS_capget, &head, ret_had->word) < 0 ? -errno : 0;
}

/* Of the capabilities that are had, those of the mask are left. */
static int keep(const struct sets *had, uint64_t mask)
{
	struct __user_cap_header_struct head = header();
	struct sets left = {0};
	const int bounding = drop_bounding_set(had);

	for (unsigned i = 0; i < 2; i++)
		left.word[i].permitted = left.word[i].effective = had->word[i].permitted & (uint32_t)(mask >> 32 * i);
	/* Ambient ones go with them. */
	return syscall(SYS_capset, &head, left.word) < 0 ? -errno : bounding;
}

#define MASK(capability) (UINT64_C(1) << (capability))

int hf_capabilities_drop(bool overriding, const char **ret_kept)
{
	struct sets had;
	uint64_t kept = 0;
	int err = get(&had);

	*ret_kept = "none";
	if (err)
		return err;
	if (has(&had, CAP_DAC_READ_SEARCH)) {
		kept = MASK(CAP_DAC_READ_SEARCH);
		*ret_kept = "dac_read_search";
	} else if (overriding && has(&had, CAP_DAC_OVERRIDE)) {
		kept = MASK(CAP_DAC_OVERRIDE);
		*ret_kept = "dac_override";
	}
	return keep(&had, kept);
}

int hf_capabilities_keep_unmounting(bool writes, bool *ret_can)
{
	struct sets had;
	int err = get(&had);

	*ret_can = !err && has(&had, CAP_SYS_ADMIN);
	if (err || !*ret_can)
		return err;
	return keep(&had, MASK(CAP_SYS_ADMIN) | MASK(CAP_DAC_READ_SEARCH) |
				  (writes || !has(&had, CAP_DAC_READ_SEARCH) ? MASK(CAP_DAC_OVERRIDE) : 0));
}
