// Package endpoint publishes how a control plane is reached. It is the one writer of DNS records in MAAS: everybody who wants a
// name changed asks the [Publisher].
//
// A record is one address record in MAAS, named for the cluster and marked as ours by a TXT record of the same name. The mark
// is made first: MAAS makes an empty address record along with it, so that there is no moment in which an address record of
// ours exists without its mark, whatever crashes. A record without our mark is never edited and never deleted.
//
// Nothing is written from memory: each call that may write reads what MAAS has, decides by comparison (compare.go, which does no
// I/O), and always sends the whole set. Departure may empty a record; observation never does. What was last seen of a record is
// kept for those who only look (memory.go), and to notice that it lost addresses which nobody here took out.
package endpoint
