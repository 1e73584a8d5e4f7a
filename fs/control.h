/*
 * The directory .hartfs: what the file system is doing, as files.
 */
#ifndef HF_FS_CONTROL_H
#define HF_FS_CONTROL_H

#include "codecs/base/sink.h"
#include "fs/fs.h"

#include <pthread.h>

/* A view directory that does not have the name it should have. */
struct hf_substitute {
	char *path; /* of the capture */
	char *name; /* the last component of its view directory */
};

#define HF_SUBSTITUTES_MAX 1000

struct hf_control {
	pthread_mutex_t lock;
	struct hf_substitute *substitute;
	size_t count, more; /* more: not kept */
};

void hf_control_init(struct hf_control *control);
void hf_control_fini(struct hf_control *control);

/* Notes a substitute; the same again is nothing new. */
void hf_control_substitute(struct hf_control *control, const char *path, const char *name);

void hf_control_status(struct hf_fs *fs, struct hf_sink *sink);
void hf_control_progress(struct hf_fs *fs, struct hf_sink *sink);
/* metrics.c */
void hf_control_metrics(struct hf_fs *fs, struct hf_sink *sink);

#endif
