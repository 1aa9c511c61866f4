#!/usr/bin/env bash
# The metrics, read by Prometheus's own tool (Debian's package) and by the strict parser of prometheus-client.
source "$(dirname "${BASH_SOURCE[0]}")/serve.sh"
serve STEWARD_METRICS_LOOPBACK=true
api GET /agents >/dev/null

passed=0
check() { # name command… : each line that it says is a failure
  local name=$1 out=$work/out
  shift
  if "$@" >"$out" 2>&1 <"$work/metrics"; then passed=$((passed + 1)); fi
  sed "s/^/$name: /" "$out" >>"$work/failures"
}
touch "$work/failures"
curl -sS -H "accept: text/plain; version=0.0.4" "$url/metrics" >"$work/metrics"
check text "$suites/bin/promtool" check metrics
curl -sS -H "accept: application/openmetrics-text; version=1.0.0" "$url/metrics" >"$work/metrics"
check openmetrics "$python" -c 'import sys
from prometheus_client.openmetrics.parser import text_string_to_metric_families as parse
if not list(parse(sys.stdin.read())): print("there are no metrics")'
judge "$passed" "$work/failures"
