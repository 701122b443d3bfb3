package endpoint

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/capmaas/cluster-api-provider-maas/maas"
)

// Publisher changes records in MAAS. It is safe for concurrent use, and one process has one for each MAAS.
type Publisher struct {
	// Changed, if set, is called when a record was seen to have lost addresses that nobody here took out, or had to be made
	// although the cluster has control-plane machines: those have to join again. It is called on the caller's goroutine, must not
	// block or call the publisher, and is set before the first use.
	Changed func(Record)
	// Now is the clock by which sightings age; nil means time.Now. It is set before the first use.
	Now func() time.Time

	maas   *maas.Client
	names  nameLocks
	memory memory
}

// NewPublisher returns a publisher for the MAAS that client talks to. The client's key must be an administrator's.
func NewPublisher(client *maas.Client) *Publisher { return &Publisher{maas: client} }

// State is what a call left in MAAS.
type State struct {
	// Exists says that a record of ours exists.
	Exists bool
	// Addresses are those of our record, sorted.
	Addresses []string
	// Created says that this call made the record.
	Created bool
	// Removed are addresses that this call took out, Added those that it put in.
	Removed, Added []string
	// TTL is how long resolvers may keep the addresses that this call took out; 0 if it took none out.
	TTL time.Duration
}

// Has reports whether the record holds an address.
func (s State) Has(address string) bool { return slices.Contains(s.Addresses, canonical(address)) }

// Ensure makes the record if there is none, removes addresses of machines that are not members, and repairs what else
// drifted. It never adds an address. Of a record that is as it should be it takes one request. Errors: [*NotOursError],
// [*DomainNotFoundError], [*DomainNotAuthoritativeError], and [*RecordError] or others around those of package maas. [Explain] words them.
func (p *Publisher) Ensure(ctx context.Context, record Record, members Members) (State, error) {
	unlock, err := p.names.lock(ctx, record.FQDN())
	if err != nil {
		return State{}, err
	}
	defer unlock()
	state, err := p.publish(ctx, record, change{members: &members})
	if state.Created && len(members.SystemIDs) > 0 {
		p.changed(record)
	}
	return state, err
}

// Join adds an address, and makes the record if there is none. The address must just have been read from a machine of ours: one
// that no machine has would be reserved by MAAS. Errors are those of Ensure.
func (p *Publisher) Join(ctx context.Context, record Record, address string) (State, error) {
	unlock, err := p.names.lock(ctx, record.FQDN())
	if err != nil {
		return State{}, err
	}
	defer unlock()
	return p.publish(ctx, record, change{join: address})
}

// Leave takes a machine's addresses out of the record: those that MAAS says the machine has, and those that are named. Both may
// be empty. It may empty the record. A record that does not exist or is not ours is no error: nothing of ours is in it.
func (p *Publisher) Leave(ctx context.Context, record Record, systemID string, addresses ...string) (State, error) {
	unlock, err := p.names.lock(ctx, record.FQDN())
	if err != nil {
		return State{}, err
	}
	defer unlock()
	found, err := p.find(ctx, record)
	if domainGone(err) {
		return State{}, nil
	}
	if err != nil {
		return State{}, err
	}
	d := decide(record, found, change{leave: &departure{systemID: systemID, addresses: addresses}})
	if !d.found {
		return State{}, nil
	}
	// Once the record is written nobody can tell any more how long the old one is kept.
	ttl := p.ttlOf(ctx, record, found)
	state, err := p.act(ctx, record, d)
	if err == nil && len(state.Removed) > 0 {
		state.TTL = ttl
	}
	return state, err
}

// Read returns what our record holds now. A record that does not exist or is not ours is an empty State.
func (p *Publisher) Read(ctx context.Context, record Record) (State, error) {
	found, err := p.find(ctx, record)
	if domainGone(err) {
		return State{}, nil
	}
	if err != nil {
		return State{}, err
	}
	d := decide(record, found, change{})
	return State{Exists: d.found, Addresses: d.present}, nil
}

// Glance is Read for those who only look: it returns what was last seen of the record, or left in it by a write of ours, if that
// is not older than maxAge. Many who ask at once cost one request.
func (p *Publisher) Glance(ctx context.Context, record Record, maxAge time.Duration) (State, error) {
	since := p.now().Add(-maxAge)
	if state, ok := p.memory.young(record, since); ok {
		return state, nil
	}
	unlock, err := p.names.lock(ctx, record.FQDN())
	if err != nil {
		return State{}, err
	}
	defer unlock()
	if state, ok := p.memory.young(record, since); ok {
		return state, nil
	}
	return p.Read(ctx, record)
}

// Remove deletes the record, with its mark, and says whether there was one. One that is gone, or whose domain is, is no error,
// and one that is not ours stays.
func (p *Publisher) Remove(ctx context.Context, record Record) (removed bool, err error) {
	unlock, err := p.names.lock(ctx, record.FQDN())
	if err != nil {
		return false, err
	}
	defer unlock()
	found, err := p.find(ctx, record)
	if domainGone(err) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	d := decide(record, found, change{})
	if !d.found {
		return false, nil
	}
	p.memory.forget(record)
	return true, p.delete(ctx, record, append(d.surplus, d.id)...)
}

