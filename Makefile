# Two commands matter: `make run` shows the demo, `make test` runs every test. Both install what is
# missing and need no more than Rust, Node and, for what apt can bring, Debian.

SHELL := bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
# The steps share target/ and node_modules, and their output is meant to be read in order.
.NOTPARALLEL:
MAKEFLAGS += --no-builtin-rules --no-print-directory

# Where a login shell has not put rustup's cargo on PATH, find it all the same.
export PATH := $(PATH):$(HOME)/.cargo/bin

# In CI the lock files decide; at work, adding a dependency may change them.
LOCKED := $(if $(CI),--locked)

# A machine that builds once has no use for what makes the next build faster. Panics say their line
# without debug information.
ifdef CI
export CARGO_INCREMENTAL := 0
export CARGO_PROFILE_DEV_DEBUG := 0
endif

# What apt brings, one line each: PACKAGE:COMMAND:WHAT-NEEDS-IT, the command as a name or a path
# with globs. scripts/apt-ensure installs only what is missing.
APT_RUN := 'build-essential:cc:linking Rust programs and building the C in some crates'
# Their services are not needed, whether the packages start them or not.
APT_HA := \
  'postgresql:/usr/lib/postgresql/*/bin/postgres:the tests of failovers' \
  'patroni:patroni:the tests of failovers' \
  'etcd-server:etcd:the tests of failovers' \
  'haproxy:/usr/sbin/haproxy:the tests of failovers' \
  'iproute2:/*bin/ip:the tests of failovers' \
  'util-linux:unshare:the tests of failovers'
APT_TEST := \
  'build-essential:c++:linking Rust programs and building the C and C++ in some crates' \
  'chromium:$(or $(CHROMIUM),chromium):the browser tests (or set CHROMIUM=/path/to/a/chromium)' \
  'python3:python3:the judges of the Gemini emulator' \
  'python3-venv:/usr/lib/python3*/ensurepip:the judges of the Gemini emulator' \
  'postgresql:/usr/lib/postgresql/*/bin/postgres:the tests of the PostgreSQL store' \
  'prometheus:prometheus:the tests of the metrics' \
  'shellcheck:shellcheck:checking the scripts' \
  'nginx:/usr/sbin/nginx:the tests of deploy/' \
  'haproxy:/usr/sbin/haproxy:the tests of deploy/' \
  'openssl:openssl:the tests of deploy/' \
  'systemd:systemd-analyze:checking the systemd unit' \
  $(APT_HA)

APT_BENCH := $(APT_RUN) \
  'python3:python3:pydantic-ai, which is measured too' \
  'python3-venv:/usr/lib/python3*/ensurepip:pydantic-ai, which is measured too' \
  'postgresql:/usr/lib/postgresql/*/bin/postgres:the PostgreSQL store'
APT_TORTURE := \
  'build-essential:cc:linking Rust programs and building the C in some crates' \
  'python3-venv:/usr/lib/python3*/ensurepip:the Python peers' \
  'postgresql:/usr/lib/postgresql/*/bin/postgres:the PostgreSQL stores'
APT_COUNTS := 'valgrind:valgrind:counting instructions'

# The programs that the suites drive. --workspace and --examples choose the features that the Rust tests
# are built with: one build of every dependency serves all suites.
PROGRAMS := --workspace --bin adk-stream --bin gemini-emulator --bin specimens --bin simulate --examples

NODE_MODULES := web/node_modules/.stamp
PAGE := web/demo/dist/index.html
# The pages in examples/ share one installation, which web/examples/package.json lists.
EXAMPLE_PAGES := react vue assistant-ui nextjs sveltekit copilotkit
EXAMPLE_PACKAGES := $(EXAMPLE_PAGES:%=examples/%/node_modules)
ADK_TYPESCRIPT := examples/adk-typescript/node_modules/.stamp
MASTRA := web/torture/mastra/node_modules/.stamp
# Everything that the page may be made from, the npm package included; what is made from it, and its tests, are left out.
PAGE_SOURCES := $(shell find web \( -name node_modules -o -name dist -o -name dist-v6 -o -name tests -o -name conformance -o -name bench -o -name torture \) -prune -o -type f -print)

