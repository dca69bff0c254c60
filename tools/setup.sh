#!/usr/bin/env bash
# Makes this checkout ready: system packages, Python environment, Pulumi CLI, node image. Each part is skipped when it is
# there, and is kept when a later one fails. It says first what it will do and asks; YES=1 or CI answers for you.
set -euo pipefail
. "$(dirname -- "$0")/common.sh"
cd "$root"
# What the lab's containers need of Debian. `python3-venv` is for Debian's own Python.
packages="podman runc mmdebstrap netavark aardvark-dns conmon iptables nftables openssh-client apt-utils dpkg-dev gnupg
uidmap fuse-overlayfs ca-certificates git procps"

# The best Python there is: 3.12 first (the newest ansible-core), then 3.13 and 3.11. Empty where there is none.
find_python() {
    local name elsewhere
    elsewhere=$(printf '%s' "$PATH" | tr ':' '\n' | grep -vxF "$root/.venv/bin" | paste -sd: -)
    for name in python3.12 "${PYENV_ROOT:-$HOME/.pyenv}"/versions/3.12.*/bin/python3.12 python3.13 python3.11 python3; do
        env PATH="$elsewhere" "$name" -c 'import sys; assert (3, 11) <= sys.version_info[:2] < (3, 14); print(sys._base_executable)' 2>/dev/null &&
            return
    done
    true
}

missing_packages() {
    local name wanted=$packages
    [ "$python" = /usr/bin/python3 ] && wanted="$wanted python3-venv"
    [ "$(readlink -f "${python:-/none}")" = /usr/bin/python3.11 ] && wanted="$wanted python3-venv"
    for name in $wanted; do
        case $(dpkg-query -W -f '${Status}' "$name" 2>/dev/null || true) in
        *" installed") ;;
        *) printf '%s\n' "$name" ;;
        esac
    done | sort -u | paste -sd' ' -
}

install_packages() {
    export DEBIAN_FRONTEND=noninteractive
    apt-get update -q
    # shellcheck disable=SC2086
    apt-get install -q -y --no-install-recommends $missing
}

locked() { cat uv.lock pyproject.toml <(printf '%s' "$python $root") | sha256sum | cut -c1-16; }

python_ready() { [ -x .venv/bin/fleet ] && [ "$(cat .venv/.locked 2>/dev/null)" = "$(locked)" ]; }

make_python() {
    local uv="$cache/uv-$uv_version/bin/uv"
    if ! "$uv" --version >/dev/null 2>&1; then
        "$python" -m venv --clear "$cache/uv-$uv_version"
        "$cache/uv-$uv_version/bin/pip" install --quiet "uv==$uv_version"
    fi
    UV_PYTHON_DOWNLOADS=never UV_CACHE_DIR="$cache/uv" UV_LINK_MODE=copy UV_NO_PROGRESS=1 \
        "$uv" sync --locked --python "$python"
    locked >.venv/.locked
}

# Ours stands in .fleet/bin; of the user's own only its path is kept there.
pulumi_ready() {
    if [ -e .fleet/bin/pulumi ]; then
        [ -x .fleet/bin/pulumi-language-python ] && .fleet/bin/pulumi version >/dev/null 2>&1
    else
        [ -s .fleet/bin/.own ] && [ "$(cat .fleet/bin/.own)" = "$(pulumi_elsewhere)" ]
    fi
}

pulumi_elsewhere() { # the one of the user, if there is one; setup-pulumi.sh judges whether it is new enough
    PATH=$(printf '%s' "$PATH" | tr ':' '\n' | grep -vxF "$root/.fleet/bin" | paste -sd: -) command -v pulumi 2>/dev/null
}

make_pulumi() {
    export GOMODCACHE="${GOMODCACHE:-$cache/go/mod}" GOCACHE="${GOCACHE:-$cache/go/build}"
    sh tools/setup-pulumi.sh
    [ -e .fleet/bin/pulumi ] || pulumi_elsewhere >.fleet/bin/.own
    # Sources and objects (2 GB) have done their work once the program stands.
    if [ -d "$cache/go" ]; then
        chmod -R u+w "$cache/go"
        rm -rf "$cache/go"
    fi
}