// publish brings the record to what is wanted, marking a new one first.
func (p *Publisher) publish(ctx context.Context, record Record, want change) (State, error) {
	found, err := p.find(ctx, record)
	if err != nil {
		return State{}, err
	}
	d := decide(record, found, want)
	created := false
	if !d.found {
		if d.foreign || record.Token == "" {
			return State{}, &NotOursError{FQDN: record.FQDN()}
		}
		if err := p.checkDomain(ctx, record.Domain); err != nil {
			return State{}, err
		}
		if found, err = p.mark(ctx, record); err != nil {
			return State{}, err
		}
		if d = decide(record, found, want); !d.found {
			return State{}, &RecordError{record.FQDN(), making, errors.New("MAAS does not show it")}
		}
		created = true
	}
	state, err := p.act(ctx, record, d)
	state.Created = created
	if err == nil && d.foreign {
		err = &NotOursError{FQDN: record.FQDN()}
	}
	return state, err
}

// mark makes the TXT record, and with it an empty address record: MAAS 3.4 to 3.7 make one for any record whose name is new.
func (p *Publisher) mark(ctx context.Context, record Record) ([]maas.DNSResource, error) {
	_, err := p.maas.CreateDNSRecord(ctx, maas.DNSRecordParams{
		Name: record.Name, Domain: record.Domain, Type: "TXT", Data: record.mark(),
	})
	// Whether a lost answer meant success is seen by looking.
	if err != nil && !errors.Is(err, maas.ErrOutcomeUnknown) {
		return nil, &RecordError{record.FQDN(), making, err}
	}
	found, readErr := p.find(ctx, record)
	if readErr != nil {
		return nil, readErr
	}
	if err != nil && !decide(record, found, change{}).found {
		return nil, &RecordError{record.FQDN(), making, err}
	}
	return found, nil
}

// act writes a decision's set and deletes its surplus.
func (p *Publisher) act(ctx context.Context, record Record, d decision) (State, error) {
	state := State{Exists: true, Addresses: d.present}
	if d.write {
		_, err := p.maas.UpdateDNSResource(ctx, d.id, maas.DNSResourceParams{AddressTTL: AddressTTL, IPAddresses: d.set})
		if err != nil {
			p.memory.forget(record)
			return state, &RecordError{record.FQDN(), writing, err}
		}
		p.memory.wrote(record, State{Exists: true, Addresses: d.set}, p.now())
		state.Added, state.Removed = without(d.set, d.present), without(d.present, d.set)
	}
	if err := p.delete(ctx, record, d.surplus...); err != nil {
		return state, err
	}
	state.Addresses = d.set
	return state, nil
}

func (p *Publisher) find(ctx context.Context, record Record) ([]maas.DNSResource, error) {
	began := p.now()
	found, err := p.maas.DNSResources(ctx, maas.DNSResourceFilter{Name: record.Name, Domain: record.Domain})
	if err != nil && !errors.Is(err, maas.ErrNotFound) {
		return nil, &RecordError{record.FQDN(), reading, err}
	}
	d := decide(record, found, change{})
	if p.memory.found(record, State{Exists: d.found, Addresses: d.present}, began) {
		p.changed(record)
	}
	if err != nil {
		return nil, &DomainNotFoundError{Domain: record.Domain}
	}
	return found, nil
}

func (p *Publisher) changed(record Record) {
	if p.Changed != nil {
		p.Changed(record)
	}
}

func (p *Publisher) now() time.Time {
	if p.Now != nil {
		return p.Now()
	}
	return time.Now()
}

func (p *Publisher) delete(ctx context.Context, record Record, ids ...int) error {
	for _, id := range ids {
		if err := p.maas.DeleteDNSResource(ctx, id); err != nil && !errors.Is(err, maas.ErrNotFound) {
			return &RecordError{record.FQDN(), deleting, err}
		}
	}
	return nil
}

// checkDomain makes sure that MAAS answers for the domain.
func (p *Publisher) checkDomain(ctx context.Context, name string) error {
	domains, err := p.maas.Domains(ctx)
	if err != nil {
		return fmt.Errorf("read the DNS domains: %w", err)
	}
	for _, domain := range domains {
		if domain.Name != name {
			continue
		}
		if !domain.Authoritative {
			return &DomainNotAuthoritativeError{Domain: name}
		}
		return nil
	}
	return &DomainNotFoundError{Domain: name}
}

func domainGone(err error) bool {
	var gone *DomainNotFoundError
	return errors.As(err, &gone)
}

// without returns what is in set but not in other.
func without(set, other []string) []string {
	var rest []string
	for _, item := range set {
		if !slices.Contains(other, item) {
			rest = append(rest, item)
		}
	}
	return rest
}