say = @printf '\n== %s\n' '$(1)'

##@ The two commands

.PHONY: run
run: ready-to-run $(PAGE) ## build and serve the demo, no key, no network (LISTEN=127.0.0.1:9000 to choose)
	$(call say,Building the server)
	cargo build --release $(LOCKED) -p adk-stream
	$(call say,Serving the demo; stop it with Ctrl-C)
	@exec scripts/serve

# Those that build most use all cores, and run alone; so does the failover, which is judged by how long it
# takes. The others wait more than they compute: two run at once, the longest first. The types of
# Python are checked beside them, since that leaves a core idle; those of TypeScript are not, since the npm
# package is built for it, which the others load.
SUITES := -j1 check-code test-rust test-packages \
  -j2 test-conformance test-page test-adk-versions test-adk test-client check-others test-deploy test-models test-emulator test-openapi test-mcp test-docs test-agui test-torture \
  -j1 test-ha fuzz

.PHONY: test
test: set-up ## install what is missing, check, and run every test; all suites run, then a summary says what failed
	@FUZZ_SECONDS=$(or $(FUZZ_SECONDS),5) scripts/run-suites $(SUITES)

.PHONY: test-long
test-long: set-up ## the same with every cell of the matrix, and races, kills and schedules repeated many times
	@TEST_LONG=1 scripts/run-suites $(SUITES) docs

##@ Parts of `make test`

.PHONY: check
check: check-code check-others ## formatting, clippy, rustdoc, types, lint and links

.PHONY: check-code
check-code: $(PAGE) ## the part of it about documents, and about Rust and TypeScript, which builds
	@scripts/require-tools rust node
	$(call say,Checking documents and words)
	scripts/check-links
	scripts/docs-site --check
	scripts/check-snippets
	scripts/check-words
	$(call say,Checking Rust)
	cargo fmt --all --check
	cargo fmt --manifest-path fuzz/Cargo.toml --check
	cargo fmt --manifest-path examples/embed-axum/Cargo.toml --check
	cargo clippy --workspace --all-targets $(LOCKED) -- -D warnings
	cargo clippy $(LOCKED) --manifest-path examples/embed-axum/Cargo.toml --target-dir target -- -D warnings
	scripts/check-features $(LOCKED)
	RUSTDOCFLAGS='-D warnings -A rustdoc::private_intra_doc_links' cargo doc --workspace $(LOCKED) --no-deps --document-private-items --quiet
	$(call say,Checking licences and sources of dependencies)
	scripts/cargo-tool cargo-deny 0.20.2 --no-default-features
	cargo deny --log-level error check licenses bans sources
	$(call say,Checking TypeScript)
	cd web && npm run check

.PHONY: check-others
check-others: ## the part of it about Python and scripts
	@scripts/require-tools lint python
	$(call say,Checking Python)
	python=$$(scripts/python-env lint) && "$$python" -m ruff check . && "$$python" -m ruff format --check .
	scripts/check-types
	$(call say,Checking scripts)
	shellcheck .ci/run scripts/* examples/*/run examples/launcher.sh python/snippets/prelude.sh

.PHONY: test-rust
test-rust: $(PAGE) ## the Rust tests, doc tests included
	$(call say,Preparing an MCP server of PyPI)
	scripts/python-env mcp
	$(call say,Rust tests and doc tests)
	# A failure keeps no other test from running; nextest is configured so.
	failed=0; \
	if cargo nextest --version >/dev/null 2>&1; then \
	  cargo nextest run --workspace $(LOCKED) || failed=1; \
	else \
	  cargo test --workspace $(LOCKED) --no-fail-fast --lib --bins --tests || failed=1; \
	fi; \
	cargo test --workspace $(LOCKED) --no-fail-fast --doc || failed=1; \
	exit "$$failed"

