package chaos

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/cluster-api/util/conditions"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	infrav1 "github.com/capmaas/cluster-api-provider-maas/api/v1beta1"
)

// store is an API server: a fake client that takes the writes, and the versions of each object for those who read. Its times are virtual.
type store struct {
	w       *world
	name    string
	raw     client.WithWatch
	objects map[objectKey][]version
	changed func(id objectKey, before, after client.Object)
}

// objectKey is an object of a kind.
type objectKey struct {
	kind string
	name string
}

func (k objectKey) String() string { return k.kind + " " + k.name }

// version is an object as it was from a time on; nil while it is not there. Nobody changes it.
type version struct {
	since  time.Time
	object client.Object
}

const namespace = "default"

func newScheme() (*runtime.Scheme, error) {
	scheme := runtime.NewScheme() // a small one, for the fake clients walk through all of it
	for _, add := range []func(*runtime.Scheme) error{corev1.AddToScheme, clusterv1.AddToScheme, infrav1.AddToScheme} {
		if err := add(scheme); err != nil {
			return nil, err
		}
	}
	return scheme, nil
}

func (w *world) newStore(name string) *store {
	return &store{
		w: w, name: name, objects: map[objectKey][]version{},
		raw: fake.NewClientBuilder().WithScheme(w.scheme).
			WithStatusSubresource(&infrav1.MaasMachine{}, &infrav1.MaasCluster{}, &infrav1.MaasMachineTemplate{}, &clusterv1.Machine{}, &clusterv1.Cluster{}).
			Build(),
	}
}

// kindOf names an object's kind.
func kindOf(o any) string {
	name := fmt.Sprintf("%T", o)
	return name[strings.LastIndex(name, ".")+1:]
}

func idOf(o client.Object) objectKey { return objectKey{kindOf(o), o.GetName()} }

// at is an object as it was some time ago; nil if there was none.
func (s *store) at(id objectKey, ago time.Duration) client.Object {
	versions := s.objects[id]
	for i := len(versions) - 1; i >= 0; i-- {
		if ago <= 0 || !versions[i].since.After(s.w.clock.Now().Add(-ago)) {
			return versions[i].object
		}
	}
	return nil
}

// find reads an object as it is; nil if there is none. Whoever changes it changes a copy.
func find[T client.Object](s *store, name string) (none T) {
	if o, ok := s.at(objectKey{kindOf(none), name}, 0).(T); ok {
		return o
	}
	return none
}

// all lists the objects of a kind, by name.
func all[T client.Object](s *store) []T {
	var none T
	var found []T
	for _, id := range s.ids(kindOf(none)) {
		if o, ok := s.at(id, 0).(T); ok {
			found = append(found, o)
		}
	}
	return found
}

// ids lists what there is, or was, of a kind.
func (s *store) ids(kind string) []objectKey {
	return slices.SortedFunc(func(yield func(objectKey) bool) {
		for id := range maps.Keys(s.objects) {
			if id.kind == kind && !yield(id) {
				return
			}
		}
	}, func(a, b objectKey) int { return strings.Compare(a.name, b.name) })
}

// wrote looks at an object that was written, or deleted, and tells who watches.
func (s *store) wrote(o client.Object) {
	id := idOf(o)
	before := s.at(id, 0)
	after := o.DeepCopyObject().(client.Object)
	if err := s.raw.Get(context.Background(), client.ObjectKeyFromObject(o), after); apierrors.IsNotFound(err) {
		after = nil
	} else if err != nil {
		s.w.t.Fatalf("read %s: %v", id, err)
	}
	if after == nil && before == nil || after != nil && before != nil && after.GetResourceVersion() == before.GetResourceVersion() {
		return
	}
	now := s.w.clock.Now()
	if after != nil && after.GetDeletionTimestamp() != nil {
		// The fake client takes it from the real clock.
		since := metav1.NewTime(now)
		if before != nil && before.GetDeletionTimestamp() != nil {
			since = *before.GetDeletionTimestamp()
		}
		after.SetDeletionTimestamp(&since)
	}
	inVirtualTime(before, after, now)
	versions := s.objects[id]
	versions = append(versions, version{now, after})
	for len(versions) > 1 && now.Sub(versions[1].since) > longestLag {
		versions = versions[1:]
	}
	s.objects[id] = versions
	if s.changed != nil {
		s.changed(id, before, after)
	}
}

// inVirtualTime gives conditions the virtual time at which they changed: Cluster API's code takes the real one.
func inVirtualTime(before, after client.Object, now time.Time) {
	o, has := after.(conditions.Setter)
	if !has {
		return
	}
	all := o.GetConditions()
	for i := range all {
		if all[i].LastTransitionTime.Before(&metav1.Time{Time: now.Add(time.Hour)}) {
			continue // the virtual times are long past
		}
		all[i].LastTransitionTime = metav1.NewTime(now.Truncate(time.Second))
		if was, had := before.(conditions.Setter); had {
			if c := conditions.Get(was, all[i].Type); c != nil && c.Status == all[i].Status {
				all[i].LastTransitionTime = c.LastTransitionTime
			}
		}
	}
	o.SetConditions(all)
}

