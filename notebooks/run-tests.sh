#!/usr/bin/env bash
# Runs every notebook over the archive of a demo, and the tests of what the notebooks share. Needs the modules built.
set -eu -o pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"
./environment.sh
archive="$PWD/target/demo"
rm -rf "$archive"
mkdir -p "$archive"
TOKENSTAIR_NO_BUILD=1 ../tokenstair demo --once --out "$archive" >target/demo.log 2>&1 || {
  cat target/demo.log
  echo "notebooks: the demo that makes their archive failed" >&2
  exit 1
}
# Settings of the machine's user have no say in a test.
export MPLBACKEND=agg MPLCONFIGDIR="$PWD/target/matplotlib" IPYTHONDIR="$PWD/target/ipython" PYTHONDONTWRITEBYTECODE=1
TOKENSTAIR_ARCHIVE="$archive/results" .venv/bin/python -m pytest -q
