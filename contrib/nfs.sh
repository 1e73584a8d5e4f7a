#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# An archive and an index directory on NFS 4.2, as root on Debian: nfs-ganesha exports an ext4 image, and the kernel's client
# mounts it twice, as two machines would, all of it in a Linux of its own (User Mode Linux) without a network. Two processes
# index the same captures at once; one is killed and another goes on from the other mount; two mounts of hartfs with that
# index show what an index of their own shows; a capture is replaced on one mount, and the other one notices.
#	contrib/nfs.sh
set -eu
cd "$(dirname "$0")/.."
. contrib/packages.sh
[ "$(id -u)" = 0 ] || { echo "only root can do this" >&2; exit 1; }
install_packages user-mode-linux nfs-ganesha nfs-ganesha-vfs nfs-common busybox-static iproute2
hartfs=${HARTFS_BIN:-$PWD/build/release/hartfs}
work=$(mktemp -d)
trap 'rm -rf --one-file-system "$work"' EXIT
"$hartfs" cat --index-dir "$work/own" tests/data/archive/mini/rv32-mini.stf hart0/listing.txt >"$work/want"
truncate -s 1G "$work/disk"
mkfs.ext4 -q "$work/disk"
cat >"$work/ganesha.conf" <<END
NFS_CORE_PARAM { Enable_UDP = false; Protocols = 4; NFS_Port = 12049; Enable_NLM = false; Enable_RQUOTA = false; }
NFSv4 { RecoveryRoot = /run/state; Graceless = true; Lease_Lifetime = 20; }
EXPORT { Export_Id = 1; Path = /run/disk; Pseudo = /disk; Access_Type = RW; Squash = No_Root_Squash; SecType = sys;
	Protocols = 4; Transports = TCP; FSAL { Name = VFS; } }
EXPORT { Export_Id = 2; Path = /run/disk/archive; Pseudo = /squashed; Access_Type = RO; Squash = Root_Squash; SecType = sys;
	Protocols = 4; Transports = TCP; FSAL { Name = VFS; } }
END
# What runs inside; the root of this machine is seen there, but not what is mounted on it.
cat >"$work/init" <<END
#!/bin/bash
hartfs=$hartfs work=$work samples=$PWD/tests/data/archive
END
cat >>"$work/init" <<'END'
export PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/run
mount -t proc proc /proc
mount -t sysfs sys /sys
mount -t tmpfs tmp /run
mount -t devtmpfs dev /dev
exec >"$work/out" 2>&1
modules=/usr/lib/uml/modules/$(uname -r)
for module in nfsv4 fuse; do
	grep "/$module.ko:" "$modules/modules.dep" | tr -d : | tr ' ' '\n' | tac | while read -r file; do busybox insmod "$modules/$file"; done
done 2>/dev/null
ip link set lo up
mkdir /run/{disk,state,n1,n2,n3,h1,h2}
mount -t ext4 /dev/ubda /run/disk
cp -r "$samples" /run/disk/archive
ganesha.nfsd -f "$work/ganesha.conf" -p /run/pid -L /run/log -N NIV_EVENT
for _ in {1..60}; do grep -q INITIALIZED /run/log && break; sleep 1; done
for at in n1:disk n2:disk n3:squashed; do
	mount -t nfs -o vers=4.2,proto=tcp,port=12049,sec=sys,nosharecache "127.0.0.1:/${at#*:}" "/run/${at%:*}" || cat /run/log
done
right() { cmp "$1" "$work/want" && echo "$2: right"; }
index() { "$hartfs" index --index-dir "/run/$1/$2" "/run/$1/archive"; }
for round in 1 2 3; do
	mkdir /run/disk/both.$round
	index n1 both.$round >/run/one 2>&1 &
	index n2 both.$round >/run/two 2>&1 && wait $! && echo "two at once: both are content" || cat /run/one /run/two
done
mkdir /run/disk/index
index n1 index & pid=$!
until ls -A /run/disk/index | grep -q 'hfi.part$'; do sleep 0.1; done
kill -9 $pid
index n2 index && echo "after a kill: indexed from the other mount"
for n in 1 2; do
	"$hartfs" mount --wait --index-dir "/run/n$n/index" "/run/n$n/archive" "/run/h$n"
	right "/run/h$n/mini/rv32-mini@stf/hart0/listing.txt" "mount $n"
	grep '^hartfs_indexed_total' "/run/h$n/.hartfs/metrics.prom"
done
head -c 1000000 "$samples/mini/rv32-mini.stf" >/run/n2/new && mv /run/n2/new /run/n2/archive/mini/rv32-mini.stf
begun=$SECONDS
until [ "$(stat -c %s /run/h1/mini/rv32-mini@stf/source.stf 2>/dev/null)" = 1000000 ] || [ $((SECONDS - begun)) -gt 200 ]; do sleep 0.2; done
echo "a capture was replaced: $(stat -c %s /run/h1/mini/rv32-mini@stf/source.stf) bytes, seen after $((SECONDS - begun)) s"
for n in 1 2; do "$hartfs" umount "/run/h$n"; done
chown 20001 /run/n2/archive/mini/rv32-mini.stf
chmod 600 /run/n2/archive/mini/rv32-mini.stf
mkdir /run/squashed
"$hartfs" index --index-dir /run/squashed /run/n3 && echo "WRONG: root_squash hides nothing"
echo end
busybox poweroff -f
END
chmod +x "$work/init"
linux.uml mem=1G ubd0="$work/disk" root=/dev/root rootfstype=hostfs rw init="$work/init" con=null con0=fd:0,fd:1 \
	</dev/null >"$work/console" 2>&1 || true
cat "$work/out"
grep -q '^end$' "$work/out" || { tail -n 30 "$work/console"; exit 1; }
! grep 'WRONG\|differ\|failed:\|not finished' "$work/out" &&
	[ "$(grep -c 'both are content' "$work/out")" = 3 ] && [ "$(grep -c ': right$' "$work/out")" = 2 ] && grep -q ': 1000000 bytes' "$work/out"
