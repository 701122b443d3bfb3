package maasmachine

import (
	"context"
	"fmt"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	infrav1 "github.com/capmaas/cluster-api-provider-maas/api/v1beta1"
	"github.com/capmaas/cluster-api-provider-maas/internal/userdata"
)

// bootstrap is what is known of the user data, without the data.
type bootstrap struct {
	ready   bool
	secret  string // the name of the Secret that is to hold it; "" while nobody named one
	found   bool   // that Secret is there
	format  string // "" means cloud-config
	fault   string // why cloud-init can make nothing of it
	size    int    // in bytes, and request that of a request with it
	request int

	token      string // the public part of its join token; "" if it has none
	tokenState tokenState
}

// tokenState is what the workload cluster knows of a join token.
type tokenState int

const (
	tokenUnknown tokenState = iota // there is none, or nobody can ask
	tokenValid
	tokenExpired
	tokenGone
)

// The formats that Cluster API's bootstrap providers name.
const (
	cloudConfig = "cloud-config"
	ignition    = "ignition"
)

// windowsImages are not started by cloud-init, and what starts them has marks of its own.
const windowsImages = "windows/"

// bootstrapOf judges the Secret with the user data; nil if there is none yet.
func bootstrapOf(secret *corev1.Secret, image string) bootstrap {
	if secret == nil {
		return bootstrap{}
	}
	value := secret.Data["value"]
	b := bootstrap{
		secret: secret.Name, found: true, ready: len(value) > 0, format: string(secret.Data["format"]), size: len(value), request: userdata.RequestSize(value),
	}
	if b.request > userdata.MaxRequest {
		return b
	}
	b.token = userdata.JoinToken(value)
	switch {
	case userdata.IsIgnition(value):
		b.format = ignition // whatever the Secret says, or does not say
	case b.ready && (b.format == "" || b.format == cloudConfig) && !strings.HasPrefix(image, windowsImages):
		b.fault = userdata.Fault(value)
	}
	return b
}

// unusable says why no machine can be deployed with the bootstrap data.
func (o observation) unusable() (reason, message string) {
	b := o.bootstrap
	switch {
	case !b.ready:
		return infrav1.WaitingForBootstrapDataReason, o.waitsForBootstrap()
	case b.format != "" && b.format != cloudConfig:
		return infrav1.UnsupportedBootstrapFormatReason, fmt.Sprintf("the bootstrap data of %s is in format %q, and only cloud-config is supported: set the format %s",
			o.ownerName(), brief(b.format, maxFormat), whereBootstrapIsSet)
	case b.fault != "":
		return infrav1.InvalidBootstrapDataReason, fmt.Sprintf("the bootstrap data of %s in Secret %s %s: correct what makes it, and delete %s in Kubernetes to get another",
			o.ownerName(), b.secret, b.fault, o.ownerName())
	case b.request > userdata.MaxRequest:
		return infrav1.BootstrapDataTooLargeReason, fmt.Sprintf("%s, and MAAS takes at most %s: %s", o.howLarge(), inUnits(userdata.MaxRequest), o.makeSmaller())
	case b.tokenState == tokenExpired:
		return infrav1.BootstrapTokenExpiredReason, fmt.Sprintf("the join token in the bootstrap data of %s has expired: Cluster API renews it while %s is not paused; if it does not, %s",
			o.ownerName(), o.clusterName(), o.replace())
	case b.tokenState == tokenGone:
		return infrav1.BootstrapTokenExpiredReason, fmt.Sprintf("the join token in the bootstrap data of %s is not valid in the workload cluster any more, so no machine can join with it: %s",
			o.ownerName(), o.replace())
	}
	return "", ""
}

// maxFormat is how much of an unknown format's name is shown, in bytes.
const maxFormat = 40

// howLarge says how large the bootstrap data is, and what MAAS gets of it.
func (o observation) howLarge() string {
	return fmt.Sprintf("the bootstrap data of %s has %s, which makes a request of %s", o.ownerName(), inUnits(o.bootstrap.size), inUnits(o.bootstrap.request))
}

// makeSmaller is what a person can do about it.
func (o observation) makeSmaller() string {
	return "make its files fewer or shorter " + whereBootstrapIsSet
}

// inUnits writes a number of bytes for people.
func inUnits(bytes int) string {
	if bytes < 1<<20 {
		return fmt.Sprintf("%d KiB", (bytes+1023)/1024)
	}
	return fmt.Sprintf("%.1f MiB", float64(bytes)/(1<<20))
}

// observeBootstrap looks whether the user data is there, and what can be done with it.
func (r *Reconciler) observeBootstrap(ctx context.Context, o *observation) error {
	secret, err := r.bootstrapSecret(ctx, o.owner)
	if err != nil {
		return err
	}
	o.bootstrap = bootstrapOf(secret, o.object.Spec.Image)
	if o.owner != nil && o.owner.Spec.Bootstrap.DataSecretName != nil {
		o.bootstrap.secret = *o.owner.Spec.Bootstrap.DataSecretName
	}
	if reason, _ := o.unusable(); reason == "" {
		o.bootstrap.tokenState = r.tokenStateOf(ctx, o)
	}
	return nil
}

// bootstrapSecret reads the secret with the user data; nil if there is none yet.
func (r *Reconciler) bootstrapSecret(ctx context.Context, owner *clusterv1.Machine) (*corev1.Secret, error) {
	if owner == nil || owner.Spec.Bootstrap.DataSecretName == nil {
		return nil, nil
	}
	secret := &corev1.Secret{}
	key := client.ObjectKey{Namespace: owner.Namespace, Name: *owner.Spec.Bootstrap.DataSecretName}
	if err := r.Client.Get(ctx, key, secret); err != nil {
		if apierrors.IsNotFound(err) {
			return nil, nil
		}
		return nil, fmt.Errorf("read the bootstrap data: %w", err)
	}
	return secret, nil
}

// tokenStateOf asks the workload cluster whether the join token is valid still. Cluster API 1.14 lengthens the life of one that is there, and makes
// no new one for a Machine. Where the workload cluster does not answer, nothing is concluded.
func (r *Reconciler) tokenStateOf(ctx context.Context, o *observation) tokenState {
	if o.bootstrap.token == "" || o.cluster == nil || !o.controlPlaneInitialized() {
		return tokenUnknown
	}
	ctx, cancel := context.WithTimeout(ctx, readPatience)
	defer cancel()
	workload, err := r.ClusterCache.GetClient(ctx, client.ObjectKeyFromObject(o.cluster))
	if err != nil {
		return tokenUnknown
	}
	secret := &corev1.Secret{}
	err = workload.Get(ctx, client.ObjectKey{Namespace: metav1.NamespaceSystem, Name: "bootstrap-token-" + o.bootstrap.token}, secret)
	switch expires, unreadable := time.Parse(time.RFC3339, string(secret.Data["expiration"])); {
	case apierrors.IsNotFound(err):
		return tokenGone
	case err != nil:
		return tokenUnknown
	case unreadable == nil && !o.now.Before(expires):
		return tokenExpired
	}
	return tokenValid
}
