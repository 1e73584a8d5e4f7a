/* SPDX-License-Identifier: Apache-2.0 */
#include "fs/capture/captures.h"
#include "fs/capture/open_capture.h"
#include "index/summary/summary.h"

int hf_open_summary(const struct hf_open *open, struct hf_summary **ret_summary)
{
	int err = hf_summary_open(open->capture->all->index_fd, &open->trace.identity, ret_summary);

	if (err || hf_summary_fits(*ret_summary, open->index))
		return err;
	hf_summary_close(*ret_summary);
	*ret_summary = NULL;
	return HF_ERR_NOT_FOUND;
}

bool hf_capture_has_summary(const struct hf_capture *capture, const struct hf_facts *facts)
{
	return hf_summary_is_there(capture->all->index_fd, facts->known.files);
}
