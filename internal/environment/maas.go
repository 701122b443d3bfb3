// Package environment makes of environment variables what programs need. Which variables there are, it alone knows.
package environment

import (
	"errors"
	"fmt"
	"strings"

	"github.com/capmaas/cluster-api-provider-maas/maas"
)

// The names are those that existing installations use.
const (
	endpointVariable = "MAAS_ENDPOINT"
	keyVariable      = "MAAS_API_KEY"
	caFileVariable   = "MAAS_CA_FILE"

	endpointExample = "http://maas.example.com:5240/MAAS"
	keyExample      = "consumer:token:secret"
)

// variables tells which variable a field of the client's configuration comes from, and how one looks.
var variables = map[string]struct{ name, example string }{
	"Endpoint": {endpointVariable, endpointExample},
	"APIKey":   {keyVariable, keyExample},
	"CAFile":   {caFileVariable, "/etc/ssl/maas-ca.pem"},
}

// Usage describes the variables in the help of a program.
const Usage = "Environment:\n" +
	"  " + endpointVariable + "  URL of MAAS, such as " + endpointExample + "\n" +
	"  " + keyVariable + "   API key of an administrator: three parts with colons between them\n" +
	"  " + caFileVariable + "   file with PEM certificates to trust beside the system's (optional)"

// NewMAAS makes the client from the environment, which getenv reads. Its errors name the variable that is wrong, and never its value.
func NewMAAS(getenv func(string) string, observe func(maas.Call), userAgent string) (*maas.Client, error) {
	config := maas.Config{
		Endpoint:  getenv(endpointVariable),
		APIKey:    getenv(keyVariable),
		CAFile:    getenv(caFileVariable),
		UserAgent: userAgent,
		Observe:   observe,
	}
	for _, field := range []struct{ name, value string }{{"Endpoint", config.Endpoint}, {"APIKey", config.APIKey}} {
		if field.value == "" {
			variable := variables[field.name]
			return nil, fmt.Errorf("the environment variable %s is not set%s", variable.name, exampleFor(variable.example, ""))
		}
	}
	client, err := maas.New(config)
	var wrong *maas.ConfigError
	if errors.As(err, &wrong) {
		if variable, known := variables[wrong.Field]; known {
			return nil, fmt.Errorf("the environment variable %s is not valid: %s%s",
				variable.name, wrong.Message, exampleFor(variable.example, wrong.Message))
		}
	}
	return client, err
}

// exampleFor ends a message with an example, unless the message has it.
func exampleFor(example, message string) string {
	if strings.Contains(message, example) {
		return ""
	}
	return " (example: " + example + ")"
}
