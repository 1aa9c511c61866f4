import { Check, Copy } from "lucide-react";
import { type ReactNode, useState } from "react";
import { useT } from "@/i18n";
import { IconButton } from "./button";
import { cx } from "./cx";
import { toast } from "./toast";

/** Copies by the clipboard API, or by a selection where that is missing (plain http). */
export async function copyText(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    const area = document.createElement("textarea");
    area.value = text;
    area.className = "sr-only";
    document.body.append(area);
    area.select();
    const done = document.execCommand("copy");
    area.remove();
    return done;
  }
}

export function CopyButton({ text, label, size = "sm" }: { text: string; label?: string; size?: "sm" | "md" }) {
  const t = useT("common");
  const [copied, setCopied] = useState(false);
  return (
    <IconButton
      label={copied ? t("copied") : (label ?? t("copy"))}
      size={size}
      onClick={async () => {
        if (!(await copyText(text))) return toast({ title: t("copyFailed"), tone: "bad" });
        setCopied(true);
        setTimeout(() => setCopied(false), 1600);
      }}
    >
      {copied ? <Check className="text-ok" /> : <Copy />}
    </IconButton>
  );
}

/** Text in fixed width with a copy button. `children` may be a highlighted version of `text`. */
export function CodeBlock({ text, language, children, maxHeight = true, action, className }: { text: string; language?: string; children?: ReactNode; maxHeight?: boolean; action?: ReactNode; className?: string }) {
  return (
    <figure className={cx("group relative my-3 overflow-hidden rounded-lg border border-line bg-sunken", className)}>
      <figcaption className="flex h-8 items-center justify-between border-b border-line pr-1 pl-3 text-xs text-ink-3"><span className="min-w-0 flex-1">{language || "text"}</span>{action}<CopyButton text={text} /></figcaption>
      <pre tabIndex={0} className={cx("overflow-auto px-3 py-2.5 font-mono text-sm leading-[1.55] focus-visible:outline-offset-[-2px]", maxHeight && "max-h-[30rem]")}><code>{children ?? text}</code></pre>
    </figure>
  );
}

/** A unified diff. */
export function DiffView({ diff, className }: { diff: string; className?: string }) {
  const lines = diff.replace(/\n$/, "").split("\n");
  return (
    <pre tabIndex={0} className={cx("max-h-96 overflow-auto rounded-md border border-line bg-sunken py-1.5 font-mono text-sm leading-[1.55] focus-visible:outline-offset-[-2px]", className)}>
      <code className="block min-w-max">
        {lines.map((line, index) => {
          const head = line.startsWith("+++") || line.startsWith("---") || line.startsWith("@@");
          const added = !head && line.startsWith("+");
          const removed = !head && line.startsWith("-");
          return <span key={index} className={cx("block px-3", added && "bg-ok-soft text-ok", removed && "bg-bad-soft text-bad", head && "text-ink-3")}>{line || " "}</span>;
        })}
      </code>
    </pre>
  );
}
/** Whether a preview's detail is a unified diff. */
export const isDiff = (text: string) => /^@@ /m.test(text) || (/^--- /m.test(text) && /^\+\+\+ /m.test(text));

/** JSON, indented; long texts inside it are cut until clicked. */
export function JsonView({ value, className }: { value: unknown; className?: string }) {
  const text = typeof value === "string" ? value : (JSON.stringify(value, null, 2) ?? "undefined");
  return <pre tabIndex={0} className={cx("max-h-80 overflow-auto rounded-md border border-line bg-sunken px-3 py-2 font-mono text-sm leading-[1.5] whitespace-pre-wrap wrap-anywhere focus-visible:outline-offset-[-2px]", className)}>{text}</pre>;
}
