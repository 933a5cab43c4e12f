/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sim/workload.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct ct_workload *ct_workload_new(void)
{
	struct ct_workload *w = ct_calloc(1, sizeof *w);

	ct_strings_init(&w->strings);
	return w;
}

void ct_workload_free(struct ct_workload *w)
{
	if (!w)
		return;
	for (size_t i = 0; i < w->n_columns; i++)
		free(w->columns[i].value);
	free(w->columns);
	free(w->jobs);
	ct_strings_fini(&w->strings);
	ct_arena_fini(&w->arena);
	free(w);
}

const char *ct_workload_text(struct ct_workload *w, const char *s, size_t n)
{
	return ct_arena_text(&w->arena, s, n);
}

uint32_t ct_workload_add(struct ct_workload *w, const struct ct_job *job)
{
	struct ct_job *j;

	CT_CHECK(NULL, !w->sealed, "job added to a sealed workload");
	CT_CHECK(NULL, w->n < UINT32_MAX - 1, "more than 2^32 - 2 jobs");
	CT_GROW(w->jobs, w->cap, w->n + 1);
	j = &w->jobs[w->n];
	*j = *job;
	if (!j->min_gpus)
		j->min_gpus = j->num_gpus;
	if (!j->max_gpus)
		j->max_gpus = j->num_gpus;
	return (uint32_t)w->n++;
}

size_t ct_workload_column(struct ct_workload *w, const char *name)
{
	for (size_t i = 0; i < w->n_columns; i++)
		if (!strcmp(w->columns[i].name, name))
			return i;
	CT_CHECK(NULL, !w->sealed, "column added to a sealed workload");
	CT_GROW(w->columns, w->cap_columns, w->n_columns + 1);
	w->columns[w->n_columns] = (struct ct_extra_column){ .name = ct_arena_text(&w->arena, name, strlen(name)) };
	return w->n_columns++;
}

/* Room for `n` values; those never set are the empty string. */
static void reserve_column(struct ct_extra_column *c, size_t n)
{
	size_t old = c->cap;

	CT_GROW(c->value, c->cap, n);
	if (c->cap > old)
		memset(c->value + old, 0, (c->cap - old) * sizeof *c->value);
}

void ct_workload_set_extra(struct ct_workload *w, size_t column, uint32_t job, const char *text, size_t n)
{
	CT_CHECK(NULL, !w->sealed, "sealed workload changed");
	CT_CHECK(NULL, column < w->n_columns && job < w->n, "column %zu of %zu, job %u of %zu", column, w->n_columns,
		 job, w->n);
	reserve_column(&w->columns[column], (size_t)job + 1);
	w->columns[column].value[job] = ct_strings_add(&w->strings, text, n);
}

void ct_workload_count(struct ct_workload *w, const char *rule, const char *meaning, uint64_t rows, int dropped)
{
	struct ct_import_report *r = &w->report;
	unsigned i = 0;

	if (!rows)
		return;
	while (i < r->n_rules && strcmp(r->rules[i].rule, rule))
		i++;
	if (i == r->n_rules) {
		CT_CHECK(NULL, i < CT_RULES, "more than %d cleaning rules", CT_RULES);
		r->rules[r->n_rules++] = (struct ct_rule_count){ .rule = rule, .meaning = meaning, .dropped = dropped };
	}
	r->rules[i].rows += rows;
}

/* ---- seal: what every reader must have got right */

static struct ct_loc place(const struct ct_workload *w, const struct ct_job *j)
{
	return (struct ct_loc){ .file = w->report.source ? w->report.source : "workload", .line = j->line };
}

#define REFUSE(w, j, err, ...)                                   \
	do {                                                     \
		struct ct_loc at_ = place((w), (j));             \
		ct_err_add((err), CT_ETRACE, &at_, __VA_ARGS__); \
	} while (0)

/* Names follow the canonical columns of traces/; times are shown in seconds. */
static void refuse_time(const struct ct_workload *w, const struct ct_job *j, const char *name, ct_time t,
			const char *wanted, struct ct_err *err)
{
	char text[CT_TIME_TEXT];

	ct_time_format(t, text);
	REFUSE(w, j, err, "'%s' of job '%s' wants %s, got %s", name, j->id, wanted, text);
}

