import assert from "node:assert/strict";
import { test } from "node:test";
import type { Config, ConfigField } from "@/api/types";
import { shown, stillOpen, typed } from "./changes.ts";

const field = (more: Partial<ConfigField>): ConfigField => ({ name: "MAX_RUNS", type: "number", help: "", value: "256", default: "256", secret: false, source: "default", variable: "STEWARD_MAX_RUNS", effect: "after_restart", changeable: true, pending: false, ...more });

test("a change is what differs from what is saved", () => {
  const runs = field({});
  assert.deepEqual(typed(runs, "7", {}), { MAX_RUNS: "7" });
  assert.deepEqual(typed(runs, " 7 ", { A: "1" }), { A: "1", MAX_RUNS: "7" });
  assert.deepEqual(typed(runs, "256", { MAX_RUNS: "7" }), {}, "the old value takes it back");
  assert.deepEqual(typed(runs, "", { MAX_RUNS: "7" }), {}, "empty is the default, which it has");
  assert.deepEqual(typed(field({ value: "7", source: "database" }), "", {}), { MAX_RUNS: null });
  assert.equal(shown(field({ value: "7", source: "database" }), { MAX_RUNS: null }), "256");
  assert.equal(shown(runs, { MAX_RUNS: "8" }), "8");
});

test("a secret is typed anew or stays", () => {
  const token = field({ name: "METRICS_TOKEN", type: "text", value: "••••••••", default: null, secret: true, source: "database" });
  assert.equal(shown(token, {}), "");
  assert.deepEqual(typed(token, "new", {}), { METRICS_TOKEN: "new" });
  assert.deepEqual(typed(token, "", { METRICS_TOKEN: "new" }), {}, "nothing typed changes nothing");
});

test("what the server has is not open any more", () => {
  const config: Config = { groups: [{ id: "worker", title: "", fields: [field({ value: "7" }), field({ name: "BROWSERS", changeable: false })] }], restart_pending: [], file: "" };
  assert.deepEqual(stillOpen(config, { MAX_RUNS: "7", BROWSERS: "3", GONE: "1" }), {});
  assert.deepEqual(stillOpen(config, { MAX_RUNS: "8" }), { MAX_RUNS: "8" });
});
