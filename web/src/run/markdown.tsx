// Markdown of models. Raw HTML is not rendered, addresses are checked by react-markdown, images are
// links (an image's address could carry data out, and the content security policy forbids them).
import { ExternalLink } from "lucide-react";
import { memo, Suspense, useContext, useMemo } from "react";
import ReactMarkdown, { type Components, defaultUrlTransform, type Options } from "react-markdown";
import remarkGfm from "remark-gfm";
import { useT } from "@/i18n";
import { CodeBlock } from "@/ui";
import { Cite, Passages } from "./cited";
import { OpenInEditor } from "./open-in-editor";
import type { Mark } from "./claims";
import { workspacePath } from "./file-link";
import { FileLink, Workspace } from "./file-open";
import { Highlight } from "./lazy";
import { remarkFormulas } from "./math-text";
import { rehypeCitations } from "./rehype-citations";
import { type ClaimTarget, rehypeClaims } from "./rehype-claims";

const components: Components = {
  a: function Address({ href, children, node }) {
    const cite = Number(node?.properties.dataCite);
    const path = workspacePath(href ?? "", useContext(Workspace));
    if (cite > 0) return <Cite number={cite} />;
    if (path !== null) return <FileLink path={path}>{children}</FileLink>;
    const outside = /^https?:/i.test(href ?? "");
    return href?.startsWith("file:") ? <>{children}</> : <a href={href} {...(outside && { target: "_blank", rel: "noopener noreferrer" })}>{children}</a>;
  },
  input: function Tick({ checked }) {
    const t = useT("chat");
    return <input type="checkbox" checked={checked ?? false} disabled aria-label={t(checked ? "ticked" : "notTicked")} />;
  },
  img: ({ src, alt }) => (typeof src === "string" && src ? <a href={src} target="_blank" rel="noopener noreferrer">{alt || src} <ExternalLink aria-hidden className="inline size-3" /></a> : <>{alt}</>),
  pre: ({ children }) => <>{children}</>,
  code: ({ className, children, node }) => {
    const text = String(children ?? "");
    const language = /language-([\w+#.-]+)/.exec(className ?? "")?.[1];
    const block = language !== undefined || text.includes("\n") || node?.position?.start.line !== node?.position?.end.line;
    if (!block) return <code>{children}</code>;
    const code = text.replace(/\n$/, "");
    return <CodeBlock text={code} {...(language && { language })} {...(language === "oos" && { action: <OpenInEditor text={code} /> })}>{language ? <Suspense fallback={code}><Highlight text={code} language={language} /></Suspense> : code}</CodeBlock>;
  },
  table: ({ children }) => <table tabIndex={0}>{children}</table>,
};

const plugins = [remarkGfm, remarkFormulas] as Options["remarkPlugins"];
/** A file's address is never gone to: it is shown beside the conversation, or is no link. */
const address: Options["urlTransform"] = (url, key) => (key === "href" && /^file:/i.test(url) ? url : defaultUrlTransform(url));
/** What marks citations; none where there are no passages. */
function useCitations(): NonNullable<Options["rehypePlugins"]> {
  const passages = useContext(Passages);
  return useMemo(() => (passages.length > 0 ? [[rehypeCitations, new Set(passages.map((one) => one.number))]] : []), [passages]);
}
const Block = memo(({ text }: { text: string }) => <ReactMarkdown remarkPlugins={plugins} rehypePlugins={useCitations()} components={components} urlTransform={address}>{text}</ReactMarkdown>);

/** Pieces that a growing text no longer changes: cut at blank lines outside of fences. */
function blocksOf(text: string): string[] {
  const blocks: string[] = [];
  let current: string[] = [];
  let fence: string | null = null;
  for (const line of text.split("\n")) {
    const mark = /^\s{0,3}(`{3,}|~{3,})/.exec(line)?.[1];
    if (mark && (fence === null || line.trim().startsWith(fence))) fence = fence === null ? mark : null;
    if (line.trim() === "" && fence === null && current.length > 0) {
      blocks.push(current.join("\n"));
      current = [];
    } else current.push(line);
  }
  if (current.length > 0) blocks.push(current.join("\n"));
  return blocks;
}

type Props = { text: string; live?: boolean; marks?: Mark[]; onClaim?: (target: ClaimTarget) => void };

export default function Markdown({ text, live, marks, onClaim }: Props) {
  const withClaims = useMemo<Components>(
    () => ({
      ...components,
      mark: ({ children, node }) => {
        const number = Number(node?.properties.dataClaim);
        const mark = marks?.find((other) => other.number === number);
        if (!mark) return <>{children}</>;
        const last = node?.properties.dataLast ? <sup data-number={number} aria-hidden="true" /> : null;
        if (!mark.proved) return <span className="claim claim-open" title={mark.claim.why}>{children}{last}</span>;
        // A link and not a button: it breaks over lines like the words it is made of.
        return <a href={`#claim-${number}`} className="claim claim-proved" title={mark.claim.why} {...(!last && { tabIndex: -1 })} onClick={(event) => (event.preventDefault(), onClaim?.({ number, calls: mark.claim.calls ?? [] }))}>{children}{last}</a>;
      },
    }),
    [marks, onClaim],
  );
  const citations = useCitations();
  if (live) return <div className="prose">{blocksOf(text).map((block, index) => <Block key={index} text={block} />)}</div>;
  if (!marks?.length) return <div className="prose"><Block text={text} /></div>;
  return <div className="prose"><ReactMarkdown remarkPlugins={plugins} rehypePlugins={[...citations, [rehypeClaims, marks]]} components={withClaims} urlTransform={address}>{text}</ReactMarkdown></div>;
}
