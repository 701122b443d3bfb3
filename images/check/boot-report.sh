#!/bin/sh
# Tells what became of a boot: a fact a line, a word and the rest.
say() { printf '@%s %s\n' "$1" "$2"; }
each() {
	key=$1
	shift
	"$@" 2>&1 | while IFS= read -r line; do say "$key" "$line"; done
}

say begin ""
# In its first moments the init system does not answer.
for try in $(seq 120); do
	state=$(systemctl is-system-running --wait 2>/dev/null)
	case "$state" in running | degraded | maintenance | stopping) break ;; esac
	sleep 1
done
say state "$state"
for unit in $(systemctl list-units --failed --plain --no-legend --full | cut -d' ' -f1); do
	say failed "$unit: $(journalctl --quiet --unit "$unit" --lines 3 --output cat | tr '\n' ' ')"
done
each jobs systemctl list-jobs --plain --no-legend --full
each cloud-init cloud-init status --wait --long
each cloud-errors sh -c 'python3 -c "import json; print(*json.load(open(\"/var/lib/cloud/data/result.json\"))[\"v1\"][\"errors\"], sep=\"\\n\")"'
each datasource sh -c 'python3 -c "import json; print(json.load(open(\"/var/lib/cloud/data/result.json\"))[\"v1\"][\"datasource\"])"'
say written "$(cat /run/image-check/written 2>&1)"
say hostname "$(hostname)"
say machine-id "$(tr -d '\n' </etc/machine-id | wc -c)"
each host-key sh -c 'cd /etc/ssh && ls ssh_host_*_key'
for unit in containerd ssh systemd-networkd systemd-resolved kubelet; do say unit "$unit $(systemctl is-active $unit)"; done
each image sh -c 'crictl images | tail -n +2'
say virtualization "$(systemd-detect-virt)"
say container-machine "$(systemctl show --property ConditionResult --value container-machine.service)"
each laid sh -c 'cd /usr/lib/container-machine/files && find . -type f | while read -r file; do [ ! -e "/$file" ] || echo "${file#.}"; done'
each address ip -brief -4 address show scope global
for name in net.ipv4.ip_forward net.bridge.bridge-nf-call-iptables; do say sysctl "$name $(sysctl -n $name 2>&1)"; done
for name in overlay br_netfilter; do say module "$name $([ -d /sys/module/$name ] && echo yes || echo no)"; done
say cgroup "$(stat -f -c %T /sys/fs/cgroup)"
each swap swapon --show --noheadings
say end ""
