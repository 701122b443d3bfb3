# Arguments: the image's root, a folder to mount on, the program with its arguments.
set -eu
lower=$1 here=$2
shift 2
mount -t tmpfs -o mode=755 tmpfs "$here"
mkdir "$here/upper" "$here/work" "$here/root"
mount -t overlay -o "lowerdir=$lower,upperdir=$here/upper,workdir=$here/work" overlay "$here/root"
cd "$here/root"
mount -t proc proc proc
mount -t tmpfs -o mode=755 tmpfs run
mount -t tmpfs -o mode=1777 tmpfs tmp
mount -t tmpfs -o mode=755 tmpfs dev
mknod -m 666 dev/null c 1 3
mknod -m 666 dev/zero c 1 5
mknod -m 666 dev/full c 1 7
mknod -m 666 dev/random c 1 8
mknod -m 666 dev/urandom c 1 9
mknod -m 666 dev/tty c 5 0
ln -s /proc/self/fd dev/fd
ln -s fd/0 dev/stdin
ln -s fd/1 dev/stdout
ln -s fd/2 dev/stderr
mkdir dev/shm run/lock run/sshd
exec chroot . /usr/bin/env -i PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LANG=C.UTF-8 "$@" </dev/null
