/* SPDX-License-Identifier: Apache-2.0 */
/* Parameters of views by a table: what is taken, what is refused in which words, what stays as it was. */
#include "codecs/base/errors.h"
#include "codecs/base/params.h"
#include "tests/lib/check.h"

static const char *const words[] = {"all", "taken", "open", NULL}, *const two[] = {"a", "b", NULL};
/* "1+2" is 3 */
static bool read_sum(const char *text, size_t n, uint64_t *ret_value)
{
	if (n != 3 || text[1] != '+')
		return false;
	*ret_value = (uint64_t)(text[0] - '0' + text[2] - '0');
	return true;
}

static const struct hf_param table[] = {HF_PARAM_NUMBER("width", 64), HF_PARAM_WORD("only", words),
					HF_PARAM_WORD("form", two), HF_PARAM_NUMBER("most", UINT64_MAX),
					HF_PARAM_READ("sum", read_sum, "a sum"), HF_PARAM_END};
enum { ROWS = sizeof table / sizeof *table - 1 };

static void takes(const char *params, uint64_t width, uint64_t only, uint64_t form, uint64_t most)
{
	uint64_t value[ROWS] = {7, 7, 7, 7, 7};
	char why[100];

	CHECK_EQ(hf_params_parse(params, table, "toy", value, why, sizeof why), 0);
	CHECK_EQ(value[0], width);
	CHECK_EQ(value[1], only);
	CHECK_EQ(value[2], form);
	CHECK_EQ(value[3], most);
	CHECK_EQ(value[4], params && strstr(params, "sum=") ? 3 : 7);
}

static void refuses(const char *params, const char *because)
{
	uint64_t value[ROWS];
	char why[100], cut[8];

	CHECK_EQ(hf_params_parse(params, table, "toy", value, why, sizeof why), HF_ERR_SETUP_VALUE);
	CHECK_STR(why, because);
	CHECK_EQ(hf_params_parse(params, table, "toy", value, NULL, 0), HF_ERR_SETUP_VALUE);
	CHECK_EQ(hf_params_parse(params, table, "toy", value, cut, sizeof cut), HF_ERR_SETUP_VALUE);
	CHECK(strncmp(cut, because, sizeof cut - 1) == 0);
}

int main(void)
{
	takes(NULL, 7, 7, 7, 7);
	takes("", 7, 7, 7, 7);
	takes("width=64", 64, 7, 7, 7);
	takes("form=b,most=18446744073709551615,only=open,width=0x10", 16, 2, 1, UINT64_MAX);
	takes("only=all", 7, 0, 7, 7);
	takes("sum=1+2", 7, 7, 7, 7);
	takes("form=b,sum=2+1,width=3", 3, 7, 1, 7);
	refuses("sum=12", "sum must be a sum");
	refuses("width=3,sum=", "sum must be a sum");
	refuses("width=65", "width must be a number from 0 to 64");
	refuses("width=", "width must be a number from 0 to 64");
	refuses("width=3x", "width must be a number from 0 to 64");
	refuses("width", "width must be a number from 0 to 64");
	refuses("only=al", "only must be all, taken or open");
	refuses("form=a,only=", "only must be all, taken or open");
	refuses("form=c", "form must be a or b");
	refuses("onyl=all", "toy has no parameter 'onyl' (did you mean 'only'?)");
	refuses("form=a,=3", "toy has no parameter ''");
	return 0;
}