static void check_times(const struct ct_workload *w, const struct ct_job *j, struct ct_err *err)
{
	if (j->submit_us < 0 || j->submit_us > CT_TIME_LIMIT)
		refuse_time(w, j, "submit_time", j->submit_us, "seconds from 0 to 288230376151", err);
	if (j->duration_us < 1 || j->duration_us > CT_DURATION_LIMIT)
		refuse_time(w, j, "duration", j->duration_us, "seconds above 0 and up to 9007199254", err);
	if (j->requested_us < -1 || j->requested_us > CT_TIME_LIMIT)
		refuse_time(w, j, "requested_time", j->requested_us, "seconds from 0 to 288230376151, or none", err);
	if (j->deadline_us < -1 || j->deadline_us > CT_TIME_LIMIT)
		refuse_time(w, j, "deadline", j->deadline_us, "seconds from 0 to 288230376151, or none", err);
}

static void check_sizes(const struct ct_workload *w, const struct ct_job *j, struct ct_err *err)
{
	if (j->num_gpus < 1 && !j->cpu_milli)
		REFUSE(w, j, err, "'num_gpus' of job '%s' wants at least 1, got 0", j->id);
	else if (j->min_gpus > j->num_gpus || j->max_gpus < j->num_gpus)
		REFUSE(w, j, err, "job '%s' wants min_gpus <= num_gpus <= max_gpus, got %u, %u, %u", j->id, j->min_gpus,
		       j->num_gpus, j->max_gpus);
	if (j->gpu_milli < 1 || j->gpu_milli > 1000)
		REFUSE(w, j, err, "'gpu_milli' of job '%s' wants 1 to 1000, got %u", j->id, j->gpu_milli);
	if (j->sm_frac < 0 || j->sm_frac > 1)
		REFUSE(w, j, err, "'sm_frac' of job '%s' wants 0 to 1, got %g", j->id, (double)j->sm_frac);
}

static void check_strings(const struct ct_workload *w, const struct ct_job *j)
{
	size_t n = w->strings.n;

	CT_CHECK(NULL,
		 j->user < n && j->group < n && j->model < n && j->partition < n && j->gpu_type < n && j->state < n,
		 "job '%s' names a string that the workload does not have", j->id);
}

static void check_jobs(const struct ct_workload *w, struct ct_err *err)
{
	ct_time work = 0;

	for (size_t i = 0; i < w->n; i++) {
		const struct ct_job *j = &w->jobs[i];

		if (!j->id || !*j->id) {
			REFUSE(w, j, err, "a job wants an id");
			continue;
		}
		check_strings(w, j);
		check_times(w, j, err);
		check_sizes(w, j, err);
		if (j->duration_us < 1 || j->duration_us > CT_DURATION_LIMIT || work > CT_TIME_LIMIT)
			continue;
		work += j->duration_us;
		if (work > CT_TIME_LIMIT)
			REFUSE(w, j, err, "the durations up to job '%s' add up to more than 288230376151 seconds",
			       j->id);
	}
}

/* ---- unique ids
 *
 * Open addressing over job numbers with the upper half of the hash as a tag: the
 * texts are already kept, so nothing is copied. A million ids take a fifth of the
 * time of uthash, which would need a 56-byte header for each. */

struct id_cell {
	uint32_t tag, job_plus_1; /* 0 = free */
};

static uint64_t hash_id(const char *s)
{
	uint64_t h = UINT64_C(0xcbf29ce484222325); /* FNV-1a, then mixed for its upper bits */

	for (; *s; s++)
		h = (h ^ (unsigned char)*s) * UINT64_C(0x100000001b3);
	h ^= h >> 32;
	return h * UINT64_C(0x9E3779B97F4A7C15);
}

