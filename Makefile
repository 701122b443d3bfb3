# Everything a contributor or a curious platform engineer types. `make` alone lists it.

SHELL       := /bin/bash
.SHELLFLAGS := -euo pipefail -c
MAKEFLAGS   += --no-print-directory
.DEFAULT_GOAL := help

# The same flags for every build, so that one build cache serves them all.
export GOFLAGS     := -trimpath -buildvcs=false
export CGO_ENABLED := 0
# A workspace above this folder must not change what is built.
export GOWORK      := off

# make cuts names at blanks, and mounts take commas and colons for something else.
COMMA := ,
ifneq ($(words $(CURDIR))$(findstring $(COMMA),$(CURDIR))$(findstring :,$(CURDIR)),1)
$(error the path of this checkout ($(CURDIR)) holds a blank, a comma or a colon: move the checkout to a path without)
endif

BUILD := $(CURDIR)/_build
BIN   := $(BUILD)/bin
TOOLS := $(BUILD)/tools

# The modules of this repository. To lint those of components would mean to load all of Kubernetes for a few lines of ours.
MODULES      := . images sandbox $(patsubst %/go.mod,%,$(wildcard images/components/*/go.mod)) test hack/tools
LINT_MODULES := . images sandbox test
UNIT_MODULES := . images sandbox $(patsubst %/go.mod,%,$(wildcard images/components/*/go.mod))

# Prints the packages that have tests, for `go list -f`.
WITH_TESTS := {{if or .TestGoFiles .XTestGoFiles}}{{.ImportPath}}{{end}}

##@ The sandbox: a management cluster, a simulated MAAS and a real cluster, on this machine (as root)

.PHONY: sandbox
sandbox: root-there sandbox-program ## Build and start everything, make a cluster, and follow it until its Nodes are Ready; SCENARIO=file.yaml makes things go wrong
	@$(BIN)/sandbox up $(if $(SCENARIO),--scenario=$(SCENARIO))

.PHONY: sandbox-status
sandbox-status: sandbox-program ## Say what runs and how far it is
	@$(BIN)/sandbox status

.PHONY: sandbox-shell
sandbox-shell: sandbox-program ## Open a shell in the machine called MACHINE, or list the machines
	@$(BIN)/sandbox shell $(MACHINE)

.PHONY: sandbox-logs
sandbox-logs: sandbox-program ## Say what happened in the machine called MACHINE and where its logs are, or list all logs
	@$(BIN)/sandbox logs $(MACHINE)

.PHONY: sandbox-down
sandbox-down: sandbox-program ## Stop everything, and leave no process, mount, link or cgroup behind
	@$(BIN)/sandbox down

.PHONY: sandbox-build
sandbox-build: root-there sandbox-program ## Build what the sandbox needs, without starting it
	@$(BIN)/sandbox build

.PHONY: sandbox-program
sandbox-program: go-there
	@mkdir -p $(BIN)
	@cd sandbox && go build -o $(BIN)/sandbox ./cmd/sandbox || {
	  echo "the sandbox program was not built, for the reasons above; the first time, Go downloads modules and needs the network" >&2; exit 1; }

##@ The machine image that goes into MAAS (as root)

.PHONY: image
image: root-there image-program ## Make the image of KUBERNETES_VERSION, with a manifest; BINARIES=release takes released programs
	@$(BIN)/image build --kubernetes-version '$(KUBERNETES_VERSION)' --binaries '$(BINARIES)' $(if $(REFRESH),--refresh)

.PHONY: image-check
image-check: root-there image-program ## Check that image: its files, in a chroot, as a container, as a machine under qemu
	@$(BIN)/image check --kubernetes-version '$(KUBERNETES_VERSION)' --binaries '$(BINARIES)'

.PHONY: image-program
image-program: go-there
	@mkdir -p $(BIN)
	@cd images && go build -o $(BIN)/image ./cmd/image || {
	  echo "the image program was not built, for the reasons above; the first time, Go downloads modules and needs the network" >&2; exit 1; }

##@ Build

.PHONY: build
build: go-there ## Build the manager, the simulator, capmaas, and the image and sandbox programs into _build/bin
	@mkdir -p $(BIN)
	go build -o $(BIN)/ ./cmd/...
	cd images && go build -o $(BIN)/ ./cmd/...
	cd sandbox && go build -o $(BIN)/ ./cmd/...

.PHONY: generate
generate: $(TOOLS)/controller-gen ## Write anew what is made of the Go code: deep copies, CRDs, role, webhooks, two pages of docs/
	$(call GENERATE,.)

