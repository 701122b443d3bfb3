package check

import (
	"context"
	_ "embed"
	"strings"
)

// hookRules are cases of what the image's hook decides, without a machine to decide it for.
//
//go:embed hook_rules.py
var hookRules string

func lookHookRules(ctx context.Context, r *root) (string, error) {
	said, err := r.run(ctx, "python3", "-c", hookRules)
	if err != nil {
		return "", problemf(mendHooks, "%s", lastWords(said+err.Error()))
	}
	return strings.TrimSpace(said), nil
}
