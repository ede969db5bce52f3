#!/usr/bin/env bash
# All tables of bench/overhead/README.md, some 50 minutes on a quiet machine of 2 cores.
#   bench/overhead/all.sh VENV MODEL NGINX
# COLLECTOR, GATEWAY       commands to start them (default: ./tokenstair collect vllm, ./tokenstair collect gateway)
# ENGINE_CPUS, OTHER_CPUS  for the tables with cores apart (default: all but the last core, the last core)
set -u -o pipefail
[ $# -eq 3 ] || { sed -n '2,5s/^# *//p' "$0" >&2; exit 2; }
here="$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)"
export COLLECTOR="${COLLECTOR:-./tokenstair collect vllm}"
cases="${CASES:-present absent frozen disk-full}"
cores="$(nproc)"
engine_cpus="${ENGINE_CPUS:-0-$((cores - 2))}"
other_cpus="${OTHER_CPUS:-$((cores - 1))}"
probe=("$1" "$2" --rounds "${ROUNDS:-90}" --streams 4 --tokens 200)
echo "load of the machine: $(cut -d ' ' -f 1 /proc/loadavg), $cores cores, $(date -u +%FT%TZ)"
echo "== engine, client and collector on the same cores; KV events by the probe"
CASES="$cases" ENGINE_CPUS='' OTHER_CPUS='' "$here/run.sh" "${probe[@]}"
if [ "$cores" -ge 2 ]; then
  echo "== engine on cores $engine_cpus, client and collector on $other_cpus; KV events by the probe"
  CASES="$cases" ENGINE_CPUS="$engine_cpus" OTHER_CPUS="$other_cpus" "$here/run.sh" "${probe[@]}"
else
  echo "not measured with cores apart: there is one only"
fi
echo "== engine, client and collector on the same cores; KV events by vLLM's own publisher"
CASES=present KV=zmq ENGINE_CPUS='' OTHER_CPUS='' "$here/run.sh" "${probe[@]}"
echo "== gateway beside nginx"
"${PYTHON:-python3}" "$here/gateway.py" --nginx "$3" --gateway "${GATEWAY:-./tokenstair collect gateway}" --warm "${WARM:-30}" \
  --rounds "${GATEWAY_ROUNDS:-20}"
