# What the scripts here share: places, words, and a step that shows how long it takes. Sourced, never run.
# shellcheck shell=bash

root=$(CDPATH='' cd -- "$(dirname -- "${BASH_SOURCE[0]}")/.." && pwd)
cache="${XDG_CACHE_HOME:-$HOME/.cache}/fleet"
logs="$cache/log"
uv_version=0.13.9
oldest_go_minor=26

say() { printf '%s\n' "$*" >&2; }

fail() { # what, why, what next
    say "error: $1"
    [ -n "${2:-}" ] && say "cause: $2"
    [ -n "${3:-}" ] && say "next:  $3"
    exit 1
}

# Runs a command with its output in a log; shows the seconds as they pass; on failure the log's last lines.
timed() { # name, command...
    local name=$1 log began pid shown=0 now
    shift
    mkdir -p "$logs"
    log="$logs/setup-${name// /-}.log"
    began=$SECONDS
    set -m # a process group of its own, so that an interrupt reaches all of it
    "$@" >"$log" 2>&1 </dev/null &
    pid=$!
    set +m
    # shellcheck disable=SC2064
    trap "kill -- -$pid 2>/dev/null; exit 130" INT TERM
    while kill -0 "$pid" 2>/dev/null; do
        sleep 0.5
        now=$((SECONDS - began))
        if [ -t 2 ]; then
            printf '\r  %-14s %4d s  %s\033[K' "$name" "$now" "$(tail -n 1 "$log" | tr -d '\r' | cut -c1-50)" >&2
        elif [ $((now - shown)) -ge 20 ]; then
            shown=$now
            say "  $name: $now s, $(tail -n 1 "$log" | tr -d '\r' | cut -c1-80)"
        fi
    done
    trap - INT TERM
    [ -t 2 ] && printf '\r\033[K' >&2
    if wait "$pid"; then
        say "  $name: done in $((SECONDS - began)) s"
    else
        tail -n 15 "$log" | sed 's/^/    | /' >&2
        fail "setting up \"$name\" failed" "see $log" "mend it and run \`make setup\` again: what is done is kept"
    fi
}
