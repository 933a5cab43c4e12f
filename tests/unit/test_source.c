/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a name stands for: files, archives and directories of them. The archives are
 * written by libarchive, the gzip files by zlib. */
#include "traces/source.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <archive.h>
#include <archive_entry.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

static char root[4096];

static int enter(void **state)
{
	char *dir = strdup("/tmp/cotenant-test-XXXXXX");

	if (!getcwd(root, sizeof root) || !mkdtemp(dir) || chdir(dir))
		return -1;
	*state = dir;
	return 0;
}

static int leave(void **state)
{
	static const char *const files[] = { "a.tar.gz", "a.tar", "a.zip", "p.csv", "g.csv.gz" };
	int rc;

	for (size_t i = 0; i < sizeof files / sizeof *files; i++)
		unlink(files[i]);
	if (chdir(root))
		return -1;
	rc = rmdir(*state);
	free(*state);
	return rc;
}

static void put(struct archive *a, const char *name, const char *text, mode_t type)
{
	struct archive_entry *e = archive_entry_new();

	archive_entry_set_pathname(e, name);
	archive_entry_set_filetype(e, type);
	archive_entry_set_perm(e, 0644);
	archive_entry_set_size(e, (la_int64_t)strlen(text));
	assert_int_equal(archive_write_header(a, e), ARCHIVE_OK);
	assert_int_equal(archive_write_data(a, text, strlen(text)), strlen(text));
	archive_entry_free(e);
}

static void write_archive(const char *path, int zip, int gzip)
{
	struct archive *a = archive_write_new();

	if (zip)
		archive_write_set_format_zip(a);
	else
		archive_write_set_format_pax_restricted(a);
	if (gzip)
		archive_write_add_filter_gzip(a);
	assert_int_equal(archive_write_open_filename(a, path), ARCHIVE_OK);
	put(a, "d/", "", AE_IFDIR);
	put(a, "d/._one.csv", "Mac", AE_IFREG);
	put(a, "d/one.csv", "a,b\n1,2\n", AE_IFREG);
	put(a, "d/.hidden", "x", AE_IFREG);
	put(a, "two.csv", "c\n3\n4\n", AE_IFREG);
	put(a, "__MACOSX/d/x", "Mac", AE_IFREG);
	assert_int_equal(archive_write_close(a), ARCHIVE_OK);
	archive_write_free(a);
}

static void put_file(const char *path, const char *text, int gzip)
{
	gzFile f = gzopen(path, gzip ? "wb" : "wbT");

	assert_int_equal(gzwrite(f, text, (unsigned)strlen(text)), strlen(text));
	assert_int_equal(gzclose(f), Z_OK);
}

static struct ct_source *open_source(const char *path)
{
	struct ct_err err = { 0 };
	struct ct_source *s = NULL;

	if (ct_source_open(path, &s, &err))
		fail_msg("%s", err.text);
	return s;
}

static void has(const struct ct_source *s, size_t i, const char *path, const char *first, size_t rows)
{
	const struct ct_member *m = ct_source_member(s, i);
	struct ct_err err = { 0 };
	struct ct_csv *c;
	size_t n = 0;

	assert_string_equal(m->path, path);
	assert_string_equal(m->name, strrchr(path, '/') ? strrchr(path, '/') + 1 : path);
	assert_true(m->head_is_whole);
	assert_memory_equal(m->head, first, strlen(first));
	assert_int_equal(ct_source_csv(s, i, ',', &c, &err), 0);
	while (ct_csv_next(c, &err) == 1) {
		if (!n++)
			assert_string_equal(ct_csv_field(c, 0).s, first);
		assert_string_equal(ct_csv_loc(c, 0).file, path);
	}
	assert_int_equal(err.code, 0);
	assert_int_equal(n, rows);
	ct_csv_close(c);
}