.PHONY: test-mcp
test-mcp: $(NODE_MODULES) ## the MCP client, with the conformance suite of the protocol
	$(call say,Conformance suite of MCP)
	scripts/mcp-conformance

.PHONY: test-python
test-python: test-emulator test-models test-agui test-adk test-adk-versions ## the emulator and the Python package, with Google's own SDK and ADK

.PHONY: test-emulator
test-emulator: built-for-python ## the emulator, with Google's own SDK
	$(call say,Tests with the SDK of Google)
	python=$$(scripts/python-env) && "$$python" -m pytest python/conformance

.PHONY: test-models
test-models: built-for-python ## our clients of OpenAI's and Anthropic's APIs, with LiteLLM
	$(call say,Tests with LiteLLM)
	python=$$(scripts/python-env models) && "$$python" -m pytest python/models

.PHONY: test-agui
test-agui: built-for-python ## the agent ag-ui, with pydantic-ai, LangGraph and ADK
	$(call say,Tests with AG-UI agents of frameworks)
	scripts/python-env agui-adk
	python=$$(scripts/python-env agui) && "$$python" -m pytest python/agui

.PHONY: test-adk
test-adk: built-for-python ## the Python package and the bridge, with Google's own ADK
	$(call say,Tests of the Python package and with the ADK of Google)
	# Both run, whichever fails.
	python=$$(scripts/python-env adk); failed=0; \
	(cd python/adk_stream && "$$python" -m pytest) || failed=1; \
	"$$python" -m pytest python/adk || failed=1; \
	exit "$$failed"

.PHONY: test-adk-versions
test-adk-versions: built-for-python ## every flow behind every version and language of ADK
	$(call say,Tests with other versions and languages of ADK)
	python=$$(scripts/python-env adk) && "$$python" -m pytest python/matrix $(if $(TEST_LONG),--kills 10,--short --kills 1)

.PHONY: adk-matrix
adk-matrix: built-for-python ## the same in every kind of app, 50 (N) kills each; writes the table in docs/adk.md
	@scripts/require-tools node
	python=$$(scripts/python-env adk) && "$$python" -m pytest python/matrix --kills $(or $(N),50) --table -rP

.PHONY: test-web
test-web: test-client test-page test-conformance ## the tests with real AI SDK clients and a real browser

.PHONY: test-client
test-client: built-for-web ## the npm package, and the example of an application that embeds the routes
	cargo build $(LOCKED) --manifest-path examples/embed-axum/Cargo.toml --target-dir target
	$(call say,Tests of the npm package)
	cd web && npm test -w client

.PHONY: test-page
test-page: built-for-web $(EXAMPLE_PACKAGES) ## the page and the pages in examples/, in a real browser
	$(call say,Tests of the page)
	cd examples/react && npm run build
	cd examples/assistant-ui && npm run build
	cd examples/copilotkit && npm run build
	cd web && CHROMIUM="$$(command -v $(or $(CHROMIUM),chromium))" npm test -w demo

.PHONY: test-conformance
test-conformance: built-for-web ## every flow with the real AI SDK clients, over every transport and agent
	@scripts/require-tools python
	scripts/python-env adk
	scripts/python-env agui
	scripts/python-env models
	$(call say,Tests with the real clients)
	cd web && npm test -w conformance

.PHONY: test-docs
test-docs: built-for-python $(EXAMPLE_PACKAGES) $(ADK_TYPESCRIPT) ## every command of the documents that is marked to be run
	$(call say,Running the commands of the documents)
	scripts/python-env adk
	python3 -m unittest discover --start-directory python/snippets
	python3 -m unittest discover --start-directory python/scripts
	python3 python/snippets/run.py

