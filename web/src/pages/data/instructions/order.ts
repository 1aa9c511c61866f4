// The order in which standing instructions are told.
import type { InstructionInput, StandingInstruction } from "@/api/types";

type Write = InstructionInput & { name: string };

/** What must be written so that one changes its place with its neighbour; equal positions are pulled apart. */
export function moved(list: readonly StandingInstruction[], name: string, by: -1 | 1): Write[] {
  const at = list.findIndex((one) => one.name === name);
  const to = at + by;
  if (at < 0 || to < 0 || to >= list.length) return [];
  const order = [...list];
  [order[at], order[to]] = [order[to]!, order[at]!];
  return order.flatMap((one, index) => {
    const position = (index + 1) * 10;
    return one.position === position ? [] : [{ name: one.name, text: one.text, enabled: one.enabled, version: one.version, position }];
  });
}

/** A place after all others. */
export const lastPosition = (list: readonly StandingInstruction[]): number => Math.max(0, ...list.map((one) => one.position)) + 10;
