import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { isAddress } from "./form";
import { KNOWN, partOf } from "./known";

test("all providers that the program knows are offered by name, with its addresses", () => {
  const program = JSON.parse(readFileSync("../crates/models/data/providers.json", "utf8")) as { name: string; base_url: string }[];
  for (const { name, base_url } of program) if (base_url) assert.ok(KNOWN.some((one) => one.url === base_url), name);
});

test("each has an address, and what is to be replaced is in it", () => {
  assert.equal(new Set(KNOWN.map((one) => one.name)).size, KNOWN.length);
  for (const one of KNOWN) assert.ok(isAddress(one.url) && one.url.includes(one.part ?? ""), one.name);
  assert.equal(partOf("https://my-resource.openai.azure.com/openai/v1"), "my-resource");
  assert.equal(partOf("https://ours.openai.azure.com/openai/v1"), undefined);
});
