// graphql.mjs URL KEY SCHEMA FAILURES: prints how many audits passed, and writes the others into a file, one a line.
import { readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";

const require = createRequire(`${process.env.SUITES}/node/package.json`);
const { buildClientSchema, buildSchema, getIntrospectionQuery, validateSchema } = require("graphql");
const { auditServer } = require("graphql-http");
const [url, key, schema, file] = process.argv.slice(2);
// The audit asks everything at once; who has asked too much is told when to come again.
const fetchFn = async (to, options = {}) => {
  for (;;) {
    const answer = await fetch(to, { ...options, headers: { ...options.headers, authorization: `Bearer ${key}` } });
    if (answer.status !== 429) return answer;
    await new Promise((wake) => setTimeout(wake, 1000 * Number(answer.headers.get("retry-after") ?? 1)));
  }
};
const failures = [];
let passed = 0;
const attempt = async (name, what) => {
  try {
    const errors = await what();
    if (errors?.length) throw new Error(errors.map((error) => error.message).join("; "));
    passed += 1;
  } catch (error) {
    failures.push(`${name}: ${error.message}`);
  }
};
await attempt("schema", () => validateSchema(buildSchema(readFileSync(schema, "utf8"))));
await attempt("introspection", async () => {
  const answer = await fetchFn(url, { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify({ query: getIntrospectionQuery() }) });
  return validateSchema(buildClientSchema((await answer.json()).data));
});
for (const audit of await auditServer({ url, fetchFn })) {
  // A notice is something that a server may do, not one that it should.
  if (audit.status === "ok" || audit.status === "notice") passed += audit.status === "ok" ? 1 : 0;
  else failures.push(`${audit.status} ${audit.id} ${audit.name}: ${audit.reason}`);
}
writeFileSync(file, failures.map((failure) => `${failure.replaceAll("\n", " ")}\n`).join(""));
console.log(passed);
