#!/usr/bin/env bash
# Measures the whole job beside one that only ships tokens. Options: bench/run.sh --help. JAVA_OPTS adds options of the JVM.
set -euo pipefail
cd "$(dirname "$0")/.."
if [ -z "${SKIP_BUILD:-}" ]; then
  mvn -B -q -pl bench -am -DskipTests package
fi
# shellcheck disable=SC2086
exec "${JAVA_HOME:+$JAVA_HOME/bin/}java" -Xms6g -Xmx6g -Xmn4500m -XX:+UseParallelGC ${JAVA_OPTS:-} \
  -cp "bench/target/classes:$(cat bench/target/classpath.txt)" io.tokenstair.bench.WholeJobBench "$@"
