/* SPDX-License-Identifier: GPL-3.0-or-later */
/* An explicit list, not constructors: a static archive drops objects that nothing
 * refers to, and the order of a listing must not depend on the linker. */
#include "scheduler/registry.h"

#include "scheduler/builtin.h"
#include "sim/nearest.h"

#include <dlfcn.h>
#include <string.h>

static const struct ct_policy *const builtin[] = {
	&ct_policy_fifo,
	&ct_policy_firstfit,
	&ct_policy_sjf,
	&ct_policy_srtf,
	&ct_policy_las,
	&ct_policy_easy,
	&ct_policy_volcano,
	&ct_policy_volcano_gpubinpack,
	&ct_policy_volcano_nogate,
	&ct_policy_lucid,
	&ct_policy_elastico,
};
enum { N_BUILTIN = sizeof builtin / sizeof *builtin };

/* The struct ended here in the first release; no complete policy is smaller. */
enum { FIRST_SIZE = offsetof(struct ct_policy, fini) + sizeof(((struct ct_policy *)0)->fini) };
/* A state beyond this is a mistake, not a wish. */
static const size_t STATE_LIMIT = (size_t)1 << 30;

const struct ct_policy *ct_policy_at(size_t i)
{
	return i < N_BUILTIN ? builtin[i] : NULL;
}

const struct ct_policy *ct_policy_find(const char *name)
{
	for (size_t i = 0; i < N_BUILTIN; i++)
		if (!strcmp(builtin[i]->name, name))
			return builtin[i];
	return NULL;
}

/* ---- is a loaded policy complete? */

size_t ct_opt_value_size(enum ct_opt_type type)
{
	switch (type) {
	case CT_OPT_BOOL:
	case CT_OPT_ENUM:
		return sizeof(int);
	case CT_OPT_INT:
		return sizeof(int64_t);
	case CT_OPT_DOUBLE:
		return sizeof(double);
	case CT_OPT_SECONDS:
		return sizeof(ct_time);
	case CT_OPT_TEXT:
		return sizeof(const char *);
	}
	return 0;
}

/* "a|b|c": at least one word, none empty, and `def` among them. */
static const char *choices_defect(const char *choices, const char *def)
{
	size_t want = strlen(def);
	int found = 0;

	for (const char *c = choices;; c++) {
		size_t n = strcspn(c, "|");

		if (n == 0)
			return "an empty choice";
		if (n == want && !memcmp(c, def, n))
			found = 1;
		c += n;
		if (!*c)
			break;
	}
	return found ? NULL : "a default that is no choice";
}

static const char *option_defect(const struct ct_opt *o, size_t state_size)
{
	size_t size = ct_opt_value_size(o->type);

	if (!size)
		return "a type that this program does not know";
	if (!o->def)
		return "no default";
	if (!o->help)
		return "no help text";
	if (o->offset > state_size || state_size - o->offset < size)
		return "its value outside the policy's state";
	if (o->offset % size)
		return "its value at an odd address";
	if (o->min > o->max)
		return "a smallest value above the largest";
	if (o->type != CT_OPT_ENUM)
		return NULL;
	return o->choices ? choices_defect(o->choices, o->def) : "no choices";
}

static int check_options(const struct ct_policy *p, const char *path, struct ct_err *err)
{
	for (const struct ct_opt *o = p->opts; o && o->name; o++) {
		const char *defect = option_defect(o, p->state_size);

		if (defect)
			return ct_err_at(err, CT_EPOLICY, NULL, "'%s': option '%s' of policy '%s' has %s", path,
					 o->name, p->name, defect);
	}
	return 0;
}

