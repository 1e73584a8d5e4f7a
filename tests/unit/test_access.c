/* SPDX-License-Identifier: Apache-2.0 */
/* Who may read what is made of several files, and what access lists leave of a mode: against the kernel's own rules, for
 * every user, group and permission of a small world. */
#include "fs/archive/access.h"
#include "fs/archive/acl.h"
#include "tests/lib/check.h"

/* Users and groups 1 and 2 own things; 3 stands for all that own none. */
enum { IDS = 3, GROUP_SETS = 1 << IDS, MODES = 8 };

struct user {
	uid_t uid;
	unsigned groups; /* bit g - 1: is in group g */
};

static bool in_group(const struct user *user, gid_t gid)
{
	return gid && user->groups >> (gid - 1) & 1;
}

static mode_t mode_of(unsigned bits, unsigned shift, mode_t type)
{
	return type | (bits & 4 ? 0100u << shift : 0) | (bits & 2 ? 0010u << shift : 0) |
	       (bits & 1 ? 0001u << shift : 0);
}

/* What the kernel says without an access list: one class only. right: of others, 4 to read, 1 to search. */
static bool kernel_allows(const struct stat *st, const struct user *user, mode_t right)
{
	if (user->uid == st->st_uid)
		return st->st_mode & right << 6;
	return st->st_mode & (in_group(user, st->st_gid) ? right << 3 : right);
}

static bool may_use(const struct stat *st, const struct user *user)
{
	return kernel_allows(st, user, S_ISDIR(st->st_mode) ? 1 : 4);
}

/* The object number i of 2 owners, 2 groups, 8 sets of permissions, a file or a directory. */
static struct stat object(unsigned i)
{
	const bool dir = i / 32 & 1;

	return (struct stat){.st_uid = 1 + (i & 1),
			     .st_gid = 1 + (i >> 1 & 1),
			     .st_mode = mode_of(i >> 2 & 7, dir ? 0 : 2, dir ? S_IFDIR : S_IFREG)};
}

static unsigned long granted, possible;

/* The class of a user as far as the view's owner and group tell. */
static mode_t class_of(const struct stat *view, const struct user *user)
{
	return user->uid == view->st_uid ? 0400 : in_group(user, view->st_gid) ? 0040 : 0004;
}

static void check_view(const struct stat *objects, unsigned count)
{
	struct hf_access access = {0};
	struct stat view = {.st_mode = S_IFREG};
	mode_t all = 0444;

	for (unsigned i = 0; i < count; i++)
		hf_access_add(&access, &objects[i]);
	hf_access_show(&access, &view);
	CHECK_EQ(view.st_mode & ~0444u, S_IFREG);
	for (struct user user = {.uid = 1}; user.uid <= IDS; user.uid++)
		for (user.groups = 0; user.groups < GROUP_SETS; user.groups++) {
			bool truth = true;

			for (unsigned i = 0; i < count; i++)
				truth = truth && may_use(&objects[i], &user);
			if (!truth)
				all &= ~class_of(&view, &user);
			/* Sound: never more than the truth. */
			CHECK(truth || !may_use(&view, &user));
			granted += may_use(&view, &user);
			possible += truth;
		}
	/* Exact: with this owner and group a class gets all that may be given to it. */
	CHECK_EQ(view.st_mode, S_IFREG | all);
}

static void test_soundness(void)
{
	struct stat objects[3];

	for (unsigned a = 0; a < 64; a++) {
		objects[0] = object(a);
		check_view(objects, 1);
		for (unsigned b = 0; b < 64; b++) {
			objects[1] = object(b);
			check_view(objects, 2);
			for (unsigned c = 0; c < 32; c++) {
				objects[2] = object(c);
				check_view(objects, 3);
			}
		}
	}
	/* With odd permissions (0077) as frequent as usual ones, no one owner and group could say much more than half. */
	CHECK(granted * 100 >= possible * 45);
}

/* Permissions that nobody wonders at, where owner, group and others have less and less: here the loss must be small. */
static void test_precision(void)
{
	static const bool usual[MODES] = {[0] = true, [4] = true, [6] = true, [7] = true};
	struct stat objects[2];

	granted = possible = 0;
	for (unsigned a = 0; a < 64; a++)
		for (unsigned b = 0; b < 64; b++) {
			objects[0] = object(a);
			objects[1] = object(b);
			if (usual[a >> 2 & 7] && usual[b >> 2 & 7])
				check_view(objects, 2);
		}
	CHECK(granted * 100 >= possible * 90);
}

