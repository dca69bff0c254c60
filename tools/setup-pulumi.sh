#!/bin/sh
# Makes `pulumi` and its Python language host ready for this clone, in .fleet/bin. Repeatable; what is there is kept.
#
# A `pulumi` on PATH that is new enough is used as it is. Else the CLI is built from the Go module in tools/pulumi: about
# a minute of download and eight of compiling, once per machine and version (kept in ${XDG_CACHE_HOME:-~/.cache}/fleet).
# A build that was broken off goes on where Go's own caches left it.
set -eu

root=$(CDPATH='' cd -- "$(dirname -- "$0")/.." && pwd)
oldest_minor=270 # of version 3; the same bound as the SDK's in pyproject.toml
here="$root/.fleet/bin"
version=$(sed -n 's|.*github.com/pulumi/pulumi/pkg/v3 \(v[0-9.]*\).*|\1|p' "$root/tools/pulumi/go.mod" | head -1)
kept="${XDG_CACHE_HOME:-$HOME/.cache}/fleet/bin/pulumi-$version"

say() { printf 'setup-pulumi: %s\n' "$*" >&2; }
fail() { say "$1"; say "next: $2"; exit 1; }

# PATH without our own directory: is there another Pulumi?
elsewhere=$(printf '%s' "$PATH" | tr ':' '\n' | grep -vxF "$here" | paste -sd: -)
find_elsewhere() { PATH="$elsewhere" command -v "$1" 2>/dev/null || true; }

new_enough() {
    found=$("$1" version 2>/dev/null) || return 1
    case "$found" in v3.*) ;; *) return 1 ;; esac
    minor=${found#v3.}
    [ "${minor%%.*}" -ge "$oldest_minor" ] 2>/dev/null
}

fetch() { # the Go module cache holds the program runner, too
    command -v go >/dev/null || fail "pulumi is not on PATH, and Go to build it isn't either" \
        "install Pulumi (https://www.pulumi.com/docs/install/) or Go 1.26, and run this again"
    say "fetching the sources of Pulumi $version"
    (cd "$root/tools/pulumi" && GOFLAGS=-mod=readonly go mod download)
}

build() {
    fetch
    say "building Pulumi $version (7 to 8 minutes on two cores, 122 MB, once per machine)"
    mkdir -p "$kept"
    (cd "$root/tools/pulumi" && CGO_ENABLED=0 GOFLAGS=-mod=readonly go build -trimpath -buildvcs=false \
        -tags osusergo,grpcnotrace \
        -ldflags "-s -w -X github.com/pulumi/pulumi/sdk/v3/go/common/version.Version=$version" \
        -o "$kept/pulumi.part" github.com/pulumi/pulumi/pkg/v3/cmd/pulumi)
    mv "$kept/pulumi.part" "$kept/pulumi"
}

runner() { # pulumi-language-python-exec, of the SDK's Go module
    [ -f "$kept/pulumi-language-python-exec" ] && return
    fetch
    sdk=$(cd "$root/tools/pulumi" && GOFLAGS=-mod=readonly go list -m -f '{{.Dir}}' github.com/pulumi/pulumi/sdk/v3)
    mkdir -p "$kept"
    cp "$sdk/python/cmd/pulumi-language-python-exec" "$kept/pulumi-language-python-exec.part"
    chmod 0644 "$kept/pulumi-language-python-exec.part"
    mv "$kept/pulumi-language-python-exec.part" "$kept/pulumi-language-python-exec"
}

mkdir -p "$here"
ours=$(find_elsewhere pulumi)
if [ -n "$ours" ] && new_enough "$ours"; then
    rm -f "$here/pulumi"
    say "using $ours ($("$ours" version))"
else
    [ -n "$ours" ] && say "$ours is too old (3.$oldest_minor or later is needed), or doesn't answer"
    [ -x "$kept/pulumi" ] && "$kept/pulumi" version >/dev/null 2>&1 || build
    # A file of its own beside the language host, not a symlink: so the engine finds the host as its own, and is quiet.
    if ! [ "$here/pulumi" -ef "$kept/pulumi" ] || [ -L "$here/pulumi" ]; then
        rm -f "$here/pulumi"
        ln "$kept/pulumi" "$here/pulumi" 2>/dev/null || cp "$kept/pulumi" "$here/pulumi"
    fi
    say "using $kept/pulumi"
fi

host=$(find_elsewhere pulumi-language-python)
if [ -n "$host" ] && [ -n "$ours" ] && [ ! -e "$here/pulumi" ]; then
    rm -f "$here/pulumi-language-python" # the official one is never shadowed
else
    runner
    cat >"$here/pulumi-language-python.part" <<EOF
#!/bin/sh
# Written by tools/setup-pulumi.sh: the language host of a Pulumi that was built from source.
PULUMI_LANGUAGE_PYTHON_EXEC="$kept/pulumi-language-python-exec" \\
    exec "$root/.venv/bin/python" "$root/tools/pulumi_language_python" "\$@"
EOF
    chmod 0755 "$here/pulumi-language-python.part"
    mv "$here/pulumi-language-python.part" "$here/pulumi-language-python"
fi
