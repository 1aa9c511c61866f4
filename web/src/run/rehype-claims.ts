// Wraps the claims of an answer in <mark>, by their place in the source.
import type { Mark } from "./claims";

export type ClaimTarget = { number: number; calls: string[] };
type Node = { type: string; value?: string; tagName?: string; properties?: Record<string, unknown>; children?: Node[]; position?: { start: { offset?: number }; end: { offset?: number } } };

/** A text node can be cut only where it stands in the source as it is (no entity, no escape). */
function cut(node: Node, marks: readonly Mark[]): Node[] {
  const begin = node.position?.start.offset;
  const end = node.position?.end.offset;
  const value = node.value ?? "";
  if (begin === undefined || end === undefined || end - begin !== value.length) return [node];
  const parts: Node[] = [];
  let at = begin;
  for (const mark of marks) {
    const from = Math.max(mark.start, at);
    const to = Math.min(mark.end, end);
    if (from >= to) continue;
    if (from > at) parts.push({ type: "text", value: value.slice(at - begin, from - begin) });
    parts.push({ type: "element", tagName: "mark", properties: { dataClaim: mark.number, dataLast: to === mark.end || undefined }, children: [{ type: "text", value: value.slice(from - begin, to - begin) }] });
    at = to;
  }
  if (parts.length === 0) return [node];
  if (at < end) parts.push({ type: "text", value: value.slice(at - begin) });
  return parts;
}

/** Code in a line is marked as a whole. */
function whole(node: Node, marks: readonly Mark[]): Node {
  const begin = node.position?.start.offset;
  const end = node.position?.end.offset;
  const mark = marks.find((other) => begin !== undefined && end !== undefined && other.start <= begin && end <= other.end);
  return mark ? { type: "element", tagName: "mark", properties: { dataClaim: mark.number, dataLast: end === mark.end || undefined }, children: [node] } : node;
}

export function rehypeClaims(marks: readonly Mark[]) {
  const walk = (node: Node): void => {
    if (!node.children || node.tagName === "pre" || node.tagName === "a") return;
    node.children = node.children.flatMap((child) => (child.type === "text" ? cut(child, marks) : child.tagName === "code" ? [whole(child, marks)] : (walk(child), [child])));
  };
  return walk as (tree: unknown) => void;
}
