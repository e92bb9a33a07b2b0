# shellcheck shell=bash disable=SC2034,SC2154
# What the examples share; sourced by their `run`, from the root of the repository.
#
# LISTEN=HOST:PORT is where the page is, 127.0.0.1:8080 by default. ADK_STREAM_BINARY names an
# `adk-stream` that is built already, with `gemini-emulator` beside it. EXAMPLE_DIRECTORY is where logs
# and other files are, target/example-NAME by default.

listen=${LISTEN:-127.0.0.1:8080}
binary=${ADK_STREAM_BINARY:-$PWD/target/release/adk-stream}
if [ -z "${ADK_STREAM_BINARY:-}" ]; then
  make page
  cargo build --release -p adk-stream -p adk-stream-emulator
fi
# The server warns about unknown variables ADK_STREAM_….
unset ADK_STREAM_BINARY

directory=${EXAMPLE_DIRECTORY:-$PWD/target/example-$example}
mkdir -p "$directory"
children=()
end() {
  trap - EXIT
  [ ${#children[@]} -eq 0 ] || kill "${children[@]}" 2>/dev/null || true
  wait || true
}
trap end EXIT
trap 'exit 130' INT TERM

# background NAME COMMAND...: starts a server, waits until its log says where it listens, and sets `url`.
background() {
  local name=$1 log=$directory/$1.log left=600
  shift
  # Emptied here and not by the server's redirection, which may come after the first look: the log of
  # an earlier run names an address, too, where nothing listens any more.
  : >"$log"
  "$@" >>"$log" 2>&1 &
  children+=($!)
  until url=$(address "$log") && [ -n "$url" ]; do
    left=$((left - 1))
    if [ "$left" -eq 0 ] || ! kill -0 $! 2>/dev/null; then
      echo "$name did not start. The end of $log:" >&2
      tail -n 20 "$log" >&2
      exit 1
    fi
    sleep 0.1
  done
}

# address LOG: the first address at which a server says that it listens. Ours are `listening on` it,
# ADK is `running on` it in Python, and has `access at` it in TypeScript; for Vite and Next.js it is `Local`.
address() {
  sed -nE 's#.*(listening on|running on|access at|Local:) +(https?://[^ ]*:[0-9]+).*#\2#p' "$1" | head -n 1
}

# gemini SCRIPT: without a key, the emulator answers, as the script says.
gemini() {
  if [ -z "${GEMINI_API_KEY:-}" ]; then
    background emulator "$(dirname "$binary")/gemini-emulator" --listen 127.0.0.1:0 --pace 20 \
      --signatures never --script "$1"
    export ADK_STREAM_GEMINI_BASE_URL=$url GEMINI_API_KEY=none
  fi
}

# serve: the page, in the folder of the example, with the `flags`.
flags=()
serve() {
  cd "$directory" || return
  "$binary" serve --listen "$listen" "${flags[@]}" &
  children+=($!)
  wait -n "${children[@]}"
}

# page COMMAND...: the demo's agent, and in front of it the page in the folder of the example, which the
# command serves with hot reload.
page() {
  [ -e "examples/$example/node_modules" ] || make "examples/$example/node_modules"
  background server "$binary" serve --listen 127.0.0.1:0 --agent demo --store memory
  export ADK_STREAM_URL=$url NO_COLOR=1
  cd "examples/$example" || return
  background page "$@"
  echo "The page is listening on $url"
  wait -n "${children[@]}"
}
