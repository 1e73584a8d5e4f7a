/* SPDX-License-Identifier: Apache-2.0 */
#include "fs/profile/overview_parts.h"
#include "fs/profile/embedded.h"
#include "fs/profile/pictures.h"

#include <inttypes.h>

void hf_overview_open(struct hf_overview *o, uint32_t height)
{
	char name[HF_PICTURE_HART];

	hf_svg_open(&o->svg, "svg",
		    "xmlns=\"http://www.w3.org/2000/svg\" class=\"ov\" width=\"100%%\" height=\"%" PRIu32
		    "\" role=\"group\" aria-label=\"overview of %s\"",
		    height, hf_picture_hart(o->of, name));
	hf_svg_open_plain(&o->svg, "style");
	hf_sink_write(o->svg.sink, hf_embedded_overview_css.bytes, hf_embedded_overview_css.size);
	hf_svg_close(&o->svg);
}

void hf_overview_open_plot(struct hf_overview *o, uint32_t height, uint32_t width_units, uint32_t height_units)
{
	hf_svg_open(&o->svg, "svg",
		    "x=\"%d%%\" y=\"%" PRIu32 "\" width=\"%d%%\" height=\"%" PRIu32 "\" viewBox=\"0 0 %" PRIu32
		    " %" PRIu32 "\" preserveAspectRatio=\"none\"",
		    HF_OVERVIEW_PLOT_X / 100, o->y, HF_OVERVIEW_PLOT_W / 100, height, width_units, height_units);
	hf_svg_put(&o->svg, "rect", "class=\"ov-frame\" width=\"100%%\" height=\"100%%\"");
}

void hf_overview_open_label(struct hf_overview *o, const char *class, uint32_t y)
{
	hf_svg_open(&o->svg, "svg", "y=\"%" PRIu32 "\" width=\"%d%%\" height=\"%d\"", y, HF_OVERVIEW_PLOT_X / 100,
		    HF_OVERVIEW_LABEL + 2);
	hf_svg_open(&o->svg, "text", "class=\"ov-place %s\" x=\"2\" y=\"10\"", class);
}

void hf_overview_close_label(struct hf_overview *o)
{
	hf_svg_close(&o->svg);
	hf_svg_close(&o->svg);
}

void hf_overview_open_line(struct hf_overview *o, uint32_t y)
{
	hf_svg_open(&o->svg, "svg", "x=\"%d%%\" y=\"%" PRIu32 "\" width=\"%d%%\" height=\"%d\"",
		    HF_OVERVIEW_PLOT_X / 100, y, HF_OVERVIEW_PLOT_W / 100, HF_OVERVIEW_HEAD);
}

void hf_overview_put_swatch(struct hf_overview *o, uint32_t x, uint32_t colour, const char *class)
{
	hf_svg_put(&o->svg, "rect",
		   "class=\"%s\" x=\"%" PRIu32 "\" y=\"3\" width=\"10\" height=\"10\" fill=\"#%06" PRIx32 "\"", class,
		   x, colour);
}

void hf_overview_open_text(struct hf_overview *o, const char *class, uint32_t x)
{
	hf_svg_open(&o->svg, "text", "class=\"%s\" x=\"%" PRIu32 "\" y=\"12\"", class, x);
}
