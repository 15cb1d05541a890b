#!/bin/sh
# Make .venv and install what a target needs:  tools/set_up.sh run | test
#
# Needs python3 (3.11 or later) and the network, the first time. A stamp in .venv holds the checksum of the
# requirements that were installed, so that a later start compares two lines and is done.
set -eu
cd "$(dirname "$0")/.."

PYTHON=${PYTHON:-python3}
venv=.venv

say() { printf '%s\n' "$*" >&2; }
fail() { say "$*"; exit 1; }

# Run a command as root where that needs no password; otherwise return 1.
as_root() {
    if [ "$(id -u)" -eq 0 ]; then
        "$@"
    elif command -v sudo >/dev/null 2>&1 && sudo -n true 2>/dev/null; then
        sudo -n "$@"
    else
        return 1
    fi
}

# Install Debian packages; return 1 where there is no apt-get, no right or no network.
apt_install() {
    command -v apt-get >/dev/null 2>&1 && as_root true || return 1
    say "Installing with apt-get: $*"
    as_root apt-get update -qq >&2 &&
        as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "$@" >&2
}

checksum() { cat requirements.txt "$@" | cksum; }

make_venv() {
    "$PYTHON" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null ||
        fail "RelaxScope needs Python 3.11 or later as $PYTHON (another one: make PYTHON=/path/to/python3 ...)."
    # Debian ships the module that puts pip into an environment apart from Python.
    if ! "$PYTHON" -c 'import ensurepip' 2>/dev/null; then
        apt_install python3-venv && "$PYTHON" -c 'import ensurepip' 2>/dev/null ||
            fail "$PYTHON cannot make a virtual environment: install the package python3-venv and start again."
    fi
    "$PYTHON" -m venv --clear "$venv"
}

install() { # install FILE: everything that it requires
    say "Installing $1 into $venv (only the first time, and when it changes) ..."
    "$venv/bin/python" -m pip --version >/dev/null 2>&1 || make_venv
    "$venv/bin/python" -m pip install --quiet --disable-pip-version-check --no-compile -r "$1" ||
        fail "The packages of $1 could not be installed; the lines above say why."
}

is_installed() { # is_installed STAMP FILE
    [ -x "$venv/bin/python" ] && [ -f "$venv/$1" ] && [ "$(checksum "$2")" = "$(cat "$venv/$1")" ]
}

# The tests' requirements include those of the program, so that `make run` after `make test` has nothing to do.
need_run() {
    is_installed installed-run requirements.txt && return
    install requirements.txt
    checksum requirements.txt >"$venv/installed-run"
}

need_test() {
    is_installed installed-test tests/requirements.txt && return
    install tests/requirements.txt
    # The Node.js inside Playwright's wheel needs a library that a minimal Debian lacks.
    "$venv/bin/python" -m playwright --version >/dev/null 2>&1 || apt_install libatomic1 ||
        say "Playwright does not start here: install the package libatomic1, or the browser tests fail."
    checksum requirements.txt >"$venv/installed-run"
    checksum tests/requirements.txt >"$venv/installed-test"
}

# An environment of its own inside the other one, so that whoever removes that one removes this one as well.
need_old_tvm() {
    old="$venv/apache-tvm-0.25"
    asked=$(cksum <tests/requirements-0.25.txt)
    [ -f "$old/installed" ] && [ "$asked" = "$(cat "$old/installed")" ] && return
    say "Installing tests/requirements-0.25.txt into $old (only the first time, and when it changes) ..."
    if "$venv/bin/python" -m venv --clear "$old" &&
        "$old/bin/python" -m pip install --quiet --disable-pip-version-check --no-compile \
            -r tests/requirements-0.25.txt; then
        printf '%s\n' "$asked" >"$old/installed"
    else
        say "apache-tvm 0.25 could not be installed here: the recorder is tested with 0.27 alone."
    fi
}

node_checksum() { cat package.json package-lock.json | cksum; }

# What builds the browser components; the built files are checked in, so that nothing but a change of them needs it.
need_node() {
    command -v npm >/dev/null 2>&1 || return 0
    [ -f node_modules/installed ] && [ "$(node_checksum)" = "$(cat node_modules/installed)" ] && return
    say "Installing the packages of package.json into node_modules (only the first time, and when it changes) ..."
    set -- --silent --no-audit --no-fund --fetch-retries=1 --fetch-timeout=30000
    # A lock file knows the packages of the platforms that its registry has; package.json pins every version as well.
    if npm ci "$@" >&2 || npm install --no-package-lock "$@" >&2; then
        mkdir -p node_modules
        node_checksum >node_modules/installed
    else
        say "npm failed here: the built browser components are compared with their sources, but not built again."
    fi
}

has_chromium() {
    for name in chromium chromium-browser google-chrome; do
        command -v "$name" >/dev/null 2>&1 && return 0
    done
    return 1
}

has_compiler() {
    for name in g++ gcc clang++ clang; do
        command -v "$name" >/dev/null 2>&1 && return 0
    done
    return 1
}

case "${1:-}" in
    run)
        need_run
        ;;
    test)
        need_test
        need_old_tvm
        need_node
        has_chromium || apt_install chromium fonts-dejavu-core ||
            say "Chromium is missing and could not be installed here: the browser tests are left out."
        # A test has git apply the patches that are saved.
        command -v git >/dev/null 2>&1 || apt_install git ||
            say "git is missing and could not be installed here: the tests of patches fail."
        # apache-tvm links a module that has no kernels with the compiler of the system.
        has_compiler || apt_install g++ ||
            say "A C compiler is missing and could not be installed here: the comparisons with TVM are left out."
        ;;
    *)
        fail "usage: tools/set_up.sh run | test"
        ;;
esac