// longestLag is how old what a client's cache shows may be.
const longestLag = 5 * time.Second

// create makes an object, as of now.
func (s *store) create(o client.Object) {
	s.w.uids++
	if o.GetUID() == "" {
		o.SetUID(uid(s.w.uids))
	}
	o.SetNamespace(namespace)
	if kindOf(o) == "Node" {
		o.SetNamespace("")
	}
	o.SetCreationTimestamp(metav1.NewTime(s.w.clock.Now()))
	s.w.must(s.raw.Create(context.Background(), o))
	s.wrote(o)
}

// edit changes an object as Cluster API or a user would; it is fine if there is none any more.
func edit[T client.Object](s *store, o T, change func(T)) {
	s.patch(o, func(o client.Object) { change(o.(T)) }, false)
}

// editStatus changes an object's status.
func editStatus[T client.Object](s *store, o T, change func(T)) {
	s.patch(o, func(o client.Object) { change(o.(T)) }, true)
}

func (s *store) patch(o client.Object, change func(client.Object), status bool) {
	before := s.at(idOf(o), 0)
	if before == nil {
		return
	}
	after := before.DeepCopyObject().(client.Object)
	change(after)
	var err error
	if status {
		err = s.raw.Status().Patch(context.Background(), after, client.MergeFrom(before))
	} else {
		err = s.raw.Patch(context.Background(), after, client.MergeFrom(before))
	}
	s.w.must(client.IgnoreNotFound(err))
	s.wrote(o)
}

// remove deletes an object, which finalizers may hold.
func (s *store) remove(o client.Object) {
	if o := s.at(idOf(o), 0); o != nil && o.GetDeletionTimestamp() == nil {
		s.w.must(client.IgnoreNotFound(s.raw.Delete(context.Background(), o.DeepCopyObject().(client.Object))))
		s.wrote(o)
	}
}

// get reads for a client whose cache is behind.
func (s *store) get(key client.ObjectKey, into client.Object, behind time.Duration) error {
	found := s.at(objectKey{kindOf(into), key.Name}, behind)
	if found == nil {
		return apierrors.NewNotFound(schema.GroupResource{Resource: strings.ToLower(kindOf(into))}, key.Name)
	}
	return copyInto(found, into)
}

func copyInto(from, into client.Object) error {
	switch into := into.(type) {
	case *infrav1.MaasMachine:
		from.(*infrav1.MaasMachine).DeepCopyInto(into)
	case *infrav1.MaasCluster:
		from.(*infrav1.MaasCluster).DeepCopyInto(into)
	case *infrav1.MaasMachineTemplate:
		from.(*infrav1.MaasMachineTemplate).DeepCopyInto(into)
	case *clusterv1.Machine:
		from.(*clusterv1.Machine).DeepCopyInto(into)
	case *clusterv1.Cluster:
		from.(*clusterv1.Cluster).DeepCopyInto(into)
	case *corev1.Secret:
		from.(*corev1.Secret).DeepCopyInto(into)
	case *corev1.Node:
		from.(*corev1.Node).DeepCopyInto(into)
	default:
		return fmt.Errorf("this store does not know %T", into)
	}
	return nil
}

// list is get for lists.
func (s *store) list(into client.ObjectList, behind time.Duration, options []client.ListOption) error {
	wanted := client.ListOptions{}
	wanted.ApplyOptions(options)
	kind := strings.TrimSuffix(kindOf(into), "List")
	for _, id := range s.ids(kind) {
		o := s.at(id, behind)
		if o == nil || wanted.LabelSelector != nil && !wanted.LabelSelector.Matches(labelsOf(o)) {
			continue
		}
		switch into := into.(type) {
		case *infrav1.MaasMachineList:
			into.Items = append(into.Items, *o.(*infrav1.MaasMachine).DeepCopy())
		case *infrav1.MaasClusterList:
			into.Items = append(into.Items, *o.(*infrav1.MaasCluster).DeepCopy())
		case *infrav1.MaasMachineTemplateList:
			into.Items = append(into.Items, *o.(*infrav1.MaasMachineTemplate).DeepCopy())
		case *clusterv1.MachineList:
			into.Items = append(into.Items, *o.(*clusterv1.Machine).DeepCopy())
		case *clusterv1.ClusterList:
			into.Items = append(into.Items, *o.(*clusterv1.Cluster).DeepCopy())
		case *corev1.NodeList:
			into.Items = append(into.Items, *o.(*corev1.Node).DeepCopy())
		default:
			return fmt.Errorf("this store does not know %T", into)
		}
	}
	return nil
}
