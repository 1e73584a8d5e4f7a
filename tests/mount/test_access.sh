#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# A mount for everybody: nobody gets to see through a view, or through a file with an access list, what the archive does
# not let him read. Four users without accounts: alice owns what is secret, bob writes descriptions that name it, carol
# is in alice's group, dave in none.
. "$(dirname "$0")/../lib/mount.sh" || exit 1
need_root
need_fuse
python3 -c "import os" 2>/dev/null || skip "python3 is needed"

alice=70001 bob=70002 carol=70003 dave=70004 team=80001
chmod 755 "$tmp"
word=ALICE-KNOWS-THIS # what nobody but alice may see

# give PATH OWNER GROUP MODE
give() { chown "$2:$3" "$archive/$1" && chmod "$4" "$archive/$1"; }
# text PATH OWNER GROUP MODE TEXT
text() {
	[[ $1 != */* ]] || [ -d "$archive/${1%/*}" ] || mkdir -p "$archive/${1%/*}"
	printf '%b' "$5" >"$archive/$1"
	give "$1" "$2" "$3" "$4"
}
# secret PATH OWNER GROUP MODE
printf -v ones '\\0001%.0s' {1..60}
secret() { text "$1" "$2" "$3" "$4" "$word $1\n$ones$word\n"; }

# probe USER GROUP COMMAND [ARGUMENT...]: what that user sees; see the commands below. One process forks one for each line.
cat >"$tmp/probe.py" <<'PY'
import errno, os, stat, sys
for line in sys.stdin:
    child = os.fork()
    if not child:
        break
    print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)
else:
    sys.exit()
os.dup2(2, 1)
user, group, command, *args = line.rstrip("\n").split("\t")
os.setgroups([])
os.setgid(int(group))
os.setuid(int(user))
WORD = b"ALICE-KNOWS-THIS"

def read(path):
    """The first MiB of a file; None: not for this user."""
    try:
        with open(path, "rb") as f:
            return f.read(1 << 20)
    except PermissionError:
        return None

def all_of(top):
    """Whether everything below is for this user, and all bytes that are."""
    found, whole = b"", True
    def no(error):
        nonlocal whole
        whole = False
    for base, dirs, files in os.walk(top, onerror=no):
        for name in files:
            data = read(os.path.join(base, name))
            whole = whole and data is not None
            found += data or b""
    return whole, found

def attributes(path):
    """Names and values of extended attributes that this user gets."""
    got = b""
    for name in os.listxattr(path) + ["user.hartfs." + n for n in ("error", "instructions", "problems", "state")]:
        got += name.encode() if name in os.listxattr(path) else b""
        try:
            got += os.getxattr(path, name)
        except OSError as e:
            if e.errno not in (errno.EACCES, errno.ENODATA):
                raise
    return got

def closed(top, files):
    """Nothing of a view directory, whose files root has listed, nor of a slice."""
    bad = []
    for path in [top] + files:
        try:
            if attributes(path):
                bad.append("attributes of " + path)
        except PermissionError:
            pass
    for path in files + [top + "/hart0/at/0-1/listing.txt", top + "/hart0/at/0-1/program.elf"]:
        try:
            data = open(path, "rb").read()
            bad.append("read " + path + (" WITH THE SECRET" if WORD in data else ""))
        except PermissionError:
            pass
        except FileNotFoundError:
            bad.append("looked for " + path)
    for path in {top} | {os.path.dirname(f) for f in files}:
        try:
            bad.append("list %s: %s" % (path, os.listdir(path)))
        except PermissionError:
            pass
    return bad

def is_open(top):
    whole, data = all_of(top)
    attributes(top)
    return whole and data

if command == "expect":
    # Lines "closed VIEWS", "open VIEWS"; all files of the mount are listed in a file.
    mount, listed, lines = args
    files = open(listed).read().split("\n")
    failed = False
    for line in open(lines):
        wanted, views = line.split()
        top = os.path.join(mount, views)
        mine = [f for f in files if f.startswith(top + "/")]
        bad = [] if len(mine) > 1 else ["root sees nothing in it"]
        mine.sort(key=lambda f: "source" not in f)
        if wanted == "closed":
            bad += closed(top, mine)
        elif not is_open(top):
            bad.append("it is closed")
        if bad:
            st = os.stat(top)
            print("FAIL: user %s: %s (%o %d:%d) should be %s: %s" %
                  (user, views, st.st_mode, st.st_uid, st.st_gid, wanted, "; ".join(bad[:3])))
        failed = failed or bad
    sys.exit(bool(failed))
elif command == "open":
    sys.exit(not is_open(args[0]))
elif command == "nothing":
    bad = [path for path in args if read(path) is not None]
    print("FAIL: user %s reads" % user, *bad) if bad else None
    sys.exit(bool(bad))
elif command == "table":
    # Lines "VIEWS FILE...": who reads the views must be able to read all the files, where they lie.
    archive, mount, lines = args
    bad = strict = kept = 0
    for line in open(lines):
        views, *files = line.split()
        truth = all(read(os.path.join(archive, f)) is not None for f in files)
        mode = os.stat(os.path.join(mount, views)).st_mode
        try:
            shown = bool(os.listdir(os.path.join(mount, views)))
        except PermissionError:
            shown = False
        whole, data = all_of(os.path.join(mount, views)) if shown else (False, b"")
        if shown and not truth:
            print("user %s reads %s (%o), but not %s" % (user, views, mode, files), WORD in data)
            bad += 1
        if shown and not whole:
            print("user %s reads only some of %s (%o)" % (user, views, mode))
            bad += 1
        kept += shown
        strict += truth and not shown
    print("user %s: reads %d, %d not though he may" % (user, kept, strict), file=sys.stderr)
    sys.exit(bad > 0)
elif command == "files":
    # Plain files: the mount gives no more than the archive.
    archive, mount, lines = args
    bad = 0
    for line in open(lines):
        path = line.strip()
        if read(os.path.join(mount, path)) is not None and read(os.path.join(archive, path)) is None:
            print("user %s reads %s in the mount alone" % (user, path))
            bad += 1
    sys.exit(bad > 0)
elif command == "read":
    data = read(args[0])
    sys.exit(1 if data is None else 0)
PY
coproc python3 "$tmp/probe.py"
probe() {
	local IFS=$'\t' status
	echo "$*" >&"${COPROC[1]}"
	read -r status <&"${COPROC[0]}" && return "$status"
}

# expect USER GROUP LINE...: "closed VIEWS" and "open VIEWS", of this user.
expect() {
	local user=$1 group=$2
	shift 2
	find "$mnt" -type f >"$tmp/files"
	printf '%s\n' "$@" >"$tmp/expected"
	probe "$user" "$group" expect "$mnt" "$tmp/files" "$tmp/expected" || fail "line ${BASH_LINENO[0]}"
}

# ---- what there is ----

mkdir "$archive"/{alice,bob}
mkdir "$archive/alice/closed"
secret alice/secret.bin $alice $team 0600
secret alice/closed/public.bin $alice $team 0644
secret alice/group.bin $alice $team 0640
secret alice/public.bin $alice $team 0644
text alice/secret.ini $alice $team 0600 "$word is no line of a device\n[$word\n$word=1\n"
text bob/bytes.bin $bob $bob 0644 '\0001\0002\0003'
give alice $alice $team 0755
give alice/closed $alice $team 0700
give bob $bob $bob 0755

# describe NAME TEXT: bob's directory of that name with a capture.ini.
describe() { mkdir -p "$archive/bob/$1" && text "bob/$1/capture.ini" $bob $bob 0644 "$2" && give "bob/$1" $bob $bob 0755; }
etrace='[capture]\nformat = etrace\nframing = te_inst_raw\n'
describe trace "${etrace}trace = ../../alice/secret.bin\n"
describe beneath "${etrace}trace = ../../alice/closed/public.bin\n"
describe raw "${etrace}trace = ../bytes.bin\n[program]\nraw = ../../alice/secret.bin, address = 0x1000\n"
describe elf "${etrace}trace = ../bytes.bin\n[program]\nelf = ../../alice/secret.bin\n"
describe second "${etrace}trace = ../bytes.bin\ntrace = ../../alice/secret.bin\n"
describe detour "${etrace}trace = ./../raw/..//../alice/closed/../secret.bin\n"
describe group "${etrace}trace = ../../alice/group.bin\n"
describe public "${etrace}trace = ../../alice/public.bin\n"
text bob/alone.ini $bob $bob 0644 "${etrace}trace = ../alice/secret.bin\n"
mkdir "$archive/bob/snapshot"
text bob/snapshot/snapshot.ini $bob $bob 0644 '[snapshot]\nversion=1.0\n[device_list]\n[trace]\nmetadata=../../alice/secret.ini\n'
give bob/snapshot $bob $bob 0755
# A capture.ini of whose directory only the owner may pass.
mkdir "$archive/bob/inner"
text bob/inner/capture.ini $bob $bob 0644 "${etrace}trace = ../bytes.bin\n"
give bob/inner $bob $bob 0700
# The ELF beside a capture: its symbols go into the listing.
cp "$HARTFS_DATA/archive/boot/rv-sys.stf.gz" "$archive/bob/"
cp "$HARTFS_DATA/archive/boot/rv-sys.elf" "$archive/bob/"
give bob/rv-sys.stf.gz $bob $bob 0644
give bob/rv-sys.elf $alice $team 0600
cp "$HARTFS_DATA/archive/mini/rv32-mini.stf" "$archive/alice/own.stf"
give alice/own.stf $alice $team 0600
# A name that is a link to what is not there to be followed.
ln -s ../../alice/secret.bin "$archive/bob/link.bin"
describe link "${etrace}trace = ../link.bin\n"

# The table: every permission of a member and of the directory in which it lies, of three owners.
: >"$tmp/table"
mkdir "$archive/t"
modes=(0600 0640 0604 0644 0077)
dirs=(0700 0750 0711 0755)
for owner in $alice $bob; do
	for dir in "${dirs[@]}"; do
		place=t/$owner-$dir
		mkdir "$archive/$place"
		for mode in "${modes[@]}"; do
			secret "$place/$mode.bin" $owner $team $mode
			text "t/$owner-$dir-$mode.ini" $bob $bob 0644 "${etrace}trace = ${place#t/}/$mode.bin\n"
			echo "t/$owner-$dir-$mode.ini@etrace t/$owner-$dir-$mode.ini $place/$mode.bin" >>"$tmp/table"
		done
		give "$place" $owner $team "$dir"
	done
done
# Two members of different owners and groups.
for mode in 0600 0640 0644; do
	for other in 0600 0640 0644; do
		secret "t/a$mode.bin" $alice $team $mode
		secret "t/c$other.bin" $carol $team $other
		text "t/two-$mode-$other.ini" $bob $bob 0644 "${etrace}trace = a$mode.bin\ntrace = c$other.bin\n"
		echo "t/two-$mode-$other.ini@etrace t/two-$mode-$other.ini t/a$mode.bin t/c$other.bin" >>"$tmp/table"
	done
done
give t root root 0755

# Access lists, where the file system has them.
: >"$tmp/plain"
has_lists=
if command -v setfacl >/dev/null && : >"$tmp/try" && setfacl -m u:$dave:r "$tmp/try" 2>/dev/null; then
	has_lists=yes
	mkdir "$archive/l"
	# list NAME MODE ENTRY...: a file of alice's with these entries, and a description of it.
	list() {
		local name=$1 mode=$2 entry
		shift 2
		secret "l/$name.bin" $alice $team "$mode"
		for entry in "$@"; do setfacl -m "$entry" "$archive/l/$name.bin"; done
		text "l/$name.ini" $bob $bob 0644 "${etrace}trace = $name.bin\n"
		echo "l/$name.ini@etrace l/$name.ini l/$name.bin" >>"$tmp/table"
		echo "l/$name.bin" >>"$tmp/plain"
	}
	list user 0600 u:$dave:r
	list mask 0600 u:$dave:rw m::r
	list shut 0644 u:$dave:-
	list shut-group 0644 g:$bob:-
	list both 0640 u:$dave:r g:$bob:r
	list masked 0644 u:$dave:r m::-
	mkdir "$archive/l/dir"
	secret l/dir/in.bin $alice $team 0644
	give l/dir $alice $team 0755
	setfacl -m u:$dave:- "$archive/l/dir"
	text l/dir.ini $bob $bob 0644 "${etrace}trace = dir/in.bin\n"
	echo "l/dir.ini@etrace l/dir.ini l/dir/in.bin" >>"$tmp/table"
	echo l/dir/in.bin >>"$tmp/plain"
	give l root root 0755
else
	echo "SKIP: access lists: no setfacl, or none on this file system"
fi

strangers=(closed\ bob/{trace,beneath,raw,elf,second,detour,inner}@etrace 'closed bob/snapshot@ete'
	'closed bob/alone.ini@etrace' 'closed bob/rv-sys@stf@gz' 'closed alice/own@stf' 'open bob/public@etrace')
check() {
	local user
	expect $dave $dave "${strangers[@]}" 'closed bob/group@etrace' "open t/$alice-0711-0644.ini@etrace"
	# Of the table's rows that say it with one owner and group nothing is lost.
	expect $carol $team "${strangers[@]}" 'open bob/group@etrace' \
		open\ t/{$alice-0755-0640.ini,$alice-0750-0644.ini,two-0644-0640.ini}@etrace
	expect $bob $bob "${strangers[@]/closed bob\/inner/open bob/inner}" 'closed bob/group@etrace'
	expect $alice $team open\ bob/{group,trace,second,public}@etrace 'open bob/rv-sys@stf@gz' 'open alice/own@stf' \
		"open t/$alice-0700-0600.ini@etrace" ${has_lists:+"open l/both.ini@etrace"}
	grep -rq "$word" "$mnt/bob/link@etrace" && fail "a link was followed"
	for user in "$alice $team" "$bob $bob" "$carol $team" "$dave $dave"; do
		# shellcheck disable=SC2086
		probe $user table "$archive" "$mnt" "$tmp/table" || fail "the table"
		# shellcheck disable=SC2086
		probe $user files "$archive" "$mnt" "$tmp/plain" || fail "plain files"
	done
}

# ---- as it is found, and as the catalogue has it ----

do_mount --wait -o allow_other
check
# .hartfs is root's, who mounted.
probe $bob $bob nothing "$mnt"/.hartfs/* && ! probe $bob $bob open "$mnt/.hartfs" || fail "bob looks into .hartfs"
[ "$(stat -c %a "$mnt/.hartfs")" = 500 ] && [ "$(stat -c %a "$mnt/.hartfs/log.txt")" = 400 ] || fail "modes of .hartfs"
grep -q . "$mnt/.hartfs/log.txt" || fail "root cannot read the log"
do_umount
do_mount --wait -o allow_other,status=all
check
probe $dave $dave open "$mnt/.hartfs" || fail "status=all, and dave cannot read it"

# ---- changed under way ----

# change_mode MODE PATH VIEWS: closing holds for the next open, whatever the kernel remembers; opening it again follows.
change_mode() {
	local before
	before=$(stat -c %a "$archive/$2")
	wait_until probe $dave $dave open "$mnt/$3" || fail "$3 is not open to begin with"
	chmod "$1" "$archive/$2"
	probe $dave $dave nothing "$mnt/$3"/{info.json,source.bin,errors.txt} || fail "$2 was closed, $3 was not"
	expect $dave $dave "closed $3"
	chmod "$before" "$archive/$2"
	wait_until probe $dave $dave open "$mnt/$3" || fail "$2 was opened again, $3 was not"
}
change_mode 0600 alice/public.bin bob/public@etrace
change_mode 0700 alice bob/public@etrace
change_mode 0640 bob/public/capture.ini bob/public@etrace
change_mode 0700 bob/public bob/public@etrace
# A plain file too.
probe $dave $dave read "$mnt/alice/public.bin" || fail "a public file"
chmod 600 "$archive/alice/public.bin"
probe $dave $dave nothing "$mnt/alice/public.bin" || fail "a file was closed, and was not in the mount"
chmod 644 "$archive/alice/public.bin"
# A list that is added later.
if [ -n "$has_lists" ]; then
	wait_until probe $dave $dave read "$mnt/alice/public.bin" || fail "a file was opened again"
	setfacl -m u:$dave:- "$archive/alice/public.bin"
	probe $dave $dave nothing "$mnt/alice/public.bin" "$mnt/bob/public@etrace/source.bin" ||
		fail "a list was added, and dave reads all the same"
	setfacl -b "$archive/alice/public.bin"
fi

# A description that is rewritten in place, with the size and the time it had, names another file.
describe forged "${etrace}trace = ../../alice/public.bin\n"
wait_until probe $dave $dave open "$mnt/bob/forged@etrace" || fail "forged is not open"
touch -r "$archive/bob/forged/capture.ini" "$tmp/time"
sed 's/public.bin/secret.bin/' "$archive/bob/forged/capture.ini" >"$tmp/forged"
cat "$tmp/forged" >"$archive/bob/forged/capture.ini"
touch -r "$tmp/time" "$archive/bob/forged/capture.ini"
do_umount
do_mount -o allow_other
shows_secret() { grep -aqs "$word alice/secret" "$mnt/bob/forged@etrace/source.bin"; }
wait_until shows_secret || fail "forged has no views after all"
expect $dave $dave 'closed bob/forged@etrace'
do_umount

# ---- hartfs.conf ----

rm -r "$archive/t" "$archive/l" 2>/dev/null
text hartfs.conf $alice $team 0600 'etrace.version = 2.0\n'
do_mount --wait -o allow_other
expect $dave $dave 'closed bob/public@etrace'
do_umount
text hartfs.conf $alice $team 0600 '# nothing but words\n'
do_mount --wait -o allow_other
expect $dave $dave 'open bob/public@etrace'
do_umount
text hartfs.conf $alice $team 0644 'etrace.version = 2.0\n'
do_mount --wait -o allow_other
expect $dave $dave 'open bob/public@etrace'
chmod 600 "$archive/hartfs.conf"
wait_until eval '! probe $dave $dave read "$mnt/bob/public@etrace/info.json"' || fail "hartfs.conf was closed, the views were not"
do_umount
"$hartfs" mount --index-dir "$index" -o status=some "$archive" "$mnt" 2>"$tmp/err"
[ $? = 2 ] || fail "status=some is taken"
finish
