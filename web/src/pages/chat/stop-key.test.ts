import assert from "node:assert/strict";
import { test } from "node:test";
import { mayStop } from "./stop-key";

const at = (tagName: string, within: string[], value?: string) => ({ tagName, value, closest: (selector: string) => within.includes(selector) || null });

test("Escape stops a run from the chat and an empty composer only", () => {
  const chat = ["[data-chat]"];
  const composer = [...chat, "[data-composer]"];
  for (const [name, target, stops] of [
    ["nowhere", at("BODY", []), true],
    ["the text that is read", at("DIV", chat), true],
    ["a button in the chat", at("BUTTON", chat), true],
    ["an empty composer", at("TEXTAREA", composer, " \n"), true],
    ["a half-written message", at("TEXTAREA", composer, "and then"), false],
    ["the reason of a no", at("TEXTAREA", chat, ""), false],
    ["the search of conversations", at("INPUT", [], ""), false],
    ["a link beside the chat", at("A", []), false],
  ] as const) assert.equal(mayStop(target), stops, name);
});
