package maas

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"testing"
)

const testUserData = "#cloud-config\nwrite_files:\n- content: abcdef.0123456789abcdef\n  path: /run/kubeadm/kubeadm.yaml\n"

func TestNoErrorRepeatsTheKeyOrUserData(t *testing.T) {
	t.Parallel()
	encoded := base64.StdEncoding.EncodeToString([]byte(testUserData))
	echoes := map[string]string{
		"secret":               "Expected signature base string: &" + testSecret,
		"secret, escaped":      "oauth_signature=%26" + testSecret,
		"whole key":            "key " + testKey,
		"secret, split":        "x " + testSecret[:10] + "\x00" + testSecret[10:],
		"secret at the cut":    strings.Repeat("a", maxMessage-10) + testSecret,
		"secret after spaces":  strings.Repeat(" ", 2000) + testSecret,
		"user data":            "failed: " + testUserData,
		"piece of user data":   "token abcdef.0123456789abcdef is bad",
		"user data as a repr":  fmt.Sprintf("%q", testUserData),
		"user data, base64":    "invalid: " + encoded,
		"a piece of base64":    "invalid: " + encoded[40:60],
		"both":                 testUserData + testKey,
		"base64, many lines":   "x\n" + encoded[:30] + "\n" + encoded[30:60],
		"secret in form error": `{"x": ["` + testSecret + `"]}`,
	}
	types := []string{"text/plain", "text/html", "application/json", ""}
	for name, echo := range echoes {
		for _, status := range []int{200, 302, 400, 401, 403, 404, 409, 418, 500, 503} {
			for _, kind := range types {
				answer := text(status, kind, echo)
				answer.Headers = map[string]string{"Location": "https://other.example/" + url.PathEscape(echo)}
				c, _ := answering(t, answer)
				_, err := c.Deploy(context.Background(), "4y3h7n", DeployParams{UserData: []byte(testUserData)})
				if err == nil {
					t.Fatalf("%s %d %s: no error", name, status, kind)
				}
				checkMessage(t, err)
				all := fmt.Sprintf("%v %+v %s", err, err, err)
				for _, private := range []string{"abcdef.0123", encoded[40:55], encoded[:20], "kubeadm.yaml", testSecret[:16]} {
					if strings.Contains(all, private) {
						t.Errorf("%s %d %s: %q is in %q", name, status, kind, private, all)
					}
				}
			}
		}
	}
}

func TestWithheldMessagesStillHaveAKind(t *testing.T) {
	t.Parallel()
	c, _ := answering(t, text(400, "text/plain", "bad: "+testUserData))
	_, err := c.Deploy(context.Background(), "4y3h7n", DeployParams{UserData: []byte(testUserData)})
	if !errors.Is(err, ErrInvalid) || !strings.Contains(err.Error(), "withheld") {
		t.Errorf("got %v", err)
	}
	c, _ = answering(t, text(409, "text/plain", "Can't deploy a machine that is in the 'Deployed' state"))
	if _, err = c.Deploy(context.Background(), "4y3h7n", DeployParams{UserData: []byte(testUserData)}); !strings.Contains(err.Error(), "'Deployed' state") {
		t.Errorf("a harmless message is withheld: %v", err)
	}
}

func TestPrintingShowsNoSecret(t *testing.T) {
	t.Parallel()
	config := Config{Endpoint: "http://maas.example", APIKey: testKey}
	c, err := New(config)
	if err != nil {
		t.Fatal(err)
	}
	params := DeployParams{UserData: []byte(testUserData), DistroSeries: "jammy"}
	for _, value := range []any{c, *c, config, &config, params, &params, struct{ C *Client }{c}, struct{ c *Client }{c}, struct{ P DeployParams }{params}, []Config{config}} {
		for _, verb := range []string{"%v", "%+v", "%#v", "%s"} {
			printed := fmt.Sprintf(verb, value)
			if strings.Contains(printed, testSecret) || strings.Contains(printed, testToken) || strings.Contains(printed, "abcdef") {
				t.Errorf("%s of %T shows a secret", verb, value)
			}
		}
	}
}

func TestMalformedKeysAreRefusedWithoutEcho(t *testing.T) {
	t.Parallel()
	for _, key := range []string{"", " ", "a:b", "a:b:c:d", "::", "a::c", ":b:c", "a:b:", "a b:c:d", "a:b:é", "a:b\nc:d", testSecret} {
		_, err := New(Config{Endpoint: "http://maas.example", APIKey: key})
		var wrong *ConfigError
		if !errors.As(err, &wrong) || wrong.Field != "APIKey" {
			t.Errorf("%q: got %v", key, err)
		}
		checkMessage(t, err)
	}
	if _, err := New(Config{Endpoint: "http://maas.example", APIKey: " " + testKey + "\n"}); err != nil {
		t.Errorf("a key from a file with a newline: %v", err)
	}
}

func FuzzErrorsAreOneBoundedLineWithoutSecrets(f *testing.F) {
	f.Add(400, "text/plain", "bad "+testSecret)
	f.Add(500, "application/json", `{"a":["`+testKey+`"]}`)
	f.Add(401, "text/html", testUserData)
	f.Add(302, "", "\xff\xfe")
	f.Fuzz(func(t *testing.T, status int, contentType, body string) {
		if status < 200 || status > 599 || strings.ContainsAny(contentType, "\r\n\x00") {
			return
		}
		c := clientOf(t, "http://maas.example", func(c *Config) { c.Transport = canned(text(status, contentType, body)) })
		_, err := c.Deploy(context.Background(), "4y3h7n", DeployParams{UserData: []byte(testUserData)})
		if status >= 300 && err == nil {
			t.Error("no error")
		}
		checkMessage(t, err)
		if err != nil && repeats(err.Error(), []byte(testUserData)) {
			t.Errorf("user data in %q", err)
		}
	})
}
