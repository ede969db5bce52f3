#!/usr/bin/env bash
# What the probe and the KV events cost a real vLLM on this machine. bench/overhead/README.md says how it measures.
#   bench/overhead/run.sh VENV MODEL [measure.py options]     VENV has vLLM and the probe installed, MODEL is a folder
# CASES      of the collector: present, absent, frozen, disk-full (default: absent, or present where COLLECTOR is set); one server for all
# COLLECTOR  a command that collects, such as "./tokenstair collect vllm"
# KV         how KV events come: probe (carried by it, the default) or zmq (vLLM's own publisher)
# ENGINE_CPUS, OTHER_CPUS  cores of the engine, cores of client and collector, as for taskset (default: all share all)
# DTYPE      of the model: bfloat16 (default), or float32, which is faster on cores without AVX-512
# PORT       the first of four ports
set -eu -o pipefail
[ $# -ge 2 ] || { sed -n '2,9s/^# *//p' "$0" >&2; exit 2; }
here="$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)"
venv="$1" model="$2"
shift 2
work="$(mktemp -d)"
port="${PORT:-8131}"
engine_cpus=() other_cpus=()
if [ -n "${ENGINE_CPUS:-}" ]; then engine_cpus=(taskset -c "$ENGINE_CPUS"); fi
if [ -n "${OTHER_CPUS:-}" ]; then other_cpus=(taskset -c "$OTHER_CPUS"); fi
server="" collector="" full="" kv_way="${KV:-probe}"
cases="${CASES:-$([ -n "${COLLECTOR:-}" ] && echo present || echo absent)}"

end_collector() {
  [ -n "$collector" ] || return 0
  kill -CONT "$collector" 2>/dev/null || true
  kill "$collector" 2>/dev/null || true
  wait "$collector" 2>/dev/null || true
  collector=""
}

stop() {
  end_collector
  if [ -n "$server" ]; then kill "$server" 2>/dev/null; wait "$server" 2>/dev/null; fi
  if [ -n "$full" ]; then umount "$full" 2>/dev/null; fi
  rm -rf "$work"
} 2>/dev/null
trap stop EXIT

# begin_collector FOLDER: COLLECTOR gets the options of `tokenstair collect vllm`.
begin_collector() {
  [ -n "${COLLECTOR:-}" ] || { echo "COLLECTOR is not set" >&2; exit 2; }
  local kv_options=()
  : >"$work/collector.log"
  if [ "$kv_way" = zmq ]; then kv_options=(--kv-events "tcp://127.0.0.1:$((port + 2))" --kv-replay "tcp://127.0.0.1:$((port + 3))"); fi
  ${other_cpus[@]+"${other_cpus[@]}"} $COLLECTOR --to "$1" --probe "tcp://127.0.0.1:$((port + 1))" ${kv_options[@]+"${kv_options[@]}"} \
    >"$work/collector.log" 2>&1 &
  collector=$!
  for _ in $(seq 1 60); do
    if grep -q . "$work/collector.log"; then break; fi
    sleep 0.5
  done
  # The probe looks for a collector every two seconds, and what it held comes first.
  sleep 4
}

export TOKENSTAIR_PROBE="tcp://127.0.0.1:$((port + 1))" OVERHEAD_COSTS="$work/costs.jsonl" PYTHONPATH="$here${PYTHONPATH:+:$PYTHONPATH}"
export HF_HUB_OFFLINE=1 VLLM_NO_USAGE_STATS=1 DO_NOT_TRACK=1
case "$kv_way" in
  probe) kv='{"enable_kv_cache_events":true,"publisher":"null"}' ;;
  zmq)
    kv='{"enable_kv_cache_events":true,"publisher":"zmq","endpoint":"tcp://*:'$((port + 2))'","replay_endpoint":"tcp://*:'$((port + 3))'","topic":"kv"}'
    ;;
  *)
    echo "KV is probe or zmq, not $kv_way" >&2
    exit 2
    ;;
esac
${engine_cpus[@]+"${engine_cpus[@]}"} "$venv/bin/python" -m vllm.entrypoints.openai.api_server --model "$model" --load-format dummy --served-model-name tiny \
  --host 127.0.0.1 --port "$port" --dtype "${DTYPE:-bfloat16}" --enforce-eager --max-model-len 2048 --block-size 32 \
  --kv-cache-memory-bytes 1000000000 --num-gpu-blocks-override 1000 --max-num-batched-tokens 512 --enable-prefix-caching \
  --kv-events-config "$kv" --scheduler-cls overhead_toggle.ToggleScheduler >"$work/server.log" 2>&1 &
server=$!
for _ in $(seq 1 300); do
  curl -sf -o /dev/null "http://127.0.0.1:$port/health" && break
  kill -0 "$server" 2>/dev/null || { tail -n 30 "$work/server.log" >&2; echo "the server ended" >&2; exit 1; }
  sleep 1
done
for case in $cases; do
  echo "== collector: $case"
  case "$case" in
    absent) ;;
    present) begin_collector "$work/log-$case" ;;
    frozen)
      begin_collector "$work/log-$case"
      kill -STOP "$collector"
      ;;
    disk-full)
      full="$work/full"
      mkdir "$full"
      if ! mount -t tmpfs -o size=256k tmpfs "$full" 2>/dev/null; then
        echo "not measured: no small file system can be mounted here (needs root)"
        full=""
        continue
      fi
      begin_collector "$full/log"
      ;;
    *)
      echo "no such case: $case" >&2
      exit 2
      ;;
  esac
  ${other_cpus[@]+"${other_cpus[@]}"} "$venv/bin/python" "$here/measure.py" --url "http://127.0.0.1:$port" --costs "$work/costs.jsonl" \
    ${collector:+--collector "$collector"} "$@"
  if [ "$case" = frozen ]; then
    kill -CONT "$collector"
    sleep 4
  fi
  if [ "$case" = disk-full ]; then df --output=used,avail "$full" | tail -n 1 | awk '{print "disk of the log: " $1 " KiB used, " $2 " KiB free"}'; fi
  end_collector
  if [ -f "$work/collector.log" ]; then
    grep -v '^Collecting to' "$work/collector.log" | tail -n 3 | cut -c1-300
    rm "$work/collector.log"
  fi
done
