#!/usr/bin/env bash
# The probe's tests, without vLLM. Needs msgspec and pyzmq, which come with vLLM: where python3 has none, they are installed beside the build.
set -eu -o pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"
python="${PYTHON:-python3}"
if ! "$python" -c 'import msgspec, zmq' 2>/dev/null; then
  venv="../target/probe-venv"
  if ! "$venv/bin/python" -c 'import msgspec, zmq' 2>/dev/null; then
    rm -rf "$venv"
    mkdir -p ../target
    "$python" -m venv "$venv"
    "$venv/bin/pip" install -q --disable-pip-version-check msgspec==0.23.0 pyzmq==27.3.0
  fi
  python="$venv/bin/python"
fi
PYTHONDONTWRITEBYTECODE=1 "$python" -m unittest discover -s tests
