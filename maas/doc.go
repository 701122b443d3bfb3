// Package maas is a typed client of the MAAS 2.0 REST API (MAAS 2.9 to 3.7).
//
// It knows nothing of Kubernetes. Three rules shape it:
//
//   - Every failure has a kind (see [Error]). A write whose answer was lost is [ErrOutcomeUnknown]: read, then decide.
//     Nothing in this package repeats a request by itself.
//   - Every call has a deadline, and no error, log line or printed value holds an API key or user data.
//   - Answers are decoded leniently: what a version of MAAS leaves out or sends as null is the zero value.
package maas