/* The earlier job of the same id, or NULL and `job` is now in the table. */
static const struct ct_job *find_or_insert_id(struct id_cell *table, unsigned log2_size, const struct ct_workload *w,
					      uint32_t job)
{
	uint64_t h = hash_id(w->jobs[job].id);
	size_t mask = ((size_t)1 << log2_size) - 1, at = (size_t)(h >> (64 - log2_size));

	for (; table[at].job_plus_1; at = (at + 1) & mask) {
		const struct ct_job *other = &w->jobs[table[at].job_plus_1 - 1];

		if (table[at].tag == (uint32_t)h && !strcmp(other->id, w->jobs[job].id))
			return other;
	}
	table[at] = (struct id_cell){ .tag = (uint32_t)h, .job_plus_1 = job + 1 };
	return NULL;
}

/* Numbered jobs stand in order, shorter ids first: then no two are the same. */
static int ids_ascend(const struct ct_workload *w)
{
	const char *last = "";
	size_t last_n = 0;

	for (size_t i = 0; i < w->n; i++) {
		const char *id = w->jobs[i].id ? w->jobs[i].id : "";
		size_t n = strlen(id);

		if (n < last_n || (n == last_n && memcmp(id, last, n) <= 0))
			return 0;
		last = id;
		last_n = n;
	}
	return 1;
}

static void check_ids(const struct ct_workload *w, struct ct_err *err)
{
	unsigned log2_size = 4;
	struct id_cell *table;

	if (ids_ascend(w))
		return;
	while ((size_t)1 << log2_size < w->n + w->n / 2)
		log2_size++;
	table = ct_calloc((size_t)1 << log2_size, sizeof *table);
	for (uint32_t i = 0; i < w->n; i++) {
		const struct ct_job *j = &w->jobs[i], *earlier;

		if (!j->id || !*j->id)
			continue; /* already refused */
		earlier = find_or_insert_id(table, log2_size, w, i);
		if (earlier && earlier->line)
			REFUSE(w, j, err, "job id '%s' was used before, in line %u", j->id, earlier->line);
		else if (earlier)
			REFUSE(w, j, err, "job id '%s' was used before", j->id);
	}
	free(table);
}

/* ---- order of submission */

/* Rows that stand behind a later submission. */
static uint64_t count_unsorted(const struct ct_workload *w)
{
	ct_time latest = INT64_MIN;
	uint64_t n = 0;

	for (size_t i = 0; i < w->n; i++) {
		if (w->jobs[i].submit_us < latest)
			n++;
		else
			latest = w->jobs[i].submit_us;
	}
	return n;
}

struct pair {
	uint64_t key;
	uint32_t job;
};

enum { DIGIT_BITS = 11, DIGITS = 6, RADIX = 1 << DIGIT_BITS };

static unsigned digit(uint64_t key, int d)
{
	return (unsigned)(key >> d * DIGIT_BITS & (RADIX - 1));
}

/* Least-significant-digit radix sort, which is stable, of v[0..n) by key; `spare`
 * has the same size. Returns the one of the two that holds the result. */
static struct pair *sort_pairs(struct pair *v, struct pair *spare, size_t n)
{
	uint32_t(*count)[RADIX] = ct_calloc(DIGITS, sizeof *count);

	for (size_t i = 0; i < n; i++)
		for (int d = 0; d < DIGITS; d++)
			count[d][digit(v[i].key, d)]++;
	for (int d = 0; d < DIGITS; d++) {
		struct pair *from = v;
		uint32_t at = 0;

		if (count[d][digit(v[0].key, d)] == n)
			continue; /* all alike */
		for (int k = 0; k < RADIX; k++) {
			uint32_t c = count[d][k];

			count[d][k] = at;
			at += c;
		}
		for (size_t i = 0; i < n; i++)
			spare[count[d][digit(from[i].key, d)]++] = from[i];
		v = spare;
		spare = from;
	}
	free(count);
	return v;
}

/* Job i becomes the old job order[i].job. In place along the cycles, because a
 * second array of jobs would cost more in page faults than all the rest of seal.
 * `order` is used up. */
static void permute_jobs(struct ct_job *jobs, struct pair *order, size_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		struct ct_job first;
		uint32_t to = i, from;

		if (order[i].job == i)
			continue;
		first = jobs[i];
		for (; (from = order[to].job) != i; to = from) {
			jobs[to] = jobs[from];
			order[to].job = to;
		}
		jobs[to] = first;
		order[to].job = to;
	}
}

