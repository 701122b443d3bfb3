// Package controllers puts the provider's controllers together, in the same way for the manager and for tests.
package controllers
