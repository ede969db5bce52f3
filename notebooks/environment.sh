#!/usr/bin/env bash
# Makes the notebooks' Python environment in .venv beside this file, from the lock file. Does nothing where it is there.
set -eu -o pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"

fail() {
  printf 'notebooks: %s\n' "$*" >&2
  exit 2
}

python="$(command -v python3)" || fail "Python 3 is not installed: install Python 3.11 or newer with venv (Debian, Ubuntu: python3-venv)"
"$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))' ||
  fail "$("$python" --version) is too old: install Python 3.11 or newer"

stamp="$("$python" --version) $(cksum <requirements.txt)"
if [ -x .venv/bin/python ] && [ "$(cat .venv/made-from 2>/dev/null)" = "$stamp" ]; then
  exit 0
fi
echo "notebooks: making the Python environment (some 300 MB, once)"
rm -rf .venv
if command -v uv >/dev/null; then
  uv venv --quiet --python "$python" --no-python-downloads .venv || fail "uv cannot make an environment with $python"
  uv pip sync --quiet --python .venv/bin/python --require-hashes requirements.txt ||
    fail "Cannot install the libraries of requirements.txt: check the network and uv's settings"
else
  "$python" -m venv .venv >/dev/null || fail "This Python cannot make environments: install venv (Debian, Ubuntu: python3-venv)"
  .venv/bin/python -m pip install --quiet --require-hashes -r requirements.txt ||
    fail "Cannot install the libraries of requirements.txt: check the network and pip's settings"
fi
printf '%s\n' "$stamp" >.venv/made-from
