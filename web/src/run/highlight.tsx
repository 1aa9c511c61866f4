import { createLowlight, common } from "lowlight";
import { createElement, type ReactNode, useMemo } from "react";

const lowlight = createLowlight(common);
type Node = { type: string; value?: string; tagName?: string; properties?: { className?: unknown }; children?: Node[] };

const render = (node: Node, key: number): ReactNode =>
  node.type === "text" ? node.value : createElement(node.tagName ?? "span", { key, className: Array.isArray(node.properties?.className) ? node.properties.className.join(" ") : undefined }, node.children?.map(render));

/** Code in colours; a language that is not known stays plain. Long texts too: they would stall the page. */
export default function Highlight({ text, language }: { text: string; language: string }) {
  return useMemo(() => {
    if (!lowlight.registered(language) || text.length > 60_000) return <>{text}</>;
    return <>{(lowlight.highlight(language, text) as unknown as Node).children?.map(render)}</>;
  }, [text, language]);
}
