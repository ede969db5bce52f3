#!/usr/bin/env bash
# Prints figures of docs/accuracy.md: bench/accuracy.sh CLASS [OPTIONS], a class of io.tokenstair.bench.accuracy. SKIP_BUILD=1 leaves the build out.
set -euo pipefail
cd "$(dirname "$0")/.."
if [ -z "${SKIP_BUILD:-}" ]; then
  mvn -B -q -pl bench -am -DskipTests package
fi
class=$1
shift
# shellcheck disable=SC2086
exec "${JAVA_HOME:+$JAVA_HOME/bin/}java" ${JAVA_OPTS:-} \
  -cp "bench/target/classes:$(cat bench/target/classpath.txt)" "io.tokenstair.bench.accuracy.$class" "$@"
