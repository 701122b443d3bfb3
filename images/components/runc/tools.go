//go:build tools

// Package tools pins runc, which is built from this module.
package tools

import _ "github.com/opencontainers/runc"
