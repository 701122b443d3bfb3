#!/bin/sh
# The first process of a machine that stands in for MAAS's installer: does around the image's hook what curtin does, and tells how it
# went. The disk that was unpacked on is also the one that this system runs from; the hook cannot tell.
exec </dev/console >/dev/console 2>&1
export PATH=/usr/sbin:/usr/bin:/sbin:/bin
say() { printf '@%s %s\n' "$1" "$2" >/dev/ttyS1; }
say begin ""

mount -o remount,rw /
/lib/systemd/systemd-udevd --daemon
udevadm trigger --action=add
udevadm settle

mount -t tmpfs none /mnt
mkdir -p /mnt/target /mnt/state
mount --bind / /mnt/target
echo "/dev/disk/by-uuid/$(findmnt --noheadings --output UUID --target /) / ext4 defaults 0 1" >/mnt/state/fstab
if [ -d /sys/firmware/efi ]; then
	say firmware UEFI
	modprobe efivarfs
	mount -t efivarfs efivarfs /sys/firmware/efi/efivars
	esp=/dev/disk/by-uuid/$(blkid --match-token LABEL=ESP --match-tag UUID --output value)
	mkdir -p /mnt/target/boot/efi
	mount -t vfat "$esp" /mnt/target/boot/efi
	echo "$esp /boot/efi vfat defaults 0 1" >>/mnt/state/fstab
else
	say firmware BIOS
fi
cp /image-check/curtin.yaml /image-check/network.yaml /mnt/state/

export TARGET_MOUNT_POINT=/mnt/target WORKING_DIR=/mnt/state
export CONFIG=/mnt/state/curtin.yaml OUTPUT_FSTAB=/mnt/state/fstab OUTPUT_NETWORK_CONFIG=/mnt/state/network.yaml
/mnt/target/curtin/curtin-hooks
say hook $?

# What MAAS then looks for, as it does it.
for command in "cloud-init --version" "netplan info"; do
	chroot /mnt/target bash -c "$command" >/dev/null && say validated "$command"
done
[ -e /curtin ] && say left /curtin
say mounts "$(grep -c ' /mnt/target/\(dev\|proc\|sys\|run\)' /proc/mounts)"
for file in /etc/cloud/cloud.cfg.d/90_maas_*; do say config "$(stat -c '%a %n' "$file")"; done
[ ! -d /sys/firmware/efi ] || efibootmgr | while read -r line; do say nvram "$line"; done
(cd /mnt/target/boot/efi 2>/dev/null && find . -type f) | while read -r file; do say esp "$file"; done
rm -r /image-check
umount /mnt/target/boot/efi 2>/dev/null
udevadm control --exit
say end ""
sync
mount -o remount,ro /
echo o >/proc/sysrq-trigger
sleep 600