static int check_policy(const struct ct_policy *p, const char *path, struct ct_err *err)
{
	if (!p)
		return ct_err_at(err, CT_EPOLICY, NULL, "'%s': %s() returned no policy", path, CT_POLICY_SYMBOL);
	if (p->abi != CT_POLICY_ABI)
		return ct_err_at(err, CT_EPOLICY, NULL,
				 "'%s' was built for policy interface %u, this program has %u: build it again", path,
				 p->abi, CT_POLICY_ABI);
	if (p->size < FIRST_SIZE)
		return ct_err_at(err, CT_EPOLICY, NULL, "'%s': struct ct_policy wants at least %d bytes, got %u", path,
				 FIRST_SIZE, p->size);
	if (!p->name || !*p->name)
		return ct_err_at(err, CT_EPOLICY, NULL, "'%s': the policy has no name", path);
	if (!p->summary)
		return ct_err_at(err, CT_EPOLICY, NULL, "'%s': policy '%s' has no summary", path, p->name);
	if (!p->schedule)
		return ct_err_at(err, CT_EPOLICY, NULL, "'%s': policy '%s' has no schedule()", path, p->name);
	if (p->state_size > STATE_LIMIT)
		return ct_err_at(err, CT_EPOLICY, NULL, "'%s': policy '%s' wants %zu bytes of state, at most %zu", path,
				 p->name, p->state_size, STATE_LIMIT);
	if (p->period_us < 0)
		return ct_err_at(err, CT_EPOLICY, NULL, "'%s': policy '%s' has a negative period", path, p->name);
	return check_options(p, path, err);
}

/* ---- loading */

/* dlerror() begins with the path in most cases; then it stands alone. */
static int load_failed(const char *path, struct ct_err *err)
{
	const char *why = dlerror();
	size_t n = strlen(path);

	if (!why)
		why = "unknown reason";
	if (!strncmp(why, path, n) && why[n] == ':')
		why += n + 1 + strspn(why + n + 1, " ");
	return ct_err_at(err, CT_EPOLICY, NULL, "cannot load policy '%s': %s", path, why);
}

/* ISO C has no conversion from void * to a function; POSIX promises that it works. */
static ct_policy_entry *entry_of(void *object)
{
	void *symbol = dlsym(object, CT_POLICY_SYMBOL);
	ct_policy_entry *entry;

	memcpy(&entry, &symbol, sizeof entry);
	return entry;
}

static int load(const char *path, const struct ct_policy **out, struct ct_err *err)
{
	const struct ct_policy *p;
	ct_policy_entry *entry;
	char local[4096];
	void *object;
	int rc;

	/* Without a slash dlopen() would search the system's folders. */
	if (!strchr(path, '/') && strlen(path) + 3 <= sizeof local) {
		memcpy(local, "./", 2);
		memcpy(local + 2, path, strlen(path) + 1);
		path = local;
	}
	object = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	if (!object)
		return load_failed(path, err);
	entry = entry_of(object);
	if (!entry) {
		rc = ct_err_at(err, CT_EPOLICY, NULL, "'%s' is no policy: it has no function %s()", path,
			       CT_POLICY_SYMBOL);
		dlclose(object);
		return rc;
	}
	p = entry();
	rc = check_policy(p, path, err);
	if (!rc)
		*out = p;
	else
		dlclose(object);
	return rc;
}

static int is_path(const char *s)
{
	size_t n = strlen(s);

	return strchr(s, '/') || (n > 3 && !strcmp(s + n - 3, ".so"));
}

int ct_policy_get(const char *name_or_path, const struct ct_policy **out, struct ct_err *err)
{
	const struct ct_policy *p;
	struct ct_nearest near;

	if (is_path(name_or_path))
		return load(name_or_path, out, err);
	p = ct_policy_find(name_or_path);
	if (p) {
		*out = p;
		return 0;
	}
	ct_nearest_init(&near, name_or_path);
	for (size_t i = 0; i < N_BUILTIN; i++)
		ct_nearest_offer(&near, builtin[i]->name);
	if (ct_nearest_word(&near))
		return ct_err_at(err, CT_EPOLICY, NULL, "no policy '%s'; did you mean '%s'?", name_or_path,
				 ct_nearest_word(&near));
	return ct_err_at(err, CT_EPOLICY, NULL, "no policy '%s'; 'cotenant policies' lists them", name_or_path);
}
