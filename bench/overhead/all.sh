#!/usr/bin/env bash
# All tables of bench/overhead/README.md, some 11 minutes on a quiet machine of 2 cores.
#   bench/overhead/all.sh VENV MODEL NGINX
# COLLECTOR, GATEWAY  commands to start them (default: ./tokenstair collect vllm, ./tokenstair collect gateway)
set -u -o pipefail
[ $# -eq 3 ] || { sed -n '2,4s/^# *//p' "$0" >&2; exit 2; }
here="$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)"
export COLLECTOR="${COLLECTOR:-./tokenstair collect vllm}"
echo "load of the machine: $(cut -d ' ' -f 1 /proc/loadavg), $(nproc) cores, $(date -u +%FT%TZ)"
CASES="${CASES:-present absent frozen disk-full}" "$here/run.sh" "$1" "$2" --rounds "${ROUNDS:-90}" --streams 4 --tokens 100
echo "== gateway beside nginx"
"${PYTHON:-python3}" "$here/gateway.py" --nginx "$3" --gateway "${GATEWAY:-./tokenstair collect gateway}" --warm "${WARM:-30}" \
  --rounds "${GATEWAY_ROUNDS:-20}"
