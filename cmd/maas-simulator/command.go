package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"github.com/capmaas/cluster-api-provider-maas/maas/simulator"
)

// options are the command's flags.
type options struct {
	listen       string
	config       string
	machines     int
	cores        int
	memoryMiB    int
	apiKey       string
	install      time.Duration
	boot         time.Duration
	powerOff     time.Duration
	version      string
	dnsAddr      string
	dnsForwarder string
	publicURL    string
	imageDir     string
	tls          simulator.TLS
	profile      string
	script       scriptOptions
}

func newCommand(out io.Writer) *cobra.Command {
	var o options
	cmd := &cobra.Command{
		Use:   "maas-simulator",
		Short: "Serve a simulated MAAS region: REST API, metadata service and DNS",
		Example: "  maas-simulator --machines 8\n" +
			"  maas-simulator --config region.yaml --listen 10.20.0.2:5240 --dns 10.20.0.2:53\n" +
			"  maas-simulator --machines 8 --scenario docs/scenarios/bad-night.yaml --control :5241",
		Args: cobra.NoArgs, SilenceUsage: true, SilenceErrors: true,
		RunE: func(cmd *cobra.Command, _ []string) error {
			cfg, err := o.build(cmd.Flags().Changed)
			if err != nil {
				return err
			}
			script, err := o.script.read()
			if err != nil {
				return err
			}
			return serve(cmd.Context(), cfg, o.listen, script, out)
		},
	}
	o.addFlags(cmd)
	return cmd
}

func (o *options) addFlags(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVar(&o.listen, "listen", "127.0.0.1:5240", "address of the API and the metadata service")
	flags.StringVar(&o.config, "config", "", "YAML file that describes the region")
	flags.IntVar(&o.machines, "machines", 0, "add this many machines of one kind, named machine-1, machine-2, …")
	flags.IntVar(&o.cores, "cores", 4, "cores of the machines that --machines adds")
	flags.IntVar(&o.memoryMiB, "memory", 8192, "memory of the machines that --machines adds, in MiB")
	flags.StringVar(&o.apiKey, "api-key", simulator.DefaultAPIKey, "API key of the admin, when the configuration has no users")
	flags.StringVar(&o.profile, "profile", "", "how long everything takes that is not set: instant, maas-like or slow; the times below when empty")
	flags.DurationVar(&o.install, "install-time", 20*time.Second, "how long an installation takes")
	flags.DurationVar(&o.boot, "boot-time", 5*time.Second, "how long the installed system boots until it asks for its user data")
	flags.DurationVar(&o.powerOff, "power-off-time", 2*time.Second, "how long it takes to switch a machine off")
	flags.StringVar(&o.version, "maas-version", "3.7.3", "MAAS version to imitate")
	flags.StringVar(&o.dnsAddr, "dns", "", "address of the DNS server; none when empty")
	flags.StringVar(&o.dnsForwarder, "dns-forwarder", "", "DNS server for other names; they are refused when empty")
	flags.StringVar(&o.publicURL, "public-url", "", "URL at which machines reach the region (http://host:port/MAAS)")
	flags.StringVar(&o.imageDir, "image-dir", "", "folder for the content of uploaded images; it is checked and dropped when empty")
	flags.StringVar(&o.tls.Listen, "tls-listen", "", "address of the API with TLS, such as 127.0.0.1:5443; the other one then redirects there, as MAAS's does")
	flags.StringVar(&o.tls.CertFile, "tls-cert", "", "certificate (PEM) for --tls-listen; made at start, with a CA, when empty")
	flags.StringVar(&o.tls.KeyFile, "tls-key", "", "key (PEM) of --tls-cert")
	flags.StringVar(&o.tls.CAOut, "tls-ca-out", "", "file to write the certificate of the CA into that is made at start")
	o.script.addFlags(cmd)
}

// build makes the region's configuration of file and flags; flags that were
// given win over the file.
func (o options) build(given func(string) bool) (simulator.Config, error) {
	var cfg simulator.Config
	if o.config != "" {
		var err error
		if cfg, err = readConfig(o.config); err != nil {
			return cfg, err
		}
	}
	if given("profile") {
		cfg.Profile = simulator.Profile(o.profile)
	}
	for flag, field := range map[string]struct {
		target *time.Duration
		value  time.Duration
	}{
		"install-time":   {&cfg.Durations.Install, o.install},
		"boot-time":      {&cfg.Durations.Boot, o.boot},
		"power-off-time": {&cfg.Durations.PowerOff, o.powerOff},
	} {
		if given(flag) || (o.config == "" && cfg.Profile == "") {
			*field.target = field.value
		}
	}
	for flag, field := range map[string]struct {
		target *string
		value  string
	}{
		"dns":           {&cfg.DNSAddr, o.dnsAddr},
		"dns-forwarder": {&cfg.DNSForwarder, o.dnsForwarder},
		"public-url":    {&cfg.PublicURL, o.publicURL},
		"image-dir":     {&cfg.ImageDir, o.imageDir},
		"tls-listen":    {&cfg.TLS.Listen, o.tls.Listen},
		"tls-cert":      {&cfg.TLS.CertFile, o.tls.CertFile},
		"tls-key":       {&cfg.TLS.KeyFile, o.tls.KeyFile},
		"tls-ca-out":    {&cfg.TLS.CAOut, o.tls.CAOut},
	} {
		if given(flag) {
			*field.target = field.value
		}
	}
	cfg.Clock = simulator.NewJumpingClock()
	if given("maas-version") || cfg.Version == "" {
		cfg.Version = o.version
	}
	if len(cfg.Users) == 0 {
		cfg.Users = []simulator.User{{Name: "admin", APIKey: o.apiKey, Admin: true}}
	}
	if o.machines < 0 {
		return cfg, errors.New("--machines must not be negative")
	}
	if o.machines > 0 {
		cfg.Inventory = append(cfg.Inventory, simulator.Group{
			Count: o.machines, Hostname: "machine-{n}", Cores: []int{o.cores}, MemoryMiB: []int{o.memoryMiB},
		})
	}
	return cfg, nil
}

// serve runs the region until ctx ends.
func serve(ctx context.Context, cfg simulator.Config, listen string, s *script, out io.Writer) error {
	region, err := simulator.New(cfg)
	if err != nil {
		return err
	}
	played, err := s.play(ctx, region, cfg.Clock, out)
	if err != nil {
		return err
	}
	server, err := region.Start(ctx, listen)
	if err != nil {
		played.close()
		return err
	}
	machines := cfg.Size()
	fmt.Fprintf(out, "MAAS %s, simulated, with %d machines\n", region.Version(), machines)
	if machines == 0 {
		fmt.Fprintln(out, "  no machines: give --machines 8, or describe some in a file for --config")
	}
	fmt.Fprintf(out, "  URL      %s\n", server.URL)
	if server.TLSURL != "" {
		fmt.Fprintf(out, "  with TLS %s\n", server.TLSURL)
	}
	for _, u := range cfg.Users {
		role := "user"
		if u.Admin {
			role = "admin"
		}
		fmt.Fprintf(out, "  API key  %s (%s, %s)\n", u.APIKey, u.Name, role)
	}
	if server.DNSAddr != "" {
		fmt.Fprintf(out, "  DNS      %s\n", server.DNSAddr)
	}
	end := played.announce(out)
	<-ctx.Done()
	end()
	return server.Close()
}
