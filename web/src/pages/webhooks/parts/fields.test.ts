import assert from "node:assert/strict";
import { test } from "node:test";
import { insertField, offered } from "./fields";

test("a field is put in where one is, and its example is marked", () => {
  const marked = ({ text, from, to }: { text: string; from: number; to: number }) => `${text.slice(0, from)}[${text.slice(from, to)}]${text.slice(to)}`;
  assert.equal(marked(insertField("Look at .", 8, 8, "payload")), "Look at {{payload}}[].");
  assert.equal(marked(insertField("Look at this.", 8, 12, "payload.issue.title")), "Look at {{payload.[issue.title]}}.");
  assert.equal(marked(insertField("", 0, 0, "header.x-github-event")), "{{header.[x-github-event]}}");
});

test("it is offered without its example", () => {
  assert.deepEqual((["payload", "payload.issue.title", "header.x-github-event"] as const).map(offered), ["{{payload}}", "{{payload.…}}", "{{header.…}}"]);
});
