#!/usr/bin/env bash
# The probe's tests, without vLLM: of the Python alone, and of the compiled part where there is a C compiler. Needs msgspec and pyzmq, which come with vLLM:
# where python3 has none, they are installed beside the build.
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
export PYTHONDONTWRITEBYTECODE=1
echo "Python alone:"
TOKENSTAIR_PROBE_COMPILED=0 "$python" -m unittest discover -s tests
# As setup.py builds it, but without setuptools, and with warnings as errors.
compiled="../target/probe-compiled"
rm -rf "$compiled"
mkdir -p "$compiled"
cp -r tokenstair_probe "$compiled/"
read -r include suffix < <("$python" -c 'import sysconfig; print(sysconfig.get_path("include"), sysconfig.get_config_var("EXT_SUFFIX"))')
if ! command -v "${CC:-cc}" >/dev/null || [ ! -f "$include/Python.h" ]; then
  echo "The compiled part is not tested: no C compiler, or no Python.h in $include"
  exit 0
fi
"${CC:-cc}" -shared -fPIC -O2 -Wall -Wextra -Werror -Wno-unused-parameter -Wno-cast-function-type -Wno-missing-field-initializers -I "$include" \
  tokenstair_probe/_usual.c -o "$compiled/tokenstair_probe/_usual$suffix"
echo "Compiled:"
TOKENSTAIR_PROBE_PACKAGE="$PWD/$compiled" "$python" -m unittest discover -s tests
