import type { Reminder } from "@/api/types";

/** What became due and was not told yet; remembers it. One that was put off is told again. */
export function toTell(due: readonly Reminder[], told: Set<string>): Reminder[] {
  const key = (one: Reminder) => `${one.id}@${one.at}`;
  const fresh = due.filter((one) => !told.has(key(one)));
  for (const one of fresh) told.add(key(one));
  return fresh;
}

const MINUTE = 60_000;
/** When a reminder comes again. */
export const SNOOZE = {
  tenMinutes: (now: number) => now + 10 * MINUTE,
  hour: (now: number) => now + 60 * MINUTE,
  tomorrow: (now: number) => {
    const day = new Date(now);
    // By the calendar, so that a change of the clocks moves nothing.
    return new Date(day.getFullYear(), day.getMonth(), day.getDate() + 1, 9).getTime();
  },
} as const;