static void permute_column(uint32_t *value, const struct pair *order, size_t n, uint32_t *scratch)
{
	for (size_t i = 0; i < n; i++)
		scratch[i] = value[order[i].job];
	memcpy(value, scratch, n * sizeof *value);
}

static void sort_by_submission(struct ct_workload *w)
{
	uint64_t unsorted = count_unsorted(w);
	struct pair *v, *spare, *order;
	uint32_t *scratch;

	if (!unsorted)
		return;
	ct_workload_count(w, "unsorted_submit", "submitted before a job that stands earlier in the file; sorted",
			  unsorted, 0);
	v = ct_realloc_array(NULL, w->n, sizeof *v);
	spare = ct_realloc_array(NULL, w->n, sizeof *spare);
	for (size_t i = 0; i < w->n; i++)
		v[i] = (struct pair){ .key = (uint64_t)w->jobs[i].submit_us, .job = (uint32_t)i };
	order = sort_pairs(v, spare, w->n);
	scratch = ct_realloc_array(NULL, w->n_columns ? w->n : 0, sizeof *scratch);
	for (size_t c = 0; c < w->n_columns; c++)
		permute_column(w->columns[c].value, order, w->n, scratch);
	permute_jobs(w->jobs, order, w->n);
	free(scratch);
	free(v);
	free(spare);
}

/* ---- the content's digest
 *
 * Only what the jobs are: no file name, line or order of columns, so a trace and
 * its canonical copy agree. Strings are renumbered in order of first use, since
 * the table's own numbers depend on how the file was read; the texts follow. */

enum { PACK = 1 << 14 };

struct packer {
	struct ct_digest digest;
	uint32_t *number; /* of a string in the digest, 0 = not used yet; "" stays 0 */
	uint32_t *used, n_used;
	size_t fill;
	unsigned char bytes[PACK];
};

static void flush(struct packer *p)
{
	ct_digest_bytes(&p->digest, p->bytes, p->fill);
	p->fill = 0;
}

static void pack32(struct packer *p, uint32_t v)
{
	for (int i = 0; i < 4; i++)
		p->bytes[p->fill++] = (unsigned char)(v >> 8 * i);
}

static void pack64(struct packer *p, uint64_t v)
{
	pack32(p, (uint32_t)v);
	pack32(p, (uint32_t)(v >> 32));
}

static void pack_text(struct packer *p, const char *s)
{
	size_t n = strlen(s);

	pack64(p, n);
	if (n > PACK - p->fill) {
		flush(p);
		if (n > PACK) {
			ct_digest_bytes(&p->digest, s, n);
			return;
		}
	}
	memcpy(p->bytes + p->fill, s, n);
	p->fill += n;
}

static void pack_string(struct packer *p, uint32_t string)
{
	if (string && !p->number[string]) {
		p->used[p->n_used++] = string;
		p->number[string] = p->n_used;
	}
	pack32(p, p->number[string]);
}

static void pack_sm(struct packer *p, float sm)
{
	uint32_t bits = UINT32_C(0x7fc00000);

	if (!isnan(sm)) {
		sm += 0.0f; /* -0 becomes 0 */
		memcpy(&bits, &sm, sizeof bits);
	}
	pack32(p, bits);
}

static void pack_job(struct packer *p, const struct ct_job *j)
{
	enum { FIXED = 128 }; /* more than all but the id takes */

	if (p->fill > PACK - FIXED)
		flush(p);
	pack64(p, (uint64_t)j->submit_us);
	pack64(p, (uint64_t)j->duration_us);
	pack64(p, (uint64_t)j->requested_us);
	pack64(p, (uint64_t)j->deadline_us);
	pack32(p, j->num_gpus);
	pack32(p, j->gpu_milli);
	pack32(p, j->min_gpus);
	pack32(p, j->max_gpus);
	pack32(p, j->cpu_milli);
	pack32(p, j->mem_mib);
	pack32(p, j->gpu_mem_mib);
	pack32(p, (uint32_t)j->priority);
	pack_sm(p, j->sm_frac);
	pack_string(p, j->user);
	pack_string(p, j->group);
	pack_string(p, j->model);
	pack_string(p, j->partition);
	pack_string(p, j->gpu_type);
	pack_string(p, j->state);
	pack_text(p, j->id);
}