.PHONY: test-openapi
test-openapi: built-for-python ## /openapi.json, with Schemathesis: the server does what the document says
	$(call say,Tests of the OpenAPI document)
	python=$$(scripts/python-env openapi) && "$$python" -m pytest python/openapi

.PHONY: test-deploy
test-deploy: $(PAGE) built-for-python ## the files in deploy/: real proxies in front of the server, and linters
	$(call say,Tests of deploy/)
	python=$$(scripts/python-env deploy) && "$$python" -m pytest python/deploy

.PHONY: test-ha
test-ha: built-for-python ## PostgreSQL with Patroni: the primary's machine is killed and comes back, and nothing is lost
	$(call say,Killing the primary of PostgreSQL)
	python=$$(scripts/python-env ha) && scripts/in-namespace "$$python" -m pytest python/ha --short

.PHONY: ha
ha: built-for-python ## every fault of PostgreSQL with Patroni, directly and through HAProxy, 200 (N) payments each
	@scripts/apt-ensure $(APT_HA)
	$(call say,Failing PostgreSQL over)
	python=$$(scripts/python-env ha) && scripts/in-namespace "$$python" -m pytest python/ha --payments $(or $(N),200)

.PHONY: test-torture
test-torture: ## the judge and the scenarios of `make torture`, on a server with planted mistakes
	@scripts/require-tools python
	$(call say,Tests of the fault harness)
	# It needs pytest and nothing else, which is what the tests of failovers need.
	python=$$(scripts/python-env ha) && "$$python" -m pytest python/torture

.PHONY: test-packages
test-packages: $(PAGE) ## crates, npm package, wheel and sdist, each installed into an empty project and used
	@scripts/require-tools rust node python
	$(call say,Packaging the crates)
	scripts/test-crates $(LOCKED)
	$(call say,Packaging the npm package)
	scripts/test-npm-package
	$(call say,Packaging the Python package)
	scripts/test-python-package

.PHONY: crash
crash: $(PAGE) ## kill servers N (1000) times while people pay, on SQLite and on PostgreSQL
	$(call say,Killing servers)
	CRASHES=$(or $(N),1000) cargo test $(LOCKED) -p adk-stream --test binary crash:: -- --nocapture
	$(call say,Killing servers behind the real clients)
	cargo build $(LOCKED) $(PROGRAMS)
	cd web/conformance && CRASHES=$(or $(N),1000) npx vitest run --project faults tests/faults/crash.test.ts

.PHONY: fuzz
fuzz: ## every fuzz target for FUZZ_SECONDS (60); it needs a nightly Rust
	$(call say,Fuzzing the decoders)
	@scripts/fuzz

##@ At work

.PHONY: docs
docs: ## the documentation as a site, in target/book
	scripts/docs-site

.PHONY: dev
dev: $(NODE_MODULES) ## the server, and the page with hot reload; Ctrl-C stops both
	@scripts/require-tools rust node
	@scripts/dev

.PHONY: fmt
fmt: $(NODE_MODULES) ## format Rust, TypeScript and Python
	cargo fmt --all
	cargo fmt --manifest-path fuzz/Cargo.toml
	cargo fmt --manifest-path examples/embed-axum/Cargo.toml
	cd web && npm run format
	python=$$(scripts/python-env lint) && "$$python" -m ruff check --fix . && "$$python" -m ruff format .

.PHONY: bench
bench: $(NODE_MODULES) ## measure it beside its peers and the limit (QUICK=1: rough; ONLY='a c': parts)
	@scripts/apt-ensure $(APT_BENCH)
	@scripts/require-tools rust node python
	$(call say,Preparing the peers)
	scripts/python-env bench
	$(call say,Building what is measured and what measures it)
	cargo build --release $(LOCKED) -p adk-stream -p adk-stream-bench
	$(call say,Measuring)
	target/release/bench-all $(if $(QUICK),--quick) $(ONLY)

