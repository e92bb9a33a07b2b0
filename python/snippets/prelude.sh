# shellcheck shell=bash
# What the commands of documents run in: servers are started in the background, and everything after
# them waits until they listen.
set -euo pipefail

declare -A servers=()

# stop_server NAME: ends a server that was started here, if there is one of this name.
stop_server() {
  local pid=${servers[$1]:-}
  [ -n "$pid" ] || return 0
  unset "servers[$1]"
  kill "$pid" 2>/dev/null || true
  wait "$pid" 2>/dev/null || true
}

stop_servers() {
  local name
  for name in "${!servers[@]}"; do stop_server "$name"; done
}
trap stop_servers EXIT

# start_server NAME SIGN COMMAND ...: until it prints a line that holds SIGN. A server of the same name
# makes room for it.
start_server() {
  local name=$1 sign=$2 line output
  shift 2
  stop_server "$name"
  exec {output}< <(exec "$@" 2> >(tee -a "$SNIPPET_LOG" >&2) < /dev/null)
  servers[$name]=$!
  while IFS= read -r line <&"$output"; do
    [[ $line != *"$sign"* ]] || break
  done
  if [[ ${line:-} != *"$sign"* ]]; then
    echo "$1 did not start" >&2
    exit 1
  fi
  # What it prints later must not fill the pipe.
  cat <&"$output" >/dev/null &
}

# argument NAME DEFAULT ARGUMENT ...: what follows --NAME among the arguments.
argument() {
  local name=$1 value=$2
  shift 2
  while [ $# -gt 0 ]; do
    [ "$1" != "--$name" ] || value=${2:-}
    shift
  done
  echo "$value"
}

# emulate_google: for a document that has a key of Gemini's, the emulator is where Google would be.
emulate_google() {
  if [ -n "${GEMINI_API_KEY:-}" ] && [ -z "${servers[google]:-}" ]; then
    start_server google 'listening on' gemini-emulator --listen "${ADK_STREAM_GEMINI_BASE_URL#http://}"
  fi
}

adk-stream() {
  emulate_google
  if [ "${1:-}" != serve ]; then
    command adk-stream "$@"
    return
  fi
  local address
  address=$(argument listen "$ADK_STREAM_LISTEN" "$@")
  start_server "$address" 'listening on' adk-stream "$@"
  local scheme=http
  [ -z "$(argument tls-cert '' "$@")" ] || scheme=https
  curl --silent --show-error --fail --insecure --output /dev/null "$scheme://$address/healthz"
}

gemini-emulator() {
  start_server "$(argument listen none "$@")" 'listening on' gemini-emulator "$@"
}

# adk api_server says on stderr that it listens.
adk() {
  local port=()
  [ -n "$(argument port '' "$@")" ] || port=(--port "$ADK_PORT")
  # shellcheck disable=SC2016 # the inner shell expands it
  start_server "$(argument port "$ADK_PORT" "$@")" 'Uvicorn running' bash -c 'exec adk "$@" 2>&1' adk "$@" "${port[@]}"
}

# What it would install is installed, in the versions that are tested: only whether it is there is asked.
pip() {
  local name
  [ "$1" = install ] || { echo "pip $1 is not expected" >&2; return 1; }
  shift
  for name in "$@"; do command pip show --quiet "$name"; done
}

# The same for a page. Its development server is started, and the page is asked for.
npm() {
  case "$*" in
    install) [ -d node_modules ] ;;
    'run dev')
      start_server vite Local node node_modules/vite/bin/vite.js --host 127.0.0.1 --port "$VITE_PORT"
      curl --silent --show-error --fail "http://127.0.0.1:$VITE_PORT/" | grep -q /src/main.tsx ;;
    *) command npm "$@" ;;
  esac
}

# run_example COMMAND ...: an example that starts everything that it needs.
run_example() {
  LISTEN=$ADK_STREAM_LISTEN start_server "$ADK_STREAM_LISTEN" 'listening on' "$@"
}

# What it would build is built, and what it would test is being tested: only whether it can is asked. What
# `make run` starts after the build is started, from the binary of the tests.
make() {
  command make --dry-run "$@" >/dev/null
  if [ "$*" = run ]; then
    start_server "$ADK_STREAM_LISTEN" 'listening on' scripts/serve
    curl --silent --show-error --fail "http://$ADK_STREAM_LISTEN/" | grep -q '<html'
  fi
}
