import { describe, expect, it } from "vitest";
import type { Reminder } from "@/api/types";
import { SNOOZE, toTell } from "./reminding";

const one = (id: string, at: number): Reminder => ({ id, at, text: id, done: false, due: true, agent: "a", agent_id: "1" });

describe("reminders", () => {
  it("are told once, and again after they were put off", () => {
    const told = new Set<string>();
    expect(toTell([one("a", 1), one("b", 2)], told).map((r) => r.id)).toEqual(["a", "b"]);
    expect(toTell([one("a", 1), one("b", 2)], told)).toEqual([]);
    expect(toTell([one("a", 9), one("b", 2)], told).map((r) => r.id)).toEqual(["a"]);
  });
  it("come again tomorrow at nine, local time", () => {
    const at = new Date(SNOOZE.tomorrow(new Date(2026, 11, 31, 23, 30).getTime()));
    expect([at.getFullYear(), at.getMonth(), at.getDate(), at.getHours(), at.getMinutes()]).toEqual([2027, 0, 1, 9, 0]);
    expect(SNOOZE.hour(0)).toBe(3_600_000);
  });
});
