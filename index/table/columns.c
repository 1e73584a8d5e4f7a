/* SPDX-License-Identifier: Apache-2.0 */
#include "index/table/columns.h"

#include "codecs/base/bytes.h"

enum form { PLAIN, FROM_ZERO, FROM_ROW, FROM_ROWS, FROM_COLUMN, FROM_TWICE, FROM_FOLLOW, FORMS };

/* Others are compared with so many columns at most: it takes time. */
#define MODELS 24

/* A column, of the rows that have it. */
struct column {
	const struct hf_follow *follow;
	uint64_t *v;		      /* all numbers */
	uint32_t number;	      /* of the column */
	uint32_t n;		      /* rows */
	uint32_t place[HF_PAGE_ROWS]; /* of each: where in v */
};

/* How a column is written, and which other one it is compared with. */
struct shape {
	enum form form;
	uint32_t model;
};

static void find_column(const struct hf_columns *c, uint32_t number, struct column *column)
{
	uint32_t start = 0;

	column->v = c->v;
	column->number = number;
	column->n = 0;
	for (uint32_t i = 0; i < c->rows; start = c->end[i++])
		if (c->end[i] - start > number)
			column->place[column->n++] = start + number;
}

static uint32_t columns_of(const struct hf_columns *c)
{
	uint32_t start = 0, most = 0;

	for (uint32_t i = 0; i < c->rows; start = c->end[i++])
		if (c->end[i] - start > most)
			most = c->end[i] - start;
	return most;
}

static const uint64_t *row_of(const struct column *c, uint32_t i)
{
	return &c->v[c->place[i] - c->number];
}

/* What the number of row i may be, from those before it and from the columns before it. */
static uint64_t guess(const struct column *c, struct shape shape, uint32_t i)
{
	const uint64_t before = i ? c->v[c->place[i - 1]] : 0;

	switch (shape.form) {
	case FROM_ROW:
		return before;
	case FROM_ROWS:
		return 2 * before - (i > 1 ? c->v[c->place[i - 2]] : 0);
	case FROM_COLUMN:
		return c->v[c->place[i] - (c->number - shape.model)];
	case FROM_TWICE:
		return 2 * c->v[c->place[i] - (c->number - shape.model)];
	case FROM_FOLLOW:
		return c->follow->guess(i ? row_of(c, i - 1) : NULL, row_of(c, i),
					i + 1 < c->n ? row_of(c, i + 1) : NULL);
	default:
		return 0;
	}
}

/* The distance as it is written. */
static uint64_t distance(uint64_t v, uint64_t guess, enum form form)
{
	const uint64_t d = v - guess;

	return form == FROM_ZERO ? d : d << 1 ^ (uint64_t) - (d >> 63);
}

static bool has_model(enum form form)
{
	return form == FROM_COLUMN || form == FROM_TWICE;
}

static uint32_t size_in(const struct column *c, struct shape shape)
{
	uint32_t n = 1 + (has_model(shape.form) ? hf_varint_size(shape.model) : 0);

	if (shape.form == PLAIN)
		return n + 8 * c->n;
	for (uint32_t i = 0; i < c->n; i++)
		n += hf_varint_size(distance(c->v[c->place[i]], guess(c, shape, i), shape.form));
	return n;
}

static void consider(const struct column *c, enum form form, uint32_t model, struct shape *best, uint32_t *size)
{
	const struct shape shape = {form, model};
	const uint32_t n = size_in(c, shape);

	if (n >= *size)
		return;
	*best = shape;
	*size = n;
}

/* Columns that were not guessed well: a later one may be like one of them. */
struct models {
	uint32_t n;
	uint32_t number[MODELS];
};

static struct shape choose(const struct column *c, struct models *models)
{
	struct shape best = {PLAIN, 0};
	uint32_t size = 1 + 8 * c->n;

	for (enum form form = FROM_ZERO; form <= FROM_ROWS; form++)
		consider(c, form, 0, &best, &size);
	if (c->follow && c->follow->column == c->number)
		consider(c, FROM_FOLLOW, 0, &best, &size);
	/* Nothing is like what is scattered, and a byte is hardly less. */
	if (best.form == PLAIN || best.form == FROM_FOLLOW || size < c->n + c->n / 4)
		return best;
	for (uint32_t i = 0; i < models->n; i++) {
		consider(c, FROM_COLUMN, models->number[i], &best, &size);
		consider(c, FROM_TWICE, models->number[i], &best, &size);
	}
	if (!has_model(best.form) && models->n < MODELS)
		models->number[models->n++] = c->number;
	return best;
}

static uint8_t *put_column(uint8_t *p, const struct column *c, struct shape shape)
{
	*p++ = (uint8_t)shape.form;
	if (has_model(shape.form))
		p = hf_put_varint(p, shape.model);
	for (uint32_t i = 0; i < c->n; i++) {
		const uint64_t v = c->v[c->place[i]];

		if (shape.form == PLAIN) {
			hf_put64(p, v);
			p += 8;
		} else {
			p = hf_put_varint(p, distance(v, guess(c, shape, i), shape.form));
		}
	}
	return p;
}

uint8_t *hf_columns_put(uint8_t *p, const struct hf_columns *c, const struct hf_follow *follow)
{
	const uint32_t count = columns_of(c);
	struct models models = {0};
	struct column column;

	column.follow = follow;
	for (uint32_t k = 0; k < count; k++) {
		find_column(c, k, &column);
		p = put_column(p, &column, choose(&column, &models));
	}
	return p;
}

static const uint8_t *get_shape(const uint8_t *p, const uint8_t *end, const struct column *c, struct shape *ret_shape)
{
	uint64_t model = 0;

	if (p == end || *p >= FORMS)
		return NULL;
	ret_shape->form = *p++;
	if (has_model(ret_shape->form)) {
		p = hf_get_varint(p, end, &model);
		if (!p || model >= c->number)
			return NULL;
	}
	ret_shape->model = (uint32_t)model;
	return ret_shape->form != FROM_FOLLOW || (c->follow && c->follow->column == c->number) ? p : NULL;
}

static const uint8_t *get_column(const uint8_t *p, const uint8_t *end, struct column *c)
{
	struct shape shape;
	uint64_t d;

	p = get_shape(p, end, c, &shape);
	if (!p || (shape.form == PLAIN && (size_t)(end - p) < 8 * (size_t)c->n))
		return NULL;
	for (uint32_t i = 0; i < c->n && p; i++) {
		uint64_t *v = &c->v[c->place[i]];

		if (shape.form == PLAIN) {
			*v = hf_get64(p);
			p += 8;
			continue;
		}
		p = hf_get_varint(p, end, &d);
		if (p)
			*v = guess(c, shape, i) + (shape.form == FROM_ZERO ? d : d >> 1 ^ -(d & 1));
	}
	return p;
}

const uint8_t *hf_columns_get(const uint8_t *p, const uint8_t *end, struct hf_columns *c,
			      const struct hf_follow *follow)
{
	const uint32_t count = columns_of(c);
	struct column column;

	column.follow = follow;
	for (uint32_t k = 0; k < count && p; k++) {
		find_column(c, k, &column);
		p = get_column(p, end, &column);
	}
	return p;
}
