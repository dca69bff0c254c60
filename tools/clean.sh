#!/usr/bin/env bash
# Removes what `make setup`, `make demo` and `make test` made, and lists it. Debian packages stay; it says how they go.
set -uo pipefail
. "$(dirname -- "$0")/common.sh"
cd "$root"

removed=0
gone() { removed=$((removed + 1)); say "  removed $1"; }

if [ -z "${YES:-}${CI:-}" ]; then
    [ -t 0 ] || fail "nobody is there to answer" "standard input is no terminal" "YES=1 make clean"
    read -r -p "Take the lab down and remove .venv, .fleet and $cache (shared by all checkouts)? [y/N] " answer
    case $answer in [yY]*) ;; *) say "nothing was done."; exit 130 ;; esac
fi
if [ -x .venv/bin/fleet ] && [ -d .fleet/lab ]; then
    .venv/bin/fleet lab down >/dev/null 2>&1 && gone "the lab (containers, network, BMCs)"
fi
if command -v podman >/dev/null && [ "$(id -u)" = 0 ]; then
    for image in $(podman images --format '{{.Repository}}:{{.Tag}}' localhost/fleet-lab 2>/dev/null); do
        podman image rm "$image" >/dev/null 2>&1 && gone "image $image"
    done
fi
for place in .venv .fleet .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache "$cache"; do
    [ -e "$place" ] || continue
    size=$(du -sh "$place" 2>/dev/null | cut -f1)
    chmod -R u+w "$place" 2>/dev/null
    rm -rf "$place" && gone "$place ($size)"
done
find . -name __pycache__ -type d -not -path './.git/*' -prune -exec rm -rf {} +
[ $removed -eq 0 ] && say "nothing to remove."
say "Debian packages stay. The ones only fleet wanted go with: apt-get remove --autoremove podman runc mmdebstrap"