static void test_archives(void **state)
{
	static const char *const path[] = { "a.tar.gz", "a.tar", "a.zip" };
	char name[64];

	(void)state;
	for (int i = 0; i < 3; i++) {
		struct ct_source *s;

		write_archive(path[i], i == 2, i == 0);
		s = open_source(path[i]);
		assert_int_equal(ct_source_members(s), 2);
		assert_int_equal(ct_source_appledouble(s), 2);
		snprintf(name, sizeof name, "%s/d/one.csv", path[i]);
		has(s, 0, name, "a", 2);
		snprintf(name, sizeof name, "%s/two.csv", path[i]);
		has(s, 1, name, "c", 3);
		assert_null(ct_source_file(s, 0));
		assert_int_equal(ct_source_find(s, "TWO.csv"), 1);
		assert_true(ct_source_find(s, "two.cs") == SIZE_MAX);
		ct_source_close(s);
		unlink(path[i]);
	}
}

static void test_directory(void **state)
{
	struct ct_source *s;

	(void)state;
	write_archive("a.tar.gz", 0, 1);
	put_file("p.csv", "p\n", 0);
	put_file("g.csv.gz", "g\n1\n2\n", 1);
	s = open_source(".");
	assert_int_equal(ct_source_members(s), 4);
	has(s, 0, "./a.tar.gz/d/one.csv", "a", 2);
	has(s, 1, "./a.tar.gz/two.csv", "c", 3);
	has(s, 2, "./g.csv.gz", "g", 3);
	has(s, 3, "./p.csv", "p", 1);
	assert_int_equal(ct_source_find(s, "g.csv"), 2);
	assert_string_equal(ct_source_file(s, 2), "./g.csv.gz");
	ct_source_close(s);
	s = open_source("g.csv.gz");
	has(s, 0, "g.csv.gz", "g", 3);
	ct_source_close(s);
}

/* A cut archive is reported with its name, in the list or when the member is read. */
static void test_damage(void **state)
{
	struct ct_err err = { 0 };
	struct ct_source *s = NULL;
	struct stat st;

	(void)state;
	write_archive("a.tar.gz", 0, 1);
	assert_int_equal(stat("a.tar.gz", &st), 0);
	assert_int_equal(truncate("a.tar.gz", st.st_size / 2), 0);
	assert_int_equal(ct_source_open("a.tar.gz", &s, &err), CT_EIO);
	assert_non_null(strstr(err.text, "damaged archive: "));
	assert_memory_equal(err.text, "a.tar.gz", 8);
	assert_null(s);
	err = (struct ct_err){ 0 };
	assert_int_equal(ct_source_open("absent", &s, &err), CT_EIO);
	assert_string_equal(err.text, "cannot open 'absent': No such file or directory");
}

static void test_memory(void **state)
{
	static const char text[] = "x,y\n1,2\n";
	struct ct_err err = { 0 };
	struct ct_source *s;

	(void)state;
	assert_int_equal(ct_source_open_memory("m.csv", text, sizeof text - 1, &s, &err), 0);
	has(s, 0, "m.csv", "x", 2);
	ct_source_close(s);
	assert_int_equal(ct_source_open_memory("m.csv", NULL, 0, &s, &err), 0);
	assert_int_equal(ct_source_member(s, 0)->head_n, 0);
	ct_source_close(s);
}

static void test_head_fields(void **state)
{
	(void)state;
	assert_true(ct_head_has_fields("a,b,c\n1,2,3\n", "a,b,c", ','));
	assert_true(ct_head_has_fields("\xef\xbb\xbf\"A\" , b,c\r\n", "a,b", ','));
	assert_true(ct_head_has_fields("a\tb", "a,b", '\t'));
	assert_false(ct_head_has_fields("a,bc\n", "a,b", ','));
	assert_false(ct_head_has_fields("a\n", "a,b", ','));
	assert_false(ct_head_has_fields("", "a,b", ','));
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_archives), cmocka_unit_test(test_directory),   cmocka_unit_test(test_damage),
		cmocka_unit_test(test_memory),   cmocka_unit_test(test_head_fields),
	};

	return cmocka_run_group_tests_name("source", tests, enter, leave);
}
