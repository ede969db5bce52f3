#!/usr/bin/env bash
# What the probe and the KV events cost a real vLLM on this machine. bench/overhead/README.md says how it measures.
#   bench/overhead/run.sh VENV MODEL [measure.py options]     VENV has vLLM and the probe installed, MODEL is a folder
set -eu -o pipefail
[ $# -ge 2 ] || { sed -n '2,3s/^# *//p' "$0" >&2; exit 2; }
here="$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)"
venv="$1" model="$2"
shift 2
work="$(mktemp -d)"
port="${PORT:-8131}"
server="" collector=""
stop() {
  if [ -n "$server" ]; then kill "$server" 2>/dev/null; wait "$server" 2>/dev/null; fi
  if [ -n "$collector" ]; then kill "$collector" 2>/dev/null; wait "$collector" 2>/dev/null; fi
  rm -rf "$work"
} 2>/dev/null
trap stop EXIT
if [ -n "${COLLECTOR:-}" ]; then
  # COLLECTOR: a command that collects; it gets the options of `tokenstair collect vllm`.
  $COLLECTOR --to "$work/log" --probe "tcp://127.0.0.1:$((port + 1))" --kv-events "tcp://127.0.0.1:$((port + 2))" \
    --kv-replay "tcp://127.0.0.1:$((port + 3))" >"$work/collector.log" 2>&1 &
  collector=$!
fi
export TOKENSTAIR_PROBE="tcp://127.0.0.1:$((port + 1))" OVERHEAD_COSTS="$work/costs.jsonl" PYTHONPATH="$here"
export HF_HUB_OFFLINE=1 VLLM_NO_USAGE_STATS=1 DO_NOT_TRACK=1
kv='{"enable_kv_cache_events":true,"publisher":"zmq","endpoint":"tcp://*:'$((port + 2))'","replay_endpoint":"tcp://*:'$((port + 3))'","topic":"kv"}'
"$venv/bin/python" -m vllm.entrypoints.openai.api_server --model "$model" --load-format dummy --served-model-name tiny \
  --host 127.0.0.1 --port "$port" --dtype bfloat16 --enforce-eager --max-model-len 2048 --block-size 32 \
  --kv-cache-memory-bytes 1000000000 --num-gpu-blocks-override 1000 --max-num-batched-tokens 512 --enable-prefix-caching \
  --kv-events-config "$kv" --scheduler-cls overhead_toggle.ToggleScheduler >"$work/server.log" 2>&1 &
server=$!
for _ in $(seq 1 300); do
  curl -sf -o /dev/null "http://127.0.0.1:$port/health" && break
  kill -0 "$server" 2>/dev/null || { tail -n 30 "$work/server.log" >&2; echo "the server ended" >&2; exit 1; }
  sleep 1
done
"$venv/bin/python" "$here/measure.py" --url "http://127.0.0.1:$port" --costs "$work/costs.jsonl" "$@"
if [ -f "$work/collector.log" ]; then tail -n 1 "$work/collector.log"; fi
