// Turns `[1]` in a text into elements that name the passage, where there is one of that number.
import { cutCitations } from "./citations";

type Point = { offset?: number };
type Node = { type: string; value?: string; tagName?: string; properties?: Record<string, unknown>; children?: Node[]; position?: { start: Point; end: Point } };

/** The pieces keep their place in the source, so that claims can be marked around them. */
function cut(node: Node, known: ReadonlySet<number>): Node[] {
  const value = node.value ?? "";
  const pieces = cutCitations(value, known);
  if (!pieces.some((piece) => piece.numbers.length > 0)) return [node];
  const begin = node.position?.start.offset;
  const end = node.position?.end.offset;
  const asWritten = begin !== undefined && end !== undefined && end - begin === value.length;
  return pieces.flatMap((piece): Node[] =>
    piece.numbers.length === 0
      ? [{ type: "text", value: piece.text, ...(asWritten && { position: { start: { offset: begin + piece.from }, end: { offset: begin + piece.from + piece.text.length } } }) }]
      : piece.numbers.map((number) => ({ type: "element", tagName: "a", properties: { dataCite: number }, children: [{ type: "text", value: String(number) }] })),
  );
}

export function rehypeCitations(known: ReadonlySet<number>) {
  const walk = (node: Node): void => {
    if (!node.children || node.tagName === "pre" || node.tagName === "code" || node.tagName === "a") return;
    node.children = node.children.flatMap((child) => (child.type === "text" ? cut(child, known) : (walk(child), [child])));
  };
  return walk as (tree: unknown) => void;
}
