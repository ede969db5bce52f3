#!/usr/bin/env bash
# Times single functions of the hot path. Arguments go to JMH: a pattern of names, -f forks, -h for more.
set -euo pipefail
cd "$(dirname "$0")/.."
if [ -z "${SKIP_BUILD:-}" ]; then
  mvn -B -q -pl bench -am -DskipTests package
fi
exec "${JAVA_HOME:+$JAVA_HOME/bin/}java" -cp "bench/target/classes:$(cat bench/target/classpath.txt)" org.openjdk.jmh.Main "$@"