/* All of one owner and group: each class has what every object gives it, which is the truth itself. */
static void test_one_owner(void)
{
	for (unsigned a = 0; a < MODES; a++)
		for (unsigned b = 0; b < MODES; b++) {
			struct stat st = {.st_uid = 7, .st_gid = 9, .st_mode = mode_of(a, 2, S_IFREG)};
			struct hf_access access = {0}, joined = {0}, other = {0};
			struct stat view = {.st_mode = S_IFDIR | 0777};

			hf_access_add(&access, &st);
			hf_access_add(&joined, &st);
			st.st_mode = mode_of(b, 0, S_IFDIR);
			hf_access_add(&access, &st);
			hf_access_add(&other, &st);
			hf_access_join(&joined, &other);
			hf_access_show(&access, &view);
			CHECK_EQ(view.st_mode, mode_of(a & b, 2, S_IFDIR));
			CHECK_EQ(view.st_uid, 7);
			CHECK_EQ(view.st_gid, 9);
			CHECK_EQ(joined.bits, access.bits);
		}
}

/* What everybody may read changes nothing, whoever owns it and wherever it stands in the row. */
static void test_open_objects(void)
{
	const struct stat public = {.st_uid = 0, .st_gid = 0, .st_mode = S_IFDIR | 0755};
	const struct stat own = {.st_uid = 5, .st_gid = 6, .st_mode = S_IFREG | 0640};
	const struct stat link = {.st_uid = 8, .st_gid = 8, .st_mode = S_IFLNK};
	struct hf_access access = {0};
	struct stat view = {.st_uid = 1, .st_mode = S_IFREG | 0644};

	hf_access_show(&access, &view);
	CHECK_EQ(view.st_mode, S_IFREG);
	hf_access_add(&access, &public);
	CHECK(hf_access_is_everybody(&access));
	hf_access_show(&access, &view);
	CHECK_EQ(view.st_mode, S_IFREG | 0444);
	CHECK_EQ(view.st_uid, 0);
	hf_access_add(&access, &own);
	hf_access_add(&access, &link);
	hf_access_add(&access, &public);
	CHECK(!hf_access_is_everybody(&access));
	hf_access_show(&access, &view);
	CHECK_EQ(view.st_mode, S_IFREG | 0440);
	CHECK_EQ(view.st_uid, 5);
	CHECK_EQ(view.st_gid, 6);
	hf_access_close(&access);
	hf_access_add(&access, &public);
	hf_access_show(&access, &view);
	CHECK_EQ(view.st_mode, S_IFREG);
}

/* ---- access lists ---- */

struct list {
	uint8_t bytes[64];
	size_t size;
};

enum { USER_OBJ = 1, USER = 2, GROUP_OBJ = 4, GROUP = 8, MASK = 16, OTHER = 32 };

static void put(struct list *list, unsigned tag, unsigned bits, uint32_t id)
{
	const uint8_t entry[8] = {(uint8_t)tag,	      (uint8_t)(tag >> 8), (uint8_t)bits,      (uint8_t)(bits >> 8),
				  (uint8_t)id, (uint8_t)(id >> 8),  (uint8_t)(id >> 16), (uint8_t)(id >> 24)};

	memcpy(list->bytes + list->size, entry, sizeof entry);
	list->size += sizeof entry;
}

struct acl {
	unsigned owner, user, group, named, mask, other; /* the user 2 and the group 2 are named, if has_user, has_named */
	bool has_user, has_named;
};

/* As in acl(5), ACCESS CHECK ALGORITHM; the file is of user 1 and group 1. */
static bool list_allows(const struct acl *acl, const struct user *user, unsigned right)
{
	bool group = in_group(user, 1), named = acl->has_named && in_group(user, 2);
	const unsigned mask = acl->has_user || acl->has_named ? acl->mask : 7;

	if (user->uid == 1)
		return acl->owner & right;
	if (acl->has_user && user->uid == 2)
		return acl->user & mask & right;
	if (group || named)
		return (group && (acl->group & mask & right)) || (named && (acl->named & mask & right));
	return acl->other & right;
}

