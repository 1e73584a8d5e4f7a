/* SPDX-License-Identifier: Apache-2.0 */
/* What the parts of an overview share. Internal to fs/profile/. */
#ifndef HF_FS_PROFILE_OVERVIEW_PARTS_H
#define HF_FS_PROFILE_OVERVIEW_PARTS_H

#include "fs/profile/overview_map.h"
#include "fs/profile/svg.h"
#include "fs/profile/timeline.h"

enum {
	/* Pixels from top to bottom. */
	HF_OVERVIEW_MODES_AT = 84,
	HF_OVERVIEW_MODES = 20,
	HF_OVERVIEW_LANE = 22,
	HF_OVERVIEW_DEPTH = 44,
	HF_OVERVIEW_HEAD = 17,
	HF_OVERVIEW_SPACE = 5,
	HF_OVERVIEW_LABEL = 12, /* between labels */
	HF_OVERVIEW_AXIS = 24,
};

/* Where the plots begin, and their width: hundredths of a percent. A label to their left has room for 11 letters where the
 * picture is 600 pixels wide, and a line across the picture for so many: */
enum { HF_OVERVIEW_PLOT_X = 1200, HF_OVERVIEW_PLOT_W = 8700, HF_OVERVIEW_LETTERS = 86 };

struct hf_overview {
	const struct hf_profiled *of;
	struct hf_timeline *t;
	struct hf_map_drawing code, data;
	struct hf_svg svg;
	uint32_t y; /* what was drawn ends here */
	/* At the beginning of each part, and at the end of all, what time it was, if it is known. */
	bool timed[HF_HOTTEST_PARTS + 1];
	uint64_t time[HF_HOTTEST_PARTS + 1];
	bool common;	/* that is what the picture is about: there are as many instructions in a part as there are */
	const char *at; /* what links to slices begin with */
	uint64_t heap_first, heap_end; /* the heap lies between these addresses; equal or less: where is not known */
};

/* The picture, to be closed. */
void hf_overview_open(struct hf_overview *o, uint32_t height);
/* A plot of that height, whose units are columns and, from top to bottom, height units. It is to be closed. */
void hf_overview_open_plot(struct hf_overview *o, uint32_t height, uint32_t width_units, uint32_t height_units);
/* Text to the left of the plots, cut where these begin. */
void hf_overview_open_label(struct hf_overview *o, const char *class, uint32_t y);
void hf_overview_close_label(struct hf_overview *o);
/* A line above a plot, which begins where that does; its units are pixels. */
void hf_overview_open_line(struct hf_overview *o, uint32_t y);
void hf_overview_put_swatch(struct hf_overview *o, uint32_t x, uint32_t colour, const char *class);
void hf_overview_open_text(struct hf_overview *o, const char *class, uint32_t x);

/* Fills height points of a column, the first of which is point: each of n shares has its part of them, as numbers from 1 on,
 * and at least one if it is not 0; the last one is on top. All are empty if all shares are 0. */
enum { HF_OVERVIEW_SHARES = 8 };
void hf_overview_fill_column(uint8_t *point, uint32_t width, uint32_t height, const float *share, unsigned n);

/* Modes by what was executed in them: what their colours mean, their plot, and in words. */
void hf_overview_put_legend(struct hf_overview *o);
int hf_overview_put_modes(struct hf_overview *o);
void hf_overview_say_modes(struct hf_overview *o);
/* Traps and losses: a lane of marks for each kind that there is. */
unsigned hf_overview_lanes(const struct hf_timeline *t);
void hf_overview_put_lanes(struct hf_overview *o);
void hf_overview_say_mark(struct hf_overview *o, unsigned mark);
bool hf_overview_is_user(const struct hf_timeline *t); /* nothing was executed in any other mode that is known */
/* The depth of calls. */
void hf_overview_put_depth(struct hf_overview *o);

/* The axis, of ordinals and, if they are known, of times, and its height; or a line of it, with every step-th number. */
void hf_overview_put_axis(struct hf_overview *o);
uint32_t hf_overview_axis(const struct hf_overview *o);
void hf_overview_put_scale(struct hf_overview *o, const char *name, bool time, uint32_t step);
/* Over the plots from there on: each part leads to its slice. */
void hf_overview_put_links(struct hf_overview *o, uint32_t from);

/* Looks at some chunks of the hart for what o says of times and of data. Errors as hf_timeline_make. */
int hf_overview_look(struct hf_overview *o);
/* What memory that lies together is called: its address; files, of data also their parts; heap and stack; and most, the
 * function that executes most, if there is one and it does not stand for several files. At most HF_OVERVIEW_LETTERS. */
void hf_overview_say_place(struct hf_overview *o, const struct hf_map_drawing *d, const struct hf_map_group *group,
			   const struct hf_symbol *most);

#endif
