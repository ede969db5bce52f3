#!/usr/bin/env bash
# Prints the folder of a Python environment with an engine: python-environment.sh vllm|llamacpp|dynamo. Made where it is missing, once for all clones,
# in ~/.cache/tokenstair/live-engines; one that was not used for 14 days is removed when another is made. Exit 3, and one line, where this machine cannot.
set -u -o pipefail
cd "$(dirname "${BASH_SOURCE[0]}")" || exit 2
engine="$1"
requirements="requirements-$engine.txt"
cannot() {
  printf '%s\n' "$*" >&2
  exit 3
}
case "$engine" in
  vllm) size_gb=7 minutes=20 ;;
  *) size_gb=1 minutes=6 ;;
esac
[ -f "$requirements" ] || cannot "there is no $requirements"
[ "$(uname -s)-$(uname -m)" = Linux-x86_64 ] || cannot "its packages are for Linux on x86-64 only"
[ "$engine" != vllm ] || grep -qw avx2 /proc/cpuinfo || cannot "the CPU has no AVX2"
command -v python3 >/dev/null || cannot "python3 is not installed"
python3 -c 'import sys; sys.exit(not (3, 11) <= sys.version_info < (3, 14))' || cannot "$(python3 --version): its packages need 3.11 to 3.13"
python3 -c 'import ensurepip, venv' 2>/dev/null || cannot "python3 cannot make environments (python3-venv)"

cache="${XDG_CACHE_HOME:-$HOME/.cache}/tokenstair/live-engines"
mkdir -p "$cache" 2>/dev/null && [ -w "$cache" ] || cannot "$cache cannot be written"
hash="$({ python3 -c 'import sys; print(sys.version, sys.base_prefix)'; cat "$requirements"; } | sha256sum | cut -c 1-12)"
folder="$cache/$engine-$hash"
# Written last, and touched at each use: a folder without it was not finished. The lock ends with its process.
whole="$folder/.whole"
exec 9>"$folder.lock"
flock -w $((minutes * 60 + 60)) 9 || cannot "another run has been making $folder for $minutes minutes"
if [ ! -f "$whole" ]; then
  find "$cache" -mindepth 2 -maxdepth 2 -name .whole -mtime +14 -print | while read -r old; do
    rm -f "$old" && rm -rf "${old%/.whole}"
  done
  rm -rf "$folder"
  free_gb="$(df -Pk "$cache" | awk 'NR==2 {print int($4 / 1048576)}')"
  [ "$free_gb" -ge $((size_gb + 2)) ] || cannot "the environment takes $size_gb GB in $cache, $free_gb GB are free"
  echo "live-engines: making a Python environment for $engine in $folder, at most $minutes minutes" >&2
  timeout 120 python3 -m venv "$folder" >&2 || cannot "python3 -m venv failed"
  if ! timeout -k 10 $((minutes * 60)) "$folder/bin/python" -m pip install -q --disable-pip-version-check --no-input --no-cache-dir \
    --timeout 30 --retries 3 --no-deps --only-binary :all: -r "$requirements" >"$folder/pip.log" 2>&1; then
    why="$(grep -v '^ *$' "$folder/pip.log" | tail -n 1)"
    rm -rf "$folder"
    cannot "pip could not install $requirements within $minutes minutes: ${why:-no answer}"
  fi
  touch "$whole"
fi
touch "$whole"
printf '%s\n' "$folder"
