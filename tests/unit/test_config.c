/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "experiments/config.h"
#include "experiments/config_table.h"
#include "experiments/option.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- what is wrong, and where: the columns are counted by hand */

static const struct {
	const char *yaml, *message;
} bad[] = {
	/* names */
	{ "cluster:\n  nodse: 4\n", "f.yaml:2:3: unknown key 'cluster.nodse'; did you mean 'nodes'?" },
	{ "clutser:\n  nodes: 4\n", "f.yaml:1:1: unknown section 'clutser'; did you mean 'cluster'?" },
	{ "seed: 4\n", "f.yaml:1:1: unknown section 'seed'; did you mean 'sim.seed'?" },
	{ "zzz: 4\n", "f.yaml:1:1: unknown section 'zzz'" },
	{ "sim.seed: 4\n", "f.yaml:1:1: unknown section 'sim.seed': in a file, 'seed' is a key below 'sim:'" },
	{ "trace:\n  colums: {}\n", "f.yaml:2:3: unknown key 'trace.colums'; did you mean 'columns'?" },
	{ "trace:\n  columns:\n    sumbit_time: x\n",
	  "f.yaml:3:5: unknown column 'trace.columns.sumbit_time'; did you mean 'submit_time'?" },
	{ "cluster:\n  node_types:\n  - {gpu: 8}\n", "f.yaml:3:6: unknown key 'node_types.gpu'; did you mean 'gpus'?" },
	/* values */
	{ "cluster:\n  nodes: many\n", "f.yaml:2:10: 'cluster.nodes' wants a whole number 0..4194304, got 'many'" },
	{ "cluster: {nodes: -1}\n", "f.yaml:1:18: 'cluster.nodes' wants a whole number 0..4194304, got '-1'" },
	{ "cluster:\n  nodes:\n", "f.yaml:2:9: 'cluster.nodes' wants a whole number 0..4194304, got ''" },
	{ "cluster:\n  nodes: ~\n",
	  "f.yaml:2:10: 'cluster.nodes' has no value: leave the key out, or write \"~\" for that text" },
	{ "sim:\n  censor: yes\n", "f.yaml:2:11: 'sim.censor' wants true or false, got 'yes'" },
	{ "sim: {attain_floor: 1.5}\n", "f.yaml:1:21: 'sim.attain_floor' wants a number 0..1, got '1.5'" },
	{ "trace: {on_bad_row: dorp}\n",
	  "f.yaml:1:21: 'trace.on_bad_row' wants one of refuse|drop, got 'dorp'; did you mean 'drop'?" },
	{ "cluster:\n  node_types:\n  - name: ü\n    count: 0\n",
	  "f.yaml:4:12: 'node_types.count' wants a whole number 1..4194304, got '0'" },
	{ "trace: {columns: {user: \"\"}}\n", "f.yaml:1:25: 'trace.columns.user' wants the name of a column, got ''" },
	/* shapes */
	{ "cluster:\n  nodes: [1, 2]\n", "f.yaml:2:10: 'cluster.nodes' wants one value, got a list" },
	{ "cluster:\n  nodes:\n    a: 1\n", "f.yaml:3:5: 'cluster.nodes' wants one value, got a mapping" },
	{ "cluster: 32x8\n", "f.yaml:1:10: 'cluster' wants a mapping, got text" },
	{ "cluster:\n  node_types: 4\n", "f.yaml:2:15: 'cluster.node_types' wants a list of mappings, got text" },
	{ "cluster:\n  node_types: []\n", "f.yaml:2:15: 'cluster.node_types' is empty" },
	{ "cluster:\n  node_types: [8]\n", "f.yaml:2:16: 'cluster.node_types' wants mappings in its list, got text" },
	{ "trace:\n  columns: x\n", "f.yaml:2:12: 'trace.columns' wants a mapping of column names, got text" },
	{ "policy:\n  name: fifo\n  placement: {}\n",
	  "f.yaml:3:14: 'policy.placement' wants one value, got a mapping" },
	{ "- a\n", "f.yaml:1:1: wanted a mapping of sections (trace, cluster, policy, ...), got a list" },
	{ "hello\n", "f.yaml:1:1: wanted a mapping of sections (trace, cluster, policy, ...), got text" },
	/* the file as such */
	{ "", "f.yaml: the file is empty" },
	{ "# only a comment\n", "f.yaml: the file is empty" },
	{ "---\n", "f.yaml: the file is empty" },
	{ "sim: {seed: 1}\n---\nsim: {seed: 2}\n", "f.yaml:2:1: a second document begins, wanted one" },
	{ "sim:\n  seed: 1\n  seed: 2\n", "f.yaml:3:3: key 'seed' is there twice, first on line 2" },
	{ "sim: {}\ntrace: {}\nsim: {}\n", "f.yaml:3:1: key 'sim' is there twice, first on line 1" },
	{ "sim: &x\n  seed: 1\n", "f.yaml:1:6: anchors and aliases (&name, *name) are not supported" },
	{ "sim: *x\n", "f.yaml:1:6: anchors and aliases (&name, *name) are not supported" },
	{ "sim:\n  seed: !!int 1\n", "f.yaml:2:9: tags (!name) are not supported" },
	{ "sim:\n  ? [a]\n  : 1\n", "f.yaml:2:5: a key must be text" },
	{ "sim:\n\tseed: 1\n", "f.yaml:2:1: tab found where YAML wants blanks" },
	{ "trace: {file: \"a\\0b\"}\n", "f.yaml:1:15: text with a NUL byte" },
	{ "sim:\n  seed: \xff\n", "f.yaml:2:9: byte 0xff is not UTF-8 text" },
	{ "sim:\n  seed: \x01\n", "f.yaml:2:9: control character 0x01" },
	{ "\xff\xfes\0i\0m\0", "f.yaml:1:1: byte 0xff is not UTF-8 text" },
	{ "sim: {seed: [[[[[[[[[[[[[[[[[[[[", "f.yaml:1:27: nested too deeply" },
	{ "sim: {seed: 1\n",
	  "f.yaml:2:1: not valid YAML: did not find expected ',' or '}' while parsing a flow mapping" },
	{ "sim: \"abc\n", "f.yaml:2:1: not valid YAML: found unexpected end of stream while scanning a quoted scalar" },
	/* columns are bytes: the umlaut has two, the quoted key is in front */
	{ "cluster: {gpu_type: \"ü\", nodes: x}\n",
	  "f.yaml:1:34: 'cluster.nodes' wants a whole number 0..4194304, got 'x'" },
	/* Windows line ends, and a byte order mark */
	{ "\xef\xbb\xbfsim:\r\n  seed: x\r\n", "f.yaml:2:9: 'sim.seed' wants a whole number >= 0, got 'x'" },
};

