/* SPDX-License-Identifier: Apache-2.0 */
#include "mountd/sandbox.h"

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

int hf_capabilities_drop(bool overriding, const char **ret_kept)
{
	struct __user_cap_header_struct head = header();
	struct sets had = {0}, keep = {0};
	unsigned kept;
	int err, bounding;

	*ret_kept = "none";
	if (syscall(SYS_capget, &head, had.word) < 0)
		return -errno;
	bounding = drop_bounding_set(&had);
	if (has(&had, CAP_DAC_READ_SEARCH) || (overriding && has(&had, CAP_DAC_OVERRIDE))) {
		kept = has(&had, CAP_DAC_READ_SEARCH) ? CAP_DAC_READ_SEARCH : CAP_DAC_OVERRIDE;
		*ret_kept = kept == CAP_DAC_READ_SEARCH ? "dac_read_search" : "dac_override";
		keep.word[CAP_TO_INDEX(kept)].permitted = keep.word[CAP_TO_INDEX(kept)].effective = CAP_TO_MASK(kept);
	}
	head = header();
	/* Ambient ones go with them. */
	err = syscall(SYS_capset, &head, keep.word) < 0 ? -errno : 0;
	return err ? err : bounding;
}
