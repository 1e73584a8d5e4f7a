/* SPDX-License-Identifier: Apache-2.0 */
/* Names of C++ and Rust, and names that would become gigabytes. */
#include "codecs/image/demangle.h"
#include "tests/lib/check.h"

#include <time.h>

static struct hf_demangler demangler;

static void check(const char *name, const char *expected)
{
	const size_t size = hf_demangle(&demangler, name);

	CHECK_STR(size ? demangler.text : "", expected);
	CHECK_EQ(size, strlen(expected));
}

static void check_names(void)
{
	check("main", "");
	check("", "");
	check("_Z", "");
	check("_start", "");
	check("_Z6insertPiii", "insert(int*, int, int)");
	check("_ZNSt6vectorIiSaIiEE9push_backERKi", "std::vector<int, std::allocator<int> >::push_back(int const&)");
	check("_ZN4tree6insertEi.constprop.0", "tree::insert(int) [clone .constprop.0]");
	check("_ZN4tree6insertEi.cold", "tree::insert(int) [clone .cold]");
	check("_ZNSo3putEc@plt", "std::ostream::put(char)@plt");
	check("_ZNSo3putEc@GLIBCXX_3.4", "std::ostream::put(char)@GLIBCXX_3.4");
	check("_ZN3foo3bar17h05af221e174051e9E", "foo::bar");
	check("_RNvCskwGfYPst2Cb_3foo16example_function", "foo::example_function");
	check("_RNvCskwGfYPst2Cb_3foo16example_functio", "");
}

/* Each step doubles the name: a template argument that holds the one before twice. */
static void check_growth(unsigned steps)
{
	static const char digits[] = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";
	char name[1024] = "_Z1f1XIiiES_IS0_S0_E", *p = name + strlen(name);

	for (unsigned i = 1; i < steps; i++)
		p += sprintf(p, "S_IS%c_S%c_E", digits[i], digits[i]);
	CHECK_EQ(hf_demangle(&demangler, name), 0);
}

static void check_limits(void)
{
	char name[2 * HF_DEMANGLE_MAX] = "_Z";
	const clock_t begin = clock();

	check_growth(24);
	check_growth(35);
	memset(name + 2, 'P', sizeof name - 3);
	CHECK_EQ(hf_demangle(&demangler, name), 0);
	name[HF_DEMANGLE_MAX - 2] = '\0';
	CHECK_EQ(hf_demangle(&demangler, name), 0);
	name[1] = 'R';
	CHECK_EQ(hf_demangle(&demangler, name), 0);
	CHECK((clock() - begin) / CLOCKS_PER_SEC < 2);
}

int main(void)
{
	check_names();
	check_limits();
	return 0;
}
