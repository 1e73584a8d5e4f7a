/* SPDX-License-Identifier: Apache-2.0 */
#include "codecs/isa/llvm.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#ifdef HARTFS_LLVM_LIBRARY
#include <dlfcn.h>
#include <limits.h>
#include <string.h>
#include <unistd.h>

static struct hf_llvm llvm;
static char error[256];

/* Libraries that are loaded are never closed: what they registered cannot be taken back. */
static void *open_library(const char *path)
{
	return dlopen(path, RTLD_NOW | RTLD_LOCAL);
}

#ifdef HARTFS_LLVM_FROM_BIN
#define MODULE "hartfs_llvm.so"

/* From where the file at path lies: a program of the build directory, one of its tests, an installed program, an
 * installed library. */
static void *open_module_near(const char *path)
{
	static const char *const places[] = {"", "../", HARTFS_LLVM_FROM_BIN "/", "hartfs/"};
	char real[PATH_MAX], module[PATH_MAX];
	void *library = NULL;
	char *slash;

	if (!realpath(path, real) || !(slash = strrchr(real, '/')))
		return NULL;
	slash[1] = '\0';
	for (size_t i = 0; !library && i < sizeof places / sizeof places[0]; i++)
		if (snprintf(module, sizeof module, "%s%s" MODULE, real, places[i]) < (int)sizeof module &&
		    access(module, R_OK) == 0)
			library = open_library(module);
	return library;
}

/* Near what this code is a part of, which may be a library; of a program the name it was called by need not be its place. */
static void *open_module(void)
{
	Dl_info info;
	void *library = NULL;

	if (dladdr((const void *)&hf_llvm_load, &info) && info.dli_fname && strchr(info.dli_fname, '/'))
		library = open_module_near(info.dli_fname);
	if (!library)
		library = open_module_near("/proc/self/exe");
	return library ? library : open_library(HARTFS_LLVM_INSTALLED "/" MODULE);
}
#else
static void *open_module(void)
{
	return NULL;
}
#endif

static bool find(void *library, const char *name, void *ret_function)
{
	void *function = dlsym(library, name);

	if (!function)
		snprintf(error, sizeof error, "LLVM's library has no %s", name);
	*(void **)ret_function = function;
	return function;
}

static bool get(void)
{
	void *library = open_module();

	if (!library)
		library = open_library(HARTFS_LLVM_LIBRARY);
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

static bool loaded, failed, needless;
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
	loaded = !needless && get();
	failed = !loaded && !needless;
	if (loaded)
		initialise();
}

const struct hf_llvm *hf_llvm_load(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, load);
	return loaded ? &llvm : NULL;
}

void hf_llvm_leave(void)
{
	needless = true;
}

const char *hf_llvm_error(void)
{
	return failed ? error : NULL;
}

const char *hf_llvm_version(void)
{
	return version;
}
