package management

import (
	"bytes"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/yaml"
)

// ReadManifests reads all objects of a YAML file.
func ReadManifests(text []byte) ([]*unstructured.Unstructured, error) {
	decoder := yaml.NewYAMLOrJSONDecoder(bytes.NewReader(text), 64<<10)
	var out []*unstructured.Unstructured
	for {
		object := &unstructured.Unstructured{}
		err := decoder.Decode(object)
		if errors.Is(err, io.EOF) {
			return out, nil
		}
		if err != nil {
			return nil, fmt.Errorf("reading manifests: %w", err)
		}
		if len(object.Object) > 0 {
			out = append(out, object)
		}
	}
}

// forProcesses keeps of a provider's components what counts when its controllers run as plain processes: CRDs, namespaces,
// webhooks, and the kinds that are given. Webhooks are called at a port of the loopback, by the certificate authority given as PEM.
func forProcesses(objects []*unstructured.Unstructured, port int, authority []byte, also ...string) ([]*unstructured.Unstructured, error) {
	var out []*unstructured.Unstructured
	for _, object := range objects {
		var err error
		switch object.GetKind() {
		case "Namespace":
		case "CustomResourceDefinition":
			err = redirectConversion(object, port, authority)
		case "MutatingWebhookConfiguration", "ValidatingWebhookConfiguration":
			err = redirectWebhooks(object, port, authority)
		default:
			if !slices.Contains(also, object.GetKind()) {
				continue
			}
		}
		if err != nil {
			return nil, fmt.Errorf("%s %s: %w", object.GetKind(), object.GetName(), err)
		}
		annotations := object.GetAnnotations()
		delete(annotations, "cert-manager.io/inject-ca-from")
		object.SetAnnotations(annotations)
		out = append(out, object)
	}
	return out, nil
}

func redirectConversion(crd *unstructured.Unstructured, port int, authority []byte) error {
	path := []string{"spec", "conversion", "webhook", "clientConfig"}
	config, found, err := unstructured.NestedMap(crd.Object, path...)
	if err != nil || !found {
		return err
	}
	if err := redirect(config, port, authority, "/convert"); err != nil {
		return err
	}
	return unstructured.SetNestedMap(crd.Object, config, path...)
}

func redirectWebhooks(configuration *unstructured.Unstructured, port int, authority []byte) error {
	webhooks, _, err := unstructured.NestedSlice(configuration.Object, "webhooks")
	if err != nil {
		return err
	}
	for _, each := range webhooks {
		webhook, ok := each.(map[string]any)
		if !ok {
			return errors.New("a webhook is no object")
		}
		config, ok := webhook["clientConfig"].(map[string]any)
		if !ok {
			return errors.New("a webhook has no clientConfig")
		}
		if err := redirect(config, port, authority, "/"); err != nil {
			return err
		}
	}
	return unstructured.SetNestedSlice(configuration.Object, webhooks, "webhooks")
}

// redirect replaces the Service of a webhook's client configuration by a URL.
func redirect(config map[string]any, port int, authority []byte, path string) error {
	service, ok := config["service"].(map[string]any)
	if !ok {
		return errors.New("its webhook is not called through a Service")
	}
	if given, ok := service["path"].(string); ok {
		path = given
	}
	delete(config, "service")
	config["url"] = "https://127.0.0.1:" + strconv.Itoa(port) + path
	config["caBundle"] = base64.StdEncoding.EncodeToString(authority)
	return nil
}
