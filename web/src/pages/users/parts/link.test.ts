import assert from "node:assert/strict";
import { test } from "node:test";
import { invitationLink } from "./link.ts";

test("a link carries token and email after the #, whatever letters they have", () => {
  const link = new URL(invitationLink("https://steward.example.org", "0af3", "ann+b&c@example.org"));
  assert.equal(link.origin + link.pathname + link.search, "https://steward.example.org/invitation");
  const found = new URLSearchParams(link.hash.slice(1));
  assert.deepEqual([found.get("token"), found.get("email")], ["0af3", "ann+b&c@example.org"]);
});
