/* SPDX-License-Identifier: Apache-2.0 */
#include "codecs/isa/llvm.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>

#ifdef HARTFS_LLVM_LIBRARY
#include <dlfcn.h>

static struct hf_llvm llvm;
static char error[256];

static bool find(void *library, const char *name, void *ret_function)
{
	void *function = dlsym(library, name);

	if (!function)
		snprintf(error, sizeof error, "%s has no %s", HARTFS_LLVM_LIBRARY, name);
	*(void **)ret_function = function;
	return function;
}

static bool get(void)
{
	/* Never closed: what it registered cannot be taken back. */
	void *library = dlopen(HARTFS_LLVM_LIBRARY, RTLD_NOW | RTLD_LOCAL);

	if (!library) {
		snprintf(error, sizeof error, "%s", dlerror());
		return false;
	}
#define HF_LLVM(function)                              \
	if (!find(library, #function, &llvm.function)) \
		return false;
#include "codecs/isa/llvm.def"
	return true;
}
#else
static const char error[1];
static const struct hf_llvm llvm = {
#define HF_LLVM(function) .function = function,
#include "codecs/isa/llvm.def"
};

static bool get(void)
{
	return true;
}
#endif

static bool loaded, failed;
static char version[32] = "LLVM " LLVM_VERSION_STRING;

static void initialise(void)
{
	llvm.LLVMInitializeRISCVTargetInfo();
	llvm.LLVMInitializeRISCVTargetMC();
	llvm.LLVMInitializeRISCVDisassembler();
	llvm.LLVMInitializeAArch64TargetInfo();
	llvm.LLVMInitializeAArch64TargetMC();
	llvm.LLVMInitializeAArch64Disassembler();
	llvm.LLVMInitializeARMTargetInfo();
	llvm.LLVMInitializeARMTargetMC();
	llvm.LLVMInitializeARMDisassembler();
#if LLVM_VERSION_MAJOR >= 16
	unsigned major, minor, patch;

	llvm.LLVMGetVersion(&major, &minor, &patch);
	snprintf(version, sizeof version, "LLVM %u.%u.%u", major, minor, patch);
#endif
}

static void load(void)
{
	loaded = get();
	failed = !loaded;
	if (loaded)
		initialise();
}

const struct hf_llvm *hf_llvm_load(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, load);
	return loaded ? &llvm : NULL;
}

const char *hf_llvm_error(void)
{
	return failed ? error : NULL;
}

const char *hf_llvm_version(void)
{
	return version;
}
