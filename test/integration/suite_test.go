package integration

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"testing"

	rbacv1 "k8s.io/api/rbac/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"k8s.io/klog/v2"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/envtest"
	"sigs.k8s.io/yaml"

	"github.com/capmaas/cluster-api-provider-maas/internal/controllers"
	"github.com/capmaas/cluster-api-provider-maas/test/apiserver"
)

const checkout = "../.."

// suite is what all tests share: one API server, in which each test has a namespace of its own.
var suite struct {
	config *rest.Config
	client client.Client // as a user, not as the provider
	// kubeconfig is that of an administrator, for programs.
	kubeconfig []byte
	// managerKubeconfig is that of a user who may do what config/rbac allows the manager, and nothing else.
	managerKubeconfig []byte
	webhookCerts      string // the folder with the certificate that the API server takes webhooks' answers from
	folder            string // for files of all tests; it goes with the suite
}

func TestMain(m *testing.M) {
	// The tests wait more than they compute. Whoever says -parallel is obeyed.
	if err := flag.Set("test.parallel", "10"); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	flag.Parse()
	code, err := runSuite(m)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

func runSuite(m *testing.M) (code int, err error) {
	if !testing.Verbose() {
		klog.LogToStderr(false)
		klog.SetOutput(io.Discard)
	}
	ctrl.SetLogger(klog.Background())
	if suite.folder, err = os.MkdirTemp("", "integration-"); err != nil {
		return 1, err
	}
	defer os.RemoveAll(suite.folder)
	environment, err := apiserver.Prepare(context.Background(), checkout)
	if err != nil {
		return 1, err
	}
	if suite.config, err = environment.Start(); err != nil {
		return 1, fmt.Errorf("start the API server: %w", err)
	}
	defer func() {
		if stopErr := environment.Stop(); stopErr != nil && err == nil {
			code, err = 1, fmt.Errorf("stop the API server: %w", stopErr)
		}
	}()
	user, err := environment.AddUser(envtest.User{Name: "admin", Groups: []string{"system:masters"}}, nil)
	if err != nil {
		return 1, fmt.Errorf("make a user: %w", err)
	}
	if suite.kubeconfig, err = user.KubeConfig(); err != nil {
		return 1, fmt.Errorf("make a kubeconfig: %w", err)
	}
	scheme, err := controllers.NewScheme()
	if err != nil {
		return 1, err
	}
	if err := apiextensionsv1.AddToScheme(scheme); err != nil {
		return 1, err
	}
	if suite.client, err = client.New(suite.config, client.Options{Scheme: scheme}); err != nil {
		return 1, err
	}
	if err := installOurCRDs(context.Background(), suite.config, suite.client); err != nil {
		return 1, err
	}
	if err := bindManager(context.Background(), environment); err != nil {
		return 1, err
	}
	stopWebhooks, err := serveWebhooks(context.Background())
	if err != nil {
		return 1, err
	}
	defer func() {
		if stopErr := stopWebhooks(); stopErr != nil && err == nil {
			code, err = 1, fmt.Errorf("stop the webhooks: %w", stopErr)
		}
		os.RemoveAll(suite.webhookCerts)
	}()
	return m.Run(), nil
}

// bindManager makes the user that the manager runs as in a process of its own, with the role that an installation has.
func bindManager(ctx context.Context, environment *envtest.Environment) error {
	const name = "manager"
	text, err := os.ReadFile(filepath.Join(checkout, "config/rbac/role.yaml"))
	if err != nil {
		return err
	}
	role := &rbacv1.ClusterRole{}
	if err := yaml.UnmarshalStrict(text, role); err != nil {
		return fmt.Errorf("read the manager's role: %w", err)
	}
	binding := &rbacv1.ClusterRoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: role.Name},
		Subjects:   []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: rbacv1.UserKind, Name: name}},
	}
	for _, object := range []client.Object{role, binding} {
		if err := suite.client.Create(ctx, object); err != nil {
			return fmt.Errorf("give the manager its rights: %w", err)
		}
	}
	user, err := environment.AddUser(envtest.User{Name: name}, nil)
	if err != nil {
		return fmt.Errorf("make the manager's user: %w", err)
	}
	if suite.managerKubeconfig, err = user.KubeConfig(); err != nil {
		return fmt.Errorf("make the manager's kubeconfig: %w", err)
	}
	return nil
}