static mode_t narrowed(const struct acl *acl)
{
	struct list list = {.bytes = {2}, .size = 4};
	const unsigned shown = acl->has_user || acl->has_named ? acl->mask : acl->group;

	put(&list, USER_OBJ, acl->owner, UINT32_MAX);
	if (acl->has_user)
		put(&list, USER, acl->user, 2);
	put(&list, GROUP_OBJ, acl->group, UINT32_MAX);
	if (acl->has_named)
		put(&list, GROUP, acl->named, 2);
	if (acl->has_user || acl->has_named)
		put(&list, MASK, acl->mask, UINT32_MAX);
	put(&list, OTHER, acl->other, UINT32_MAX);
	return hf_acl_narrow(list.bytes, list.size, S_IFREG | acl->owner << 6 | shown << 3 | acl->other);
}

static void check_list(const struct acl *acl)
{
	const struct stat st = {.st_uid = 1, .st_gid = 1, .st_mode = narrowed(acl)};

	for (struct user user = {.uid = 1}; user.uid <= IDS; user.uid++)
		for (user.groups = 0; user.groups < GROUP_SETS; user.groups++)
			for (unsigned right = 1; right <= 4; right <<= 1)
				CHECK(!kernel_allows(&st, &user, right) || list_allows(acl, &user, right));
	CHECK_EQ(st.st_mode >> 6 & 7, acl->owner);
	if (!acl->has_user && !acl->has_named) {
		CHECK_EQ(st.st_mode >> 3 & 7, acl->group);
		CHECK_EQ(st.st_mode & 7, acl->other);
	}
}

static void test_lists(void)
{
	static const unsigned some[] = {0, 1, 4, 5, 6, 7};

	for (unsigned i = 0; i < 6 * 6 * 6 * 6 * 6 * 4; i++) {
		const struct acl acl = {.owner = 6,
					.user = some[i % 6],
					.group = some[i / 6 % 6],
					.named = some[i / 36 % 6],
					.mask = some[i / 216 % 6],
					.other = some[i / 1296 % 6],
					.has_user = i / 7776 & 1,
					.has_named = i / 7776 & 2};

		check_list(&acl);
	}
	/* Who is named gives the group away, as DESIGN says it. */
	CHECK_EQ(narrowed(&(struct acl){.owner = 6, .user = 4, .mask = 4, .has_user = true}) & 0777, 0600);
	CHECK_EQ(narrowed(&(struct acl){.owner = 6, .user = 6, .group = 4, .mask = 6, .other = 4, .has_user = true}) & 0777,
		 0644);
}

/* What is no list closes the file to all but its owner. */
static void test_bad_lists(void)
{
	struct list list = {.bytes = {2}, .size = 4};

	CHECK_EQ(hf_acl_narrow("", 0, S_IFREG | 0644), S_IFREG | 0600);
	CHECK_EQ(hf_acl_narrow(list.bytes, 4, S_IFREG | 0644), S_IFREG | 0600);
	put(&list, USER_OBJ, 6, 0);
	put(&list, GROUP_OBJ, 4, 0);
	CHECK_EQ(hf_acl_narrow(list.bytes, list.size, S_IFREG | 0644), S_IFREG | 0600);
	put(&list, OTHER, 4, 0);
	CHECK_EQ(hf_acl_narrow(list.bytes, list.size, S_IFREG | 0644), S_IFREG | 0644);
	CHECK_EQ(hf_acl_narrow(list.bytes, list.size - 1, S_IFREG | 0644), S_IFREG | 0600);
	put(&list, USER, 4, 2);
	CHECK_EQ(hf_acl_narrow(list.bytes, list.size, S_IFREG | 0644), S_IFREG | 0600);
	put(&list, 64, 4, 2);
	CHECK_EQ(hf_acl_narrow(list.bytes, list.size, S_IFREG | 0644), S_IFREG | 0600);
	list.bytes[0] = 3;
	CHECK_EQ(hf_acl_narrow(list.bytes, 28, S_IFREG | 0644), S_IFREG | 0600);
	/* A descriptor that is none: its list cannot be read. */
	CHECK_EQ(hf_acl_narrow_fd(1 << 20, S_IFREG | 0644), S_IFREG | 0600);
}

int main(void)
{
	test_soundness();
	test_precision();
	test_one_owner();
	test_open_objects();
	test_lists();
	test_bad_lists();
	return 0;
}
