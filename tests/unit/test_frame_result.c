/* SPDX-License-Identifier: Apache-2.0 */
/* Names of C++ without the type of their result, which stands before those of templates alone. */
#include "fs/profile/frames.h"
#include "tests/lib/check.h"

#include <string.h>

static void check(const char *name, const char *want)
{
	CHECK_STR(name + hf_frame_result(name, strlen(name)), want);
}

int main(void)
{
	check("main", "main");
	check("", "");
	check("f(int, char const*)", "f(int, char const*)");
	check("int add<int>(int, int)", "add<int>(int, int)");
	check("unsigned long const& std::max<unsigned long>(unsigned long const&, unsigned long const&)",
	      "std::max<unsigned long>(unsigned long const&, unsigned long const&)");
	check("std::vector<int, std::allocator<int> >& f<std::map<int, char> >(int) const", "f<std::map<int, char> >(int) const");
	check("A<int>::f(int)", "A<int>::f(int)");
	check("(anonymous namespace)::f(int)", "(anonymous namespace)::f(int)");
	check("void (anonymous namespace)::f<int>(int)", "(anonymous namespace)::f<int>(int)");
	check("operator new(unsigned long)", "operator new(unsigned long)");
	check("A::operator unsigned long() const", "A::operator unsigned long() const");
	check("bool operator< <int>(A<int> const&)", "operator< <int>(A<int> const&)");
	check("std::ostream& std::operator<< <char>(std::ostream&)", "std::operator<< <char>(std::ostream&)");
	check("A::operator()(int) const", "A::operator()(int) const");
	check("non-virtual thunk to A::f()", "non-virtual thunk to A::f()");
	check("decltype (x) f<int>(int)", "decltype (x) f<int>(int)");
	check("void (*g<int>())(int)", "void (*g<int>())(int)");
	check("f(int) [clone .part.0]", "f(int) [clone .part.0]");
	check("<alloc::vec::Vec<T> as core::ops::Drop>::drop", "<alloc::vec::Vec<T> as core::ops::Drop>::drop");
	check("main::{lambda(int)#1}::operator()(int) const", "main::{lambda(int)#1}::operator()(int) const");
	return 0;
}
