//go:build tools

// Package tools pins crictl, which is built from this module.
package tools

import _ "sigs.k8s.io/cri-tools/cmd/crictl"