static int compare_columns(const void *a, const void *b)
{
	const struct ct_extra_column *const *x = a, *const *y = b;

	return strcmp((*x)->name, (*y)->name);
}

static void pack_column(struct packer *p, const struct ct_extra_column *c, size_t n)
{
	flush(p);
	ct_digest_text(&p->digest, c->name);
	for (size_t i = 0; i < n; i++) {
		if (p->fill > PACK - 4)
			flush(p);
		pack_string(p, c->value[i]);
	}
}

static void pack_columns(struct packer *p, const struct ct_workload *w)
{
	const struct ct_extra_column **by_name = ct_calloc(w->n_columns, sizeof *by_name);

	for (size_t c = 0; c < w->n_columns; c++)
		by_name[c] = &w->columns[c];
	if (w->n_columns)
		qsort(by_name, w->n_columns, sizeof *by_name, compare_columns);
	for (size_t c = 0; c < w->n_columns; c++)
		pack_column(p, by_name[c], w->n);
	free(by_name);
}

static void compute_digest(struct ct_workload *w)
{
	struct packer *p = ct_calloc(1, sizeof *p);

	p->number = ct_calloc(w->strings.n, sizeof *p->number);
	p->used = ct_calloc(w->strings.n, sizeof *p->used);
	ct_digest_init(&p->digest);
	ct_digest_text(&p->digest, "cotenant workload 1");
	ct_digest_i64(&p->digest, (int64_t)w->n);
	ct_digest_i64(&p->digest, (int64_t)w->n_columns);
	for (size_t i = 0; i < w->n; i++)
		pack_job(p, &w->jobs[i]);
	pack_columns(p, w);
	flush(p);
	for (uint32_t i = 0; i < p->n_used; i++)
		ct_digest_text(&p->digest, w->strings.text[p->used[i]]);
	ct_digest_final(&p->digest, w->digest);
	free(p->number);
	free(p->used);
	free(p);
}

int ct_workload_seal(struct ct_workload *w, struct ct_err *err)
{
	unsigned before = err->count;

	CT_CHECK(NULL, !w->sealed, "workload sealed twice");
	for (size_t c = 0; c < w->n_columns; c++)
		reserve_column(&w->columns[c], w->n);
	check_jobs(w, err);
	check_ids(w, err);
	if (err->count != before)
		return CT_ETRACE;
	sort_by_submission(w);
	compute_digest(w);
	w->sealed = 1;
	return 0;
}

/* ---- how it was made */

void ct_workload_history(struct ct_workload *w, const char *fmt, ...)
{
	const char *old = w->report.history ? w->report.history : "";
	size_t n = strlen(old);
	char line[1024], *all;
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(line, sizeof line, fmt, ap);
	va_end(ap);
	all = ct_realloc_array(NULL, n + strlen(line) + 2, 1);
	memcpy(all, old, n);
	if (n)
		all[n++] = '\n';
	memcpy(all + n, line, strlen(line) + 1);
	w->report.history = ct_workload_text(w, all, n + strlen(line));
	free(all);
}

/* ---- copies */

static const char *text_copy(struct ct_workload *w, const char *text)
{
	return text ? ct_workload_text(w, text, strlen(text)) : NULL;
}

/* The texts of the report may live in the arena of `w`. */
static void copy_report(struct ct_workload *copy, const struct ct_import_report *r)
{
	copy->report = *r;
	copy->report.source = text_copy(copy, r->source);
	copy->report.format = text_copy(copy, r->format);
	copy->report.origin = text_copy(copy, r->origin);
	copy->report.history = text_copy(copy, r->history);
	copy->report.header = text_copy(copy, r->header);
	for (unsigned i = 0; i < r->n_rules; i++) {
		copy->report.rules[i].rule = text_copy(copy, r->rules[i].rule);
		copy->report.rules[i].meaning = text_copy(copy, r->rules[i].meaning);
	}
}

struct ct_workload *ct_workload_like(const struct ct_workload *w)
{
	struct ct_workload *copy = ct_workload_new();

