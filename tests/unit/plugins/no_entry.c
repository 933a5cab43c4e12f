/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A shared object, but no policy. */
int cotenant_no_entry(void);
int cotenant_no_entry(void)
{
	return 0;
}