# Writes into a folder what `make generate` writes into the checkout.
define GENERATE
$(TOOLS)/controller-gen object paths=./api/... output:object:dir=$(1)/api/v1beta1
$(TOOLS)/controller-gen crd paths=./api/... output:crd:artifacts:config=$(1)/config/crd/bases
$(TOOLS)/controller-gen rbac:roleName=manager-role paths=./internal/... output:rbac:artifacts:config=$(1)/config/rbac
$(TOOLS)/controller-gen webhook paths=./internal/webhooks/... output:webhook:artifacts:config=$(1)/config/webhook
mkdir -p $(1)/docs && go run ./hack/conditions $(1)/docs/conditions.md && go run ./hack/simulatorapi $(1)/docs/simulator-api.md
endef
GENERATED := api/v1beta1/zz_generated.deepcopy.go config/crd/bases config/rbac/role.yaml config/webhook/manifests.yaml docs/conditions.md docs/simulator-api.md

.PHONY: clean
clean: ## Remove _build/: all that was built, the machines' root file system included
	@for process in /proc/[0-9]*; do
	  # A sandbox may have its state anywhere; its processes name the folder that they run from.
	  arguments=$$(tr '\0' ' ' 2>/dev/null <$$process/cmdline) || continue
	  [[ $$arguments =~ ^[^\ ]+\ internal-init\  && $$arguments == *" --build-dir $(BUILD) "* ]] || continue
	  echo "a sandbox is running from _build/ (process $${process#/proc/}): stop it first with 'make sandbox-down'" >&2; exit 1
	done
	for lock in .lock .check.lock; do
	  [ ! -e $(BUILD)/$$lock ] || flock --nonblock $(BUILD)/$$lock true || {
	    echo "something is being built or checked in _build/: let it end first" >&2; exit 1; }
	done
	! grep -qF ' $(BUILD)/' /proc/self/mountinfo || {
	  echo "something is mounted below _build/, as a check that was killed leaves it: 'make image-check' ends and clears that" >&2; exit 1; }
	echo "removing $(BUILD)"
	rm -rf --one-file-system $(BUILD)

##@ Check

.PHONY: test
test: ## Run all tests: unit, integration, the machine image, end to end
	@$(MAKE) test-unit
	@$(MAKE) test-integration
	@$(MAKE) test-image
	@$(MAKE) test-e2e

.PHONY: test-unit
test-unit: go-there ## Tests that need nothing but Go
	@for module in $(UNIT_MODULES); do
	  packages=$$(cd $$module && go list -f '$(WITH_TESTS)' ./... 2> >(grep -v 'matched no packages' >&2))
	  [ -n "$$packages" ] || continue
	  echo "== unit tests: module $$module"
	  (cd $$module && go test -timeout 10m $$packages)
	done

.PHONY: test-integration
test-integration: test-programs test-packages ## Tests against a real kube-apiserver, clusterctl and the MAAS simulator
	@packages=$$(cd test && go list -f '$(WITH_TESTS)' ./... | { grep -v /test/e2e || true; })
	[ -n "$$packages" ] || { echo "== integration tests: there are none"; exit 0; }
	echo "== integration tests"
	cd test && go test -count=1 -timeout 15m $$packages

.PHONY: test-image
test-image: image ## Check the machine image, but for installing it, which takes most of `make image-check` (as root)
	@echo "== checks of the machine image"
	$(BIN)/image check --only file,chroot,container,qemu

.PHONY: test-e2e
test-e2e: sandbox-build ## Make, use, scale and delete a real cluster in the sandbox (as root)
	@packages=$$(cd test && go list -f '$(WITH_TESTS)' ./... | { grep /test/e2e || true; })
	[ -n "$$packages" ] || { echo "== end-to-end tests: there are none"; exit 0; }
	echo "== end-to-end tests"
	cd test && go test -count=1 -timeout 20m -skip TestSystemChaos $$packages

.PHONY: chaos-sandbox
chaos-sandbox: sandbox-build ## Kill processes and break MAAS under clusters in the sandbox (as root): SEEDS=3, or one again: SEED=2
	@cd test && CHAOS_SEED=$(or $(SEED),1) CHAOS_SEEDS=$(or $(SEEDS),$(if $(SEED),1,3)) go test -v -count=1 -timeout 2h -run '^TestSystemChaos$$' ./e2e

.PHONY: chaos
chaos: go-there ## Live SEEDS random lives of whole clusters, from the seed FROM on, in virtual time; SEED=n lives one again and tells its story
	@cd test && SECONDS=0 && go test -count=1 -timeout 0 ./chaos -run '^TestSeeds$$' $(if $(SEED),-v) -seeds '$(or $(SEEDS),1000)' -from '$(or $(FROM),1)' -seed '$(or $(SEED),0)'
	echo "no rule was broken; it took $$SECONDS s"