static void test_bad_files(void **unused)
{
	(void)unused;
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
		struct ct_config c;
		struct ct_err err = { 0 };
		size_t n = strlen(bad[i].yaml);

		ct_config_init(&c);
		if (ct_config_parse(&c, "f.yaml", bad[i].yaml, n, NULL, &err) != CT_ECONFIG ||
		    strcmp(err.text, bad[i].message) != 0)
			fail_msg("row %zu:\n%s\nwanted '%s'\ngot    '%s'", i, bad[i].yaml, bad[i].message, err.text);
		ct_config_fini(&c);
	}
}

/* All errors of one file, in the order of the file. */
static void test_all_errors_together(void **unused)
{
	static const char yaml[] = "sim:\n  seed: x\n  sede: 1\ncluster:\n  nodes: [1]\n  gpu_speed: 0\n";
	struct ct_config c;
	struct ct_err err = { 0 };

	(void)unused;
	ct_config_init(&c);
	assert_int_equal(ct_config_parse(&c, "f.yaml", yaml, strlen(yaml), NULL, &err), CT_ECONFIG);
	assert_int_equal(err.count, 4);
	assert_string_equal(err.text, "f.yaml:2:9: 'sim.seed' wants a whole number >= 0, got 'x'\n"
				      "f.yaml:3:3: unknown key 'sim.sede'; did you mean 'seed'?\n"
				      "f.yaml:5:10: 'cluster.nodes' wants one value, got a list\n"
				      "f.yaml:6:14: 'cluster.gpu_speed' wants a number 0.001..1000, got '0'");
	ct_config_fini(&c);
}

/* ---- what only shows when everything is there */

static const struct {
	const char *yaml, *message;
	enum ct_code code;
} unfinished[] = {
	{ "trace: {file: t.csv}\npolicy: {name: fifo}\n",
	  "the cluster has no node: give cluster.nodes, cluster.node_types or --cluster NODESxGPUS", CT_ECONFIG },
	{ "cluster: {nodes: 1}\npolicy: {name: fifo}\n", "no jobs: give trace.file, --trace FILE, or generate.kind",
	  CT_ECONFIG },
	{ "cluster: {nodes: 1}\ntrace: {file: t.csv}\n", "no policy: give policy.name or --policy NAME", CT_ECONFIG },
	{ "cluster:\n  nodes: 2\n  gpus_per_node: 0\ntrace: {file: t.csv}\npolicy: {name: fifo}\n",
	  "f.yaml:3:3: the cluster has 0 GPUs, possible are 1..4194304", CT_ECONFIG },
	{ "cluster:\n  nodes: 4194304\n  gpus_per_node: 2\ntrace: {file: t.csv}\npolicy: {name: fifo}\n",
	  "f.yaml:3:3: the cluster has 8388608 GPUs, possible are 1..4194304", CT_ECONFIG },
	{ "cluster:\n  nodes: 2\n  node_types: [{gpus: 1}]\ntrace: {file: t.csv}\npolicy: {name: fifo}\n",
	  "f.yaml:3:3: 'cluster.node_types' and 'cluster.nodes' (f.yaml:2:3) exclude each other", CT_ECONFIG },
	{ "cluster: {nodes: 1}\ntrace: {file: t.csv}\npolicy:\n  name: fifo\n  placemnt: pack\n",
	  "f.yaml:5:3: policy 'fifo' has no option 'placemnt'; did you mean 'placement'?", CT_ECONFIG },
	{ "cluster: {nodes: 1}\ntrace: {file: t.csv}\nsim: {warmup: 10, until: 10}\npolicy: {name: fifo}\n",
	  "the measurement window is empty: 'sim.until' must be later than 'sim.warmup'", CT_ECONFIG },
	{ "cluster: {nodes: 1}\ntrace: {file: t.csv}\nsim: {censor: true}\npolicy: {name: fifo}\n",
	  "'sim.censor' needs 'sim.until'", CT_ECONFIG },
};

static void test_unfinished(void **unused)
{
	(void)unused;
	for (size_t i = 0; i < sizeof unfinished / sizeof *unfinished; i++) {
		struct ct_config c;
		struct ct_err err = { 0 };

		ct_config_init(&c);
		assert_int_equal(
		    ct_config_parse(&c, "f.yaml", unfinished[i].yaml, strlen(unfinished[i].yaml), NULL, &err), 0);
		assert_int_equal(ct_config_finish(&c, CT_CONFIG_RUN, &err), unfinished[i].code);
		if (strcmp(err.text, unfinished[i].message) != 0)
			fail_msg("row %zu:\nwanted '%s'\ngot    '%s'", i, unfinished[i].message, err.text);
		ct_config_fini(&c);
	}
}

static void test_unknown_policy(void **unused)
{
	static const char yaml[] = "cluster: {nodes: 1}\ntrace: {file: t.csv}\npolicy: {name: fiof}\n";
	struct ct_config c;
	struct ct_err err = { 0 };

	(void)unused;
	ct_config_init(&c);
	assert_int_equal(ct_config_parse(&c, "f.yaml", yaml, strlen(yaml), NULL, &err), 0);
	assert_int_equal(ct_config_finish(&c, CT_CONFIG_RUN, &err), CT_EPOLICY);
	assert_int_equal(strncmp(err.text, "f.yaml:3:16: ", 13), 0);
	assert_non_null(strstr(err.text, "'fiof'"));
	assert_non_null(strstr(err.text, "did you mean 'fifo'"));
	ct_config_fini(&c);
}

/* ---- the command line */

static void test_assign_errors(void **unused)
{
	static const struct {
		const char *assignment, *message;
		enum ct_code code;
	} row[] = {
		{ "cluster.nodes", "--set wants key=value, got 'cluster.nodes'", CT_EUSAGE },
		{ "=3", "--set wants key=value, got '=3'", CT_EUSAGE },
		{ "", "--set wants key=value, got ''", CT_EUSAGE },
		{ "seed=3", "--set seed=3: unknown key 'seed'; did you mean 'sim.seed'?", CT_ECONFIG },
		{ "sim.sead=3", "--set sim.sead=3: unknown key 'sim.sead'; did you mean 'seed'?", CT_ECONFIG },
		{ "simm.seed=3", "--set simm.seed=3: unknown section 'simm'; did you mean 'sim'?", CT_ECONFIG },
		{ "sim.seed=x", "--set sim.seed=x: 'sim.seed' wants a whole number >= 0, got 'x'", CT_ECONFIG },
		{ "sim.=x", "--set sim.=x: unknown key 'sim.'", CT_ECONFIG },
		{ "trace.columns=x",
		  "--set trace.columns=x: 'trace.columns' cannot be given as one value, write trace.columns.NAME=name",
		  CT_ECONFIG },
		{ "cluster.node_types=x",
		  "--set cluster.node_types=x: 'cluster.node_types' cannot be given as one value, write it in a file",
		  CT_ECONFIG },
		{ "trace.columns.usr=x",
		  "--set trace.columns.usr=x: unknown column 'trace.columns.usr'; did you mean 'user'?", CT_ECONFIG },
	};

	(void)unused;
	for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
		struct ct_config c;
		struct ct_err err = { 0 };

		ct_config_init(&c);
		assert_int_equal(ct_config_assign(&c, row[i].assignment, &err), row[i].code);
		assert_string_equal(err.text, row[i].message);
		ct_config_fini(&c);
	}
}

static void test_order(void **unused)
{
	static const char yaml[] =
	    "sim: {seed: 5, warmup: 2.5}\ncluster: {node_types: [{gpus: 3}]}\npolicy: {name: fifo}\n";
	struct ct_config c;
	struct ct_err err = { 0 };

	(void)unused;
	ct_config_init(&c);
	assert_int_equal(c.sim.seed, 1);
	assert_int_equal(ct_config_parse(&c, "f.yaml", yaml, strlen(yaml), NULL, &err), 0);
	assert_int_equal(c.sim.seed, 5);
	assert_int_equal(c.sim.warmup, 2500000);
	assert_int_equal(ct_config_assign(&c, "sim.seed=6", &err), 0);
	assert_int_equal(ct_config_option(&c, "--seed", "sim.seed", "7", &err), 0);
	assert_int_equal(c.sim.seed, 7);
	assert_int_equal(ct_config_assign(&c, "policy.placement=pool", &err), 0);
	assert_int_equal(ct_config_assign(&c, "policy.placement=pack", &err), 0);
	assert_int_equal(ct_config_cluster_option(&c, "32x4", &err), 0);
	assert_int_equal(ct_config_finish(&c, CT_CONFIG_CLUSTER | CT_CONFIG_POLICY, &err), 0);
	assert_int_equal(c.cluster.spec.n, 1);
	assert_int_equal(c.cluster.spec.nodes[0].count, 32);
	assert_int_equal(c.cluster.spec.nodes[0].gpus, 4);
	assert_string_equal(ct_opt_text(ct_opt_find(c.policy.policy->opts, "placement"), c.policy.state, &c.arena),
			    "pack");
	ct_config_fini(&c);
}

static void test_cluster_option(void **unused)
{
	static const char *const wrong[] = {
		"", "x", "8", "8x", "x8", "8*8", "8x8x8", "-1x8", "8x-1", " 8x8", "8.0x8"
	};

	(void)unused;
	for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
		struct ct_config c;
		struct ct_err err = { 0 };

		ct_config_init(&c);
		assert_int_equal(ct_config_cluster_option(&c, wrong[i], &err), CT_EUSAGE);
		assert_non_null(strstr(err.text, "--cluster wants NODESxGPUS"));
		ct_config_fini(&c);
	}
}

/* ---- the cluster */

static void test_node_types(void **unused)
{
	static const char yaml[] =
	    "cluster:\n"
	    "  node_types:\n"
	    "  - {name: big, count: 2, gpus: 8, gpu_type: a100, gpu_speed: 1.5, gpu_mem_mib: 40960,\n"
	    "     cpus: 23.22, mem_mib: 1000, partition: left}\n"
	    "  - {}\n";
	struct ct_config c;
	struct ct_err err = { 0 };
	const struct ct_node_spec *n;

	(void)unused;
	ct_config_init(&c);
	assert_int_equal(ct_config_parse(&c, "f.yaml", yaml, strlen(yaml), NULL, &err), 0);
	assert_int_equal(ct_config_finish(&c, CT_CONFIG_CLUSTER, &err), 0);
	assert_int_equal(c.cluster.spec.n, 2);
	n = &c.cluster.spec.nodes[0];
	assert_string_equal(n->name, "big");
	assert_int_equal(n->count, 2);
	assert_string_equal(n->gpu_type, "a100");
	assert_true(n->gpu_speed == 1.5);
	assert_int_equal(n->gpu_mem_mib, 40960);
	assert_int_equal(n->cpu_milli, 23220);
	assert_int_equal(n->mem_mib, 1000);
	assert_string_equal(n->partition, "left");
	n = &c.cluster.spec.nodes[1];
	assert_int_equal(n->count, 1);
	assert_int_equal(n->gpus, 8);
	assert_null(n->gpu_type);
	assert_true(n->gpu_speed == 1);
	assert_int_equal(n->cpu_milli, 0);
	ct_config_fini(&c);
}

static void write_file(const char *folder, const char *name, const char *text)
{
	char path[512];
	FILE *f;

	snprintf(path, sizeof path, "%s/%s", folder, name);
	f = fopen(path, "w");
	assert_non_null(f);
	assert_true(fputs(text, f) >= 0);
	assert_int_equal(fclose(f), 0);
}

static const char *own_folder(char out[256])
{
	const char *tmp = getenv("TMPDIR");

	snprintf(out, 256, "%s/test_config.XXXXXX", tmp && *tmp ? tmp : "/tmp");
	assert_non_null(mkdtemp(out));
	return out;
}

static void remove_files(const char *folder, const char *const *names)
{
	char path[512];

	for (; *names; names++) {
		snprintf(path, sizeof path, "%s/%s", folder, *names);
		assert_int_equal(unlink(path), 0);
	}
	assert_int_equal(rmdir(folder), 0);
}

/* cluster.file: relative to the file that names it, its keys below the others,
 * errors at its own places; --set replaces all of it. */
static void test_included_cluster(void **unused)
{
	static const char *const names[] = { "run.yaml", "c.yaml", "bad.yaml", "loop.yaml", NULL };
	char folder[256], path[512], wanted[1024];
	struct ct_config c;
	struct ct_err err = { 0 };

	(void)unused;
	own_folder(folder);
	write_file(folder, "run.yaml", "cluster:\n  nodes: 5\n  file: c.yaml\ntrace: {file: t.csv}\n");
	write_file(folder, "c.yaml", "nodes: 2\ngpus_per_node: 4\n");
	write_file(folder, "bad.yaml", "nodes: 2\ngpus: 4\n");
	write_file(folder, "loop.yaml", "file: loop.yaml\n");
	ct_config_init(&c);
	snprintf(path, sizeof path, "%s/run.yaml", folder);
	assert_int_equal(ct_config_load(&c, path, &err), 0);
	assert_int_equal(c.cluster.nodes, 5);
	assert_int_equal(c.cluster.gpus_per_node, 4);
	snprintf(wanted, sizeof wanted, "%s/t.csv", folder);
	assert_string_equal(c.trace.file, wanted);
	snprintf(path, sizeof path, "cluster.file=%s/c.yaml", folder);
	assert_int_equal(ct_config_assign(&c, path, &err), 0);
	assert_int_equal(c.cluster.nodes, 2);
	snprintf(path, sizeof path, "cluster.file=%s/bad.yaml", folder);
	assert_int_equal(ct_config_assign(&c, path, &err), CT_ECONFIG);
	snprintf(wanted, sizeof wanted, "%s/bad.yaml:2:1: unknown key 'cluster.gpus'", folder);
	assert_string_equal(err.text, wanted);
	err = (struct ct_err){ 0 };
	snprintf(path, sizeof path, "cluster.file=%s/loop.yaml", folder);
	assert_int_equal(ct_config_assign(&c, path, &err), CT_ECONFIG);
	assert_non_null(strstr(err.text, "loop.yaml:1:1: 'cluster.file' inside a cluster file"));
	ct_config_fini(&c);
	remove_files(folder, names);
}

static void test_unreadable(void **unused)
{
	struct ct_config c;
	struct ct_err err = { 0 };

	(void)unused;
	ct_config_init(&c);
	assert_int_equal(ct_config_load(&c, "/nowhere/f.yaml", &err), CT_EIO);
	assert_string_equal(err.text, "/nowhere/f.yaml: cannot open: No such file or directory");
	err = (struct ct_err){ 0 };
	assert_int_equal(ct_config_load(&c, "/", &err), CT_EIO);
	assert_string_equal(err.text, "/: cannot read: Is a directory");
	ct_config_fini(&c);
}

/* ---- printing, then reading, gives the same configuration */

static void round_trip(const char *yaml)
{
	struct ct_config a, b;
	struct ct_err err = { 0 };
	const char *text;

	ct_config_init(&a);
	ct_config_init(&b);
	assert_int_equal(ct_config_parse(&a, "a.yaml", yaml, strlen(yaml), NULL, &err), 0);
	assert_int_equal(ct_config_finish(&a, CT_CONFIG_RUN, &err), 0);
	text = ct_config_yaml(&a);
	if (ct_config_parse(&b, "b.yaml", text, strlen(text), NULL, &err) || ct_config_finish(&b, CT_CONFIG_RUN, &err))
		fail_msg("%s\n%s", err.text, text);
	assert_string_equal(ct_config_yaml(&b), text);
	assert_string_equal(ct_config_digest_text(&b), ct_config_digest_text(&a));
	ct_config_fini(&a);
	ct_config_fini(&b);
}

static void test_round_trip(void **unused)
{
	(void)unused;
	round_trip("trace: {file: t.csv}\ncluster: {nodes: 3}\npolicy: {name: fifo}\n");
	round_trip("trace:\n"
		   "  file: \"a b: #\\\"\\\\ \\t\\n\xc3\xbc \\u2028.csv\"\n"
		   "  load: 1.1\n"
		   "  columns: {user: \"true\", model: '~', group: \"- x\"}\n"
		   "cluster:\n"
		   "  node_types:\n"
		   "  - {name: \"null\", gpu_type: \"1e3\", gpu_speed: 0.333333333333333314, cpus: 23.22}\n"
		   "  - {gpus: 1, partition: \"{}\"}\n"
		   "policy: {name: easy, placement: pack, estimate: noisy, order_by: \"'\"}\n"
		   "sim: {seed: 9223372036854775807, until: 1e5, warmup: 0.000001, events: true}\n"
		   "contention: {fallback: 0.9}\n"
		   "transitions: {start: 1.5, resume: 2}\n"
		   "output: {perf: false}\n");
}

/* Where things are does not bear on the result; what is computed does. */
static const char *digest_of(struct ct_config *c, const char *more)
{
	char yaml[512];
	struct ct_err err = { 0 };

	snprintf(yaml, sizeof yaml, "%s%s", "cluster: {nodes: 3}\n", more);
	ct_config_init(c);
	if (ct_config_parse(c, "f", yaml, strlen(yaml), NULL, &err) ||
	    ct_config_finish(c, CT_CONFIG_CLUSTER | CT_CONFIG_POLICY, &err))
		fail_msg("%s", err.text);
	return ct_config_digest_text(c);
}

static void test_digest_text(void **unused)
{
	static const struct {
		const char *more;
		int same;
	} row[] = {
		{ "policy: {name: fifo}\n", 1 },
		{ "policy: {name: fifo}\ntrace: {file: x, format: csv, shift_to_zero: true, columns: {user: u}}\n", 1 },
		{ "policy: {name: fifo}\noutput: {file: x, csv: y, perf: false}\n", 1 },
		{ "policy: {name: fifo}\ncontention: {pairs: x}\ntransitions: {file: y}\n", 1 },
		{ "policy: {name: fifo, placement: count}\nsim: {seed: 1}\n", 1 }, /* the defaults */
		{ "policy: {name: fifo, placement: pack}\n", 0 },
		{ "policy: {name: sjf}\n", 0 },
		{ "policy: {name: fifo}\nsim: {seed: 2}\n", 0 },
		{ "policy: {name: fifo}\nsim: {events: true}\n", 0 },
		{ "policy: {name: fifo}\ncontention: {fallback: 0.5}\n", 0 },
		{ "policy: {name: fifo}\ntransitions: {switch: 1}\n", 0 },
	};
	struct ct_config base;
	const char *wanted = digest_of(&base, row[0].more);

	(void)unused;
	for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
		struct ct_config c;

		if ((strcmp(digest_of(&c, row[i].more), wanted) == 0) != row[i].same)
			fail_msg("row %zu: %s", i, row[i].more);
		ct_config_fini(&c);
	}
	ct_config_fini(&base);
}

/* The tables themselves: well formed, and each key printed in the manual once. */
static void test_tables(void **unused)
{
	struct ct_err err = { 0 };
	char *manual = NULL;
	size_t n = 0;
	FILE *f = open_memstream(&manual, &n);

	(void)unused;
	ct_config_print_manual(f);
	assert_int_equal(fclose(f), 0);
	for (size_t i = 0; i < CT_CONFIG_SECTIONS; i++) {
		const struct ct_config_section *s = &ct_config_sections[i];

		if (ct_opt_check_table(s->opts, sizeof(struct ct_config), s->name, &err))
			fail_msg("%s", err.text);
		for (const struct ct_opt *o = s->opts; o->name; o++) {
			char line[80];

			snprintf(line, sizeof line, "  %s.%s ", s->name, o->name);
			if (!strstr(manual, line))
				fail_msg("'%s' is not in the manual", line);
		}
	}
	assert_int_equal(ct_opt_check_table(ct_config_node_opts, sizeof(struct ct_config_nodes), "nodes", &err), 0);
	free(manual);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_bad_files),        cmocka_unit_test(test_all_errors_together),
		cmocka_unit_test(test_unfinished),       cmocka_unit_test(test_unknown_policy),
		cmocka_unit_test(test_assign_errors),    cmocka_unit_test(test_order),
		cmocka_unit_test(test_cluster_option),   cmocka_unit_test(test_node_types),
		cmocka_unit_test(test_included_cluster), cmocka_unit_test(test_unreadable),
		cmocka_unit_test(test_round_trip),       cmocka_unit_test(test_digest_text),
		cmocka_unit_test(test_tables),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