.PHONY: torture
torture: built-for-python $(NODE_MODULES) $(MASTRA) ## races, kills, reloads and retries against adk-stream and its peers, 20 (N) payments each; writes bench/torture.md
	@scripts/apt-ensure $(APT_TORTURE)
	@scripts/require-tools node
	scripts/python-env adk
	$(call say,Racing and killing)
	python=$$(scripts/python-env torture) && "$$python" python/torture/run.py --payments $(or $(N),20) --write

.PHONY: bench-counts
bench-counts: ## count the instructions of the hot paths; fails if one has grown (UPDATE=1 keeps them)
	@scripts/apt-ensure $(APT_RUN) $(APT_COUNTS)
	@scripts/require-tools rust
	cargo build --release $(LOCKED) -p adk-stream-bench --bin bench-counts
	$(call say,Counting)
	target/release/bench-counts bench/counts.json $(if $(UPDATE),--update)

.PHONY: golden
golden: $(PAGE) ## write the golden journals of this version, once, before its release (VERSION=0.2)
	@test -n '$(VERSION)' || { echo 'Say which version: make golden VERSION=0.2'; exit 1; }
	$(call say,Writing the golden journals of $(VERSION))
	GOLDEN=$(VERSION) cargo test $(LOCKED) -p adk-stream --test binary golden::write -- --ignored --nocapture

.PHONY: page
page: $(PAGE) ## build the page alone

.PHONY: sbom
sbom: ## write the bills of materials of the binary and the page to target/sbom
	@scripts/sbom

.PHONY: dist
dist: $(PAGE) ## the release: a static binary with manual pages, completions and deploy/, checksums, bills of materials
	@scripts/require-tools rust node
	$(call say,Building what is shipped)
	scripts/dist

.PHONY: clean
clean: ## remove everything that was built or downloaded
	cargo clean
	rm -rf examples/*/node_modules examples/*/dist examples/*/.next examples/*/.svelte-kit web/node_modules web/*/node_modules web/torture/mastra/node_modules web/*/dist web/*/dist-v6 fuzz/target

.PHONY: help
help: ## this list
	@awk 'BEGIN { FS = ":.*## " } \
	  /^##@ / { printf "\n%s\n", substr($$0, 5) } \
	  /^[a-z-]+:.*## / { printf "  make %-16s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

# What the commands above stand on

.PHONY: ready-to-run
ready-to-run:
	@scripts/apt-ensure $(APT_RUN)
	@scripts/require-tools rust node

.PHONY: set-up
set-up:
	@scripts/apt-ensure $(APT_TEST)
	@scripts/require-tools rust node python lint

.PHONY: built-for-python
built-for-python:
	@scripts/require-tools rust python
	$(call say,Building what the Python tests drive)
	cargo build $(LOCKED) $(PROGRAMS)

.PHONY: built-for-web
built-for-web: $(PAGE)
	$(call say,Building what the TypeScript tests drive)
	cargo build $(LOCKED) $(PROGRAMS)

$(NODE_MODULES): web/package-lock.json
	@scripts/require-tools node
	$(call say,Installing npm packages)
	cd web && npm ci --no-audit --no-fund --loglevel=error || { \
	  echo "npm ci failed. If web/package.json changed, run 'npm install' in web/ and commit the lock file."; exit 1; }
	@touch $@

$(EXAMPLE_PACKAGES): | $(NODE_MODULES)
	ln -s ../../web/node_modules $@

$(ADK_TYPESCRIPT): examples/adk-typescript/package-lock.json
	@scripts/require-tools node
	cd examples/adk-typescript && npm ci --no-audit --no-fund --loglevel=error
	@touch $@

$(MASTRA): web/torture/mastra/package-lock.json
	@scripts/require-tools node
	cd web/torture/mastra && npm ci --no-audit --no-fund --loglevel=error
	@touch $@

$(PAGE): $(NODE_MODULES) $(PAGE_SOURCES)
	$(call say,Building the page)
	cd web && npm run build -w demo
	@touch $@
