#!/usr/bin/env bash
# /api/graphql, audited by graphql-http (GraphQL over HTTP), and its schema, read by graphql-js.
source "$(dirname "${BASH_SOURCE[0]}")/serve.sh"
serve
shop
api GET /graphql/schema >"$work/schema.graphql"
passed=$(node "$here/graphql.mjs" "$url/api/graphql" "$key" "$work/schema.graphql" "$work/failures")
judge "$passed" "$work/failures"
