#include "codecs/ntrace/params.h"

#include "codecs/isa/riscv.h"

const char *const hf_ntrace_parameters[] = {
	"srcbits",     "xlen",    "addr_msb_ext", "implicit_return", "implicit_return_depth", "sequential_jump", "all_jumps",
	"wrap_offset", "wrapped", "zcmp",	  "zcmt",	     NULL,
};

struct reading {
	const struct hf_setup *setup;
	uint32_t hart;
	struct hf_diag *diag;
	int err;
};

/* The first error stays; what comes after it is the fallback. */
static uint64_t number(struct reading *r, const char *key, uint64_t max, uint64_t fallback)
{
	uint64_t v = fallback;

	if (!r->err)
		r->err = hf_setup_number(r->setup, r->hart, key, max, fallback, &v, r->diag);
	return r->err ? fallback : v;
}

static bool flag(struct reading *r, const char *key, bool fallback)
{
	return number(r, key, 1, fallback) != 0;
}

/* xlen is the program's if nobody says it. */
static uint8_t read_xlen(struct reading *r)
{
	const struct hf_program *program =
		hf_setup_program(r->setup, r->hart, HF_SETUP_NO_CONTEXT, HF_MEMORY_ANY);
	const uint64_t xlen = number(r, "xlen", 64, program && program->xlen == 32 ? 32 : 64);

	if (!r->err && xlen != 32 && xlen != 64)
		r->err = hf_diag_set(r->diag, HF_ERR_SETUP_VALUE, HF_SPACE_FILE, HF_NOWHERE,
				     hf_setup_get(r->setup, r->hart, "xlen")->line);
	return (uint8_t)xlen;
}

int hf_ntrace_params_read(const struct hf_setup *setup, uint32_t hart, struct hf_ntrace_params *ret_params,
			  struct hf_diag *diag)
{
	struct reading r = {.setup = setup, .hart = hart, .diag = diag};
	struct hf_ntrace_params p = {.xlen = read_xlen(&r)};

	p.srcbits = (uint8_t)number(&r, "srcbits", HF_NTRACE_SRCBITS_MAX, 0);
	p.addr_msb_ext = flag(&r, "addr_msb_ext", false);
	/* The depth is the encoder's; a decoder always keeps 32 addresses (9.2). */
	p.implicit_return = flag(&r, "implicit_return", number(&r, "implicit_return_depth", 32, 0) != 0);
	p.sequential_jump = flag(&r, "sequential_jump", false);
	p.all_jumps = flag(&r, "all_jumps", false);
	p.wrap_offset = number(&r, "wrap_offset", INT64_MAX, 0);
	p.wrapped = flag(&r, "wrapped", p.wrap_offset != 0);
	p.isa = p.xlen;
	p.isa |= flag(&r, "zcmp", false) ? HF_RISCV_ZCMP : 0;
	p.isa |= flag(&r, "zcmt", false) ? HF_RISCV_ZCMT : 0;
	*ret_params = p;
	return r.err;
}