image_ready() { .venv/bin/python -c 'import sys; from fleet.lab import image; sys.exit(not image.exists())' 2>/dev/null; }

make_image() { .venv/bin/fleet lab image; }

go_new_enough() {
    local found
    found=$(go env GOVERSION 2>/dev/null) || return 1
    found=${found#go1.}
    [ "${found%%.*}" -ge "$oldest_go_minor" ] 2>/dev/null
}

python=$(find_python)
[ -n "$python" ] || fail "no Python 3.11, 3.12 or 3.13 on PATH" "fleet is written in Python" \
    "apt-get install python3 python3-venv"

# What is to be done, as rows: part, what and where, disk, minutes.
todo=()
rows=()
need() { todo+=("$1"); rows+=("$(printf '  %-14s %-62s %8s %7s' "$1" "$2" "$3" "$4")"); }

containers=yes
missing=""
if command -v dpkg-query >/dev/null; then
    missing=$(missing_packages)
    if [ -n "$missing" ] && [ "$(id -u)" = 0 ]; then
        need packages "apt-get install: $(printf '%s' "$missing" | wc -w) packages, into the system" "250 MB" "2 min"
    fi
fi
if [ "$(id -u)" != 0 ]; then
    containers=no
    say "note: not root, so no containers on this machine: neither system packages nor the node image are set up."
    case " $missing " in *" python3-venv "*)
        fail "python3-venv is missing" "the Python environment is made with it" "sudo apt-get install python3-venv" ;;
    esac
elif ! command -v dpkg-query >/dev/null; then
    containers=no
    say "note: this is no Debian, so the lab's containers are not set up here."
fi
python_ready || need python "from uv.lock with $python, into .venv" "650 MB" "1 min"
if [ $containers = no ] && [ "${MAKECMDGOALS:-}" = demo ]; then
    say "note: the demo is a simulation then, and needs no Pulumi."
elif ! pulumi_ready; then
    if pulumi_elsewhere >/dev/null; then
        need pulumi "the one on PATH, linked into .fleet/bin" "-" "-"
    elif compgen -G "$cache/bin/pulumi-v*/pulumi" >/dev/null; then
        need pulumi "built before, linked into .fleet/bin" "-" "-"
    elif go_new_enough; then
        need pulumi "built from source, into ${cache/#$HOME/\~}/bin (2 GB while it builds)" "125 MB" "10 min"
    else
        fail "no pulumi on PATH, and no Go 1.$oldest_go_minor to build it with" \
            "$(command -v go >/dev/null && go version || echo 'go: not found')" \
            "install Go 1.$oldest_go_minor (or pulumi), and run \`make setup\` again"
    fi
fi
if [ $containers = yes ] && ! { [ -x .venv/bin/python ] && python_ready && image_ready; }; then
    need image "Debian with Slurm for the lab's nodes, into podman's store" "700 MB" "2 min"
fi

if [ ${#todo[@]} -eq 0 ]; then
    say "set-up: everything is there."
    exit 0
fi
say "set-up will make these, in this order (a part that is there already is skipped):"
say "$(printf '  %-14s %-62s %8s %7s' part 'what and where' disk time)"
printf '%s\n' "${rows[@]}" >&2
say "\`make clean\` removes what is not the system's, and lists it."
if [ -z "${YES:-}${CI:-}" ]; then
    [ -t 0 ] || fail "nobody is there to answer" "standard input is no terminal" "YES=1 make ${MAKECMDGOALS:-setup}"
    read -r -p "Go on? [y/N] " answer
    case $answer in [yY]*) ;; *) say "nothing was done."; exit 130 ;; esac
fi
began=$SECONDS
for part in "${todo[@]}"; do
    case $part in
    packages) timed packages install_packages ;;
    python) timed python make_python ;;
    pulumi) timed pulumi make_pulumi ;;
    image) timed image make_image ;;
    esac
done
say "set-up: ready after $((SECONDS - began)) s."