	copy_report(copy, &w->report);
	for (size_t i = 1; i < w->strings.n; i++) /* in order, so the numbers stay */
		ct_strings_add(&copy->strings, w->strings.text[i], strlen(w->strings.text[i]));
	for (size_t c = 0; c < w->n_columns; c++)
		ct_workload_column(copy, w->columns[c].name);
	return copy;
}

/* ---- another arrival rate */

static void copy_columns(const struct ct_workload *w, struct ct_workload *out)
{
	for (size_t c = 0; c < w->n_columns; c++) {
		size_t k = ct_workload_column(out, w->columns[c].name);

		reserve_column(&out->columns[k], w->n);
		if (w->n)
			memcpy(out->columns[k].value, w->columns[c].value, w->n * sizeof(uint32_t));
	}
}

/* The slack of a deadline stays: it moves with its job. One that lay before its
 * submission is missed either way and does not go below time 0. */
static void move_job(struct ct_job *j, ct_time submit)
{
	if (j->deadline_us >= 0) {
		j->deadline_us += submit - j->submit_us;
		if (j->deadline_us < 0)
			j->deadline_us = 0;
	}
	j->submit_us = submit;
}

int ct_workload_stretch(const struct ct_workload *w, double factor, struct ct_workload **out, struct ct_err *err)
{
	ct_time first = w->n ? w->jobs[0].submit_us : 0;
	struct ct_workload *copy;
	int rc;

	CT_CHECK(NULL, w->sealed, "stretch of a workload that is not sealed");
	if (!(factor > 0) || isinf(factor))
		return ct_err_at(err, CT_ECONFIG, NULL, "a stretch factor wants a number above 0, got %g", factor);
	if (w->n && (double)first + (double)(w->jobs[w->n - 1].submit_us - first) * factor > (double)CT_TIME_LIMIT)
		return ct_err_at(err, CT_ECONFIG, NULL,
				 "stretched by %g, the last job is submitted too late (limit %g s)", factor,
				 ct_seconds(CT_TIME_LIMIT));
	copy = ct_workload_like(w);
	for (size_t i = 0; i < w->n; i++) {
		struct ct_job j = w->jobs[i];

		j.id = ct_workload_text(copy, j.id, strlen(j.id));
		move_job(&j, first + (ct_time)llround((double)(j.submit_us - first) * factor));
		ct_workload_add(copy, &j);
	}
	copy_columns(w, copy);
	rc = ct_workload_seal(copy, err);
	if (rc)
		ct_workload_free(copy);
	else
		*out = copy;
	return rc;
}

/* ---- other GPU counts */

int ct_workload_elastic(const struct ct_workload *w, const uint32_t *min_gpus, struct ct_workload **out,
			struct ct_err *err)
{
	struct ct_workload *copy = ct_workload_like(w);
	int rc;

	CT_CHECK(NULL, w->sealed, "GPU counts of a workload that is not sealed");
	for (size_t i = 0; i < w->n; i++) {
		struct ct_job j = w->jobs[i];

		j.id = ct_workload_text(copy, j.id, strlen(j.id));
		if (min_gpus[i])
			j.min_gpus = min_gpus[i];
		ct_workload_add(copy, &j);
	}
	copy_columns(w, copy);
	rc = ct_workload_seal(copy, err);
	memcpy(copy->digest, w->digest, sizeof copy->digest);
	if (rc)
		ct_workload_free(copy);
	else
		*out = copy;
	return rc;
}

/* ---- how much work it is */

static ct_wide work_milli_us(const struct ct_workload *w)
{
	ct_wide sum = 0;

	for (size_t i = 0; i < w->n; i++)
		sum += (ct_wide)w->jobs[i].duration_us * w->jobs[i].num_gpus * w->jobs[i].gpu_milli;
	return sum;
}

double ct_workload_gpu_seconds(const struct ct_workload *w)
{
	return (double)work_milli_us(w) / 1e9;
}

double ct_workload_offered_load(const struct ct_workload *w, double gpus)
{
	ct_time span = w->n ? w->jobs[w->n - 1].submit_us - w->jobs[0].submit_us : 0;

	if (!w->n)
		return 0;
	return span ? ct_workload_gpu_seconds(w) / (gpus * ct_seconds(span)) : (double)INFINITY;
}
