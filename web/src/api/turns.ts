/** Characters that turn the direction of what follows: with them a line reads otherwise than it is. */
const TURNS = /[\u202a-\u202e\u2066-\u2069]/g;

/** The value with such characters in its texts and names written out, as `\u202e`; the same one if it has none. */
export function showTurns<T>(value: T): T {
  return shown(value) as T;
}

function shown(value: unknown): unknown {
  if (typeof value === "string") return value.replace(TURNS, (turn) => `\\u${turn.charCodeAt(0).toString(16)}`);
  if (Array.isArray(value)) {
    const items = value.map(shown);
    return items.every((item, at) => item === value[at]) ? value : items;
  }
  if (typeof value !== "object" || value === null) return value;
  const before = Object.entries(value);
  const after = before.map(([name, field]) => [shown(name) as string, shown(field)] as const);
  return after.every(([name, field], at) => name === before[at]?.[0] && field === before[at]?.[1]) ? value : Object.fromEntries(after);
}
