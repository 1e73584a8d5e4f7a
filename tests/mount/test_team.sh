#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# An index directory that a team shares: what its group may read is for the group, what its members made is used with
# --trust alone, nobody removes another's, and what an interrupted run of somebody left is in nobody's way.
. "$(dirname "$0")/../lib/mount.sh"
need_fuse
need_root
command -v setpriv >/dev/null || skip "setpriv is needed"
getent group users >/dev/null || skip "there is no group 'users'"
gid=$(getent group users | cut -d: -f3)
chmod 755 "$tmp" "$archive"
chown :users "$index" && chmod 2770 "$index"

# as NUMBER COMMAND...: a member of the team, who is in a group of his own and in users.
as() { setpriv --reuid "$1" --regid "$1" --groups "$gid" env HOME="$tmp" "${@:2}"; }
ann() { as 20001 timeout "$patience" "$hartfs" "$1" --index-dir "$index" --index-mode=group --pack-below 0 "${@:2}"; }
bob() { as 20002 timeout "$patience" "$hartfs" "$1" --index-dir "$index" --index-mode=group --pack-below 0 "${@:2}"; }
trust=--trust=group:users

source=$(find "$HARTFS_DATA/archive" -name 'rv32-mini.stf' | head -1)
for name in open group secret; do
	cp "$source" "$archive/$name.stf"
	touch -d "2020-01-01 00:00:${#name}" "$archive/$name.stf"
done
chown 20001:users "$archive"/*.stf
chmod 644 "$archive/open.stf" && chmod 640 "$archive/group.stf" && chmod 600 "$archive/secret.stf"
"$hartfs" cat --index-dir "$tmp/own" "$archive/open.stf" hart0/listing.txt >"$tmp/want" || fail "cat ended with $?"

# What may be read is, whatever the umask says; what may not is not.
(umask 077; ann index -q "$archive") || fail "index ended with $?"
modes() { find "$index" -name "*.hf$1" -printf '%m %g\n' | sort | uniq -c | tr -s ' '; }
[ "$(modes i)" = " 1 600 users"$'\n'" 2 640 users" ] || fail "modes of indexes: $(modes i)"
[ "$(modes c)" = " 1 600 users" ] || fail "modes of catalogues: $(modes c)"
sums() { find "$index" -user 20001 -name '*.hf[iq]' -exec sha256sum {} + | sort; }
sums >"$tmp/ann"

# With trust it is used, without it is left alone.
bob verify $trust "$archive/open.stf" "$archive/group.stf" >"$tmp/out" || fail "verify ended with $?: $(cat "$tmp/out")"
bob cat $trust "$archive/group.stf" hart0/listing.txt | cmp - "$tmp/want" || fail "another listing with --trust"
[ -z "$(find "$index" -user 20002 -name '*.hf[iqv]')" ] || fail "made again what is trusted"
bob cat "$archive/group.stf" hart0/listing.txt | cmp - "$tmp/want" || fail "another listing without --trust"
bob index "$archive/group.stf" >"$tmp/out" 2>&1 && fail "index beside another user's ended with 0"
grep -q 'another user made .*hfi; --trust=group:NAME uses what members of a group made' "$tmp/out" || fail "$(cat "$tmp/out")"
sums | cmp - "$tmp/ann" || fail "somebody's files were changed"

# Root's mount, which all may read, uses them, too.
do_mount --wait --sandbox=try --index-mode=group $trust -o allow_other
grep -q 'group.stf: indexed' "$log" && fail "root indexed again what it trusts: $(cat "$log")"
as 20002 cmp "$mnt/group@stf/hart0/listing.txt" "$tmp/want" || fail "another listing through root's mount"
do_umount
sums | cmp - "$tmp/ann" || fail "root's mount changed somebody's files"

# Where others may write, a file's group says nothing.
chmod 2777 "$index"
bob cat $trust "$archive/group.stf" hart0/listing.txt | cmp - "$tmp/want" || fail "another listing in an open directory"
bob index $trust "$archive/group.stf" >/dev/null 2>&1 && fail "trusted in a directory that everybody may write to"
chmod 2770 "$index"

# What an interrupted run left: of a process that is gone it goes, of one that works it stays, and is in nobody's way.
name=$(basename "$(find "$index" -name '*.hfi' -perm 640 | head -1)")
left=$index/.$name.part
find "$index" -name '*.hf[iqv]' -delete
as 20001 bash -c "umask 027; head -c 9000 /dev/urandom >'$left'"
bob index -q $trust "$archive/open.stf" "$archive/group.stf" || fail "index beside what was left ended with $?"
[ ! -e "$left" ] || fail "what nobody works on is left"
find "$index" -name '*.hf[iqv]' -delete
setpriv --reuid 20001 --regid 20001 --groups "$gid" env HOME="$tmp" python3 - "$left" <<'END' &
import fcntl, os, sys, time
os.umask(0o027)
fd = os.open(sys.argv[1], os.O_RDWR | os.O_CREAT, 0o640)
os.write(fd, b"busy")
fcntl.lockf(fd, fcntl.LOCK_EX, 1)
time.sleep(600)
END
worker=$!
held() { [ -s "$left" ]; }
wait_until held || fail "nobody holds the file"
bob index -q $trust "$archive/open.stf" "$archive/group.stf" || fail "index beside one at work ended with $?"
bob cat $trust "$archive/group.stf" hart0/listing.txt | cmp - "$tmp/want" || fail "another listing beside one at work"
bob index --prune >/dev/null || fail "prune ended with $?"
[ -e "$left" ] || fail "the file of one at work is gone"
kill -9 "$worker" && wait "$worker" 2>/dev/null
bob index --prune >/dev/null || fail "prune ended with $?"
[ ! -e "$left" ] || fail "prune leaves what nobody works on"

as 20001 mkdir -p "$left/full" || fail "mkdir"
find "$index" -name '*.hf[iqv]' -delete
bob index -q $trust "$archive/open.stf" "$archive/group.stf" || fail "index beside a directory in its way ended with $?"

# Only a setgid directory gives its files its group.
mkdir "$tmp/plain" && chmod 777 "$tmp/plain"
as 20001 "$hartfs" index --index-mode=group --index-dir "$tmp/plain" "$archive/open.stf" >"$tmp/out" 2>&1 && fail "a plain directory"
grep -q 'is no setgid directory' "$tmp/out" || fail "$(cat "$tmp/out")"
"$hartfs" index --trust=group:no-such-group "$archive" 2>&1 | grep -q "not a valid value of --trust" || fail "a group that is not there"
finish
