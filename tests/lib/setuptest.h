/* Codecs for tests of descriptions, whatever is built in: "toy" with parameters, "ete" and "rv" with a machine. */
#ifndef HF_TEST_SETUPTEST_H
#define HF_TEST_SETUPTEST_H

#include "codecs/codec.h"

/* Puts them in the place of hf_codecs. */
void hf_setup_test_codecs(void);

#endif
