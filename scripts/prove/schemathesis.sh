#!/usr/bin/env bash
# Requests made up from the OpenAPI document, other ones each day: a stranger's, a viewer's, an administrator's, with what is there to
# be found. SEED=… repeats a run; EXAMPLES=… makes up more or fewer for each operation.
source "$(dirname "${BASH_SOURCE[0]}")/serve.sh"
seed=${SEED:-$(date +%Y%m%d)} examples=${EXAMPLES:-8}
# Endless by design, or they end what the run itself needs; an exam asks whatever address was made up before.
without=(examineConnection watchAll logout changePassword endSession endUserSessions makeApiKey removeApiKey)
# Not positive_data_acceptance: cursors, keys of idempotency and rules of meaning are more than a schema can say.
checks=not_a_server_error,status_code_conformance,content_type_conformance,response_headers_conformance,response_schema_conformance
checks+=,negative_data_rejection,unsupported_method,allow_header_conformance,ignored_auth,missing_required_header

serve
shop
api POST /users '{"email": "vera@example.org", "role": "viewer"}' >"$work/invited"
token=$(field invitation.token <"$work/invited")
viewer=$(curl -sS --fail-with-body "$url/api/auth/invitation" -H "content-type: application/json" \
  --data-binary "{\"token\": \"$token\", \"password\": \"a coot nests by the mill\"}" | field access_token)
viewer=$(key=$viewer api POST /auth/api-key | field api_key)
agent=$(api GET /agents | field items.0.id)
cat >"$work/schemathesis.toml" <<E2
hooks = "$here/schemathesis_hooks.py"

[[operations]]
include-operation-id-regex = "Agent\$"
parameters = { "path.id" = "$agent" }
E2

touch "$work/failures"
passed=0
fuzz() { # who header…
  local who=$1 exclude=()
  shift
  for operation in "${without[@]}"; do exclude+=(--exclude-operation-id "$operation"); done
  (cd "$work" && NO_PROXY='*' HOME="$work" "$cache/venv-schemathesis/bin/schemathesis" --no-color --config-file schemathesis.toml run \
    "$url/api/openapi.json" --checks "$checks" --phases examples,coverage,fuzzing --max-examples "$examples" --seed "$seed" \
    --generation-database none --request-timeout 120 --warnings off --continue-on-failure --suppress-health-check all --no-shrink \
    --report json --report-json-path "$work/$who.json" "${exclude[@]}" "$@") >"$work/$who.log" 2>&1 || true
  [[ -s $work/$who.json ]] || { tail -n 30 "$work/$who.log" >&2; fail "schemathesis made no report"; }
  # What was sent and answered, to look into a failure.
  mkdir -p "$suites/reports" && cp "$work/$who.log" "$suites/reports/schemathesis-$who.log"
  "$python" "$here/schemathesis_report.py" "$who" "$work/$who.json" "$work/failures"
}
for who in stranger viewer admin; do
  case $who in
    stranger) header=() ;;
    viewer) header=(--header "Authorization: Bearer $viewer") ;;
    admin) header=(--header "Authorization: Bearer $key") ;;
  esac
  cases=$(fuzz "$who" "${header[@]}")
  echo "$part: $who: $cases requests, seed $seed"
  passed=$((passed + cases))
done
# It still works after all that.
api GET /agents >/dev/null
if grep -q panicked "$work/server.log"; then grep panicked "$work/server.log" >>"$work/failures"; fi
judge "$passed" "$work/failures"
