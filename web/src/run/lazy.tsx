import { lazy } from "react";

const plain = { default: ({ text }: { text: string }) => <div className="prose whitespace-pre-wrap">{text}</div> };
const plainCode = { default: ({ text }: { text: string }) => <>{text}</> };

/** Fetches the code that sets Markdown, before a text needs it. */
export const loadMarkdown = () => import("./markdown");

/** Markdown, or the text as it is where its code can't be had: a server that is away must not take the answer with it. */
export const Markdown = lazy<typeof import("./markdown").default>(() => loadMarkdown().catch(() => plain));

/** Highlighted code, or the code as it is. */
export const Highlight = lazy<typeof import("./highlight").default>(() => import("./highlight").catch(() => plainCode));