.PHONY: bench
bench: test-programs test-packages $(if $(filter replacement%,$(ONLY)),sandbox-build) ## Measure what MAAS is asked, and how soon its answers show (docs/scale.md tells of ONLY and WINDOW)
	@cd test && go build -o $(BIN)/bench ./scale/bench
	$(BIN)/bench -checkout $(CURDIR) -only '$(ONLY)' -window '$(or $(WINDOW),0)'

.PHONY: test-programs
test-programs: sandbox-program
	@$(BIN)/sandbox build --only kubernetes,cluster-api

# The tests' API server wants the name localhost, which a bare Debian does not know before it has netbase, and those of the pages type
# what the pages say, with curl.
.PHONY: test-packages
test-packages:
	@missing="$$([ -e /etc/hosts ] || echo netbase) $$(command -v curl >/dev/null || echo curl)"
	[ -n "$${missing// }" ] || exit 0
	echo "the tests need Debian packages that this machine lacks; installing them: $$missing"
	install="apt-get install -qq -y --no-install-recommends $$missing"
	$$install >/dev/null || { apt-get update -qq && $$install >/dev/null; }

.PHONY: lint
lint: $(TOOLS)/golangci-lint ## Check the Go code against .golangci.yml
	@for module in $(LINT_MODULES); do
	  [ -n "$$(cd $$module && go list ./... 2>/dev/null)" ] || continue
	  echo "== lint: module $$module"
	  (cd $$module && $(TOOLS)/golangci-lint run --allow-serial-runners --config $(CURDIR)/.golangci.yml)
	done
	unformatted=$$(gofmt -l images/components)
	[ -z "$$unformatted" ] || { echo "not formatted by gofmt: $$unformatted" >&2; exit 1; }

.PHONY: generate-check
generate-check: $(TOOLS)/controller-gen ## Fail, with the difference, if a generated file or a go.mod is not current
	@mkdir -p $(BUILD) && fresh=$$(mktemp -d $(BUILD)/generate.XXXXXX) && trap "rm -rf $$fresh" EXIT
	$(call GENERATE,$$fresh)
	stale=
	for made in $(GENERATED); do
	  diff -ru $$made $$fresh/$$made || stale=1
	done
	[ -z "$$stale" ] || { echo "generated files are not current: run 'make generate' and commit what it writes" >&2; exit 1; }
	for module in $(MODULES); do
	  (cd $$module && go mod tidy -diff) || { echo "go.mod or go.sum in $$module is not current: run 'go mod tidy' there" >&2; exit 1; }
	done
	echo "generated files are current"

# The tools are pinned in hack/tools/go.mod.
$(TOOLS)/controller-gen: hack/tools/go.mod hack/tools/go.sum | go-there
	@echo "building controller-gen"
	@mkdir -p $(TOOLS) && cd hack/tools && go build -ldflags '-s -w' -o $@ sigs.k8s.io/controller-tools/cmd/controller-gen

$(TOOLS)/golangci-lint: hack/tools/go.mod hack/tools/go.sum | go-there
	@echo "building golangci-lint (about three minutes the first time)"
	@mkdir -p $(TOOLS) && cd hack/tools && go build -ldflags '-s -w' -o $@ github.com/golangci/golangci-lint/v2/cmd/golangci-lint

.PHONY: go-there
go-there:
	@needed=$$(awk '$$1 == "go" {print $$2}' sandbox/go.mod)
	hint=; [ -z "$${SUDO_USER:-}" ] || hint=" (sudo hides your PATH: try sudo env \"PATH=\$$PATH\" make …)"
	command -v go >/dev/null || { echo "Go $$needed or newer is needed, and there is no go in PATH: https://go.dev/dl/$$hint" >&2; exit 1; }
	have=$$(go env GOVERSION)
	[ "$$(printf '%s\n' "go$$needed" "$$have" | sort -V | head -1)" = "go$$needed" ] || {
	  echo "Go $$needed or newer is needed, and $$(command -v go) is $$have: https://go.dev/dl/$$hint" >&2; exit 1; }

# Before anything is built for nothing.
.PHONY: root-there
root-there:
	@[ "$$(id -u)" = 0 ] || { echo "the sandbox makes namespaces, mounts and cgroups: run this as root (sudo)" >&2; exit 1; }

.PHONY: help
help: ## List what can be made
	@awk 'BEGIN {FS = ":.*## "} /^##@/ {printf "\n%s\n", substr($$0, 5)} /^[a-z0-9-]+:.*## / {printf "  make %-17s %s\n", $$1, $$2}' Makefile

# A recipe is one script, so that its loops and traps read as such.
.ONESHELL:
