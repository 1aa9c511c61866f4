import { ChevronRight } from "lucide-react";
import { useState } from "react";
import { useT } from "@/i18n";
import { Button, Field, Textarea } from "@/ui";
import { type Entry, readConfiguration, type Unread } from "./configuration";

/** Fills the form from a configuration that was written for another program, of one server after the other. */
export function Paste({ onRead }: { onRead: (entries: Entry[]) => void }) {
  const t = useT("mcp");
  const [text, setText] = useState("");
  const [problem, setProblem] = useState<Unread | null>(null);
  const take = async () => {
    const found = await readConfiguration(text);
    setProblem(typeof found === "string" ? found : null);
    if (typeof found === "string") return;
    // It may hold secrets.
    setText("");
    onRead(found);
  };
  return (
    <details className="group/paste rounded-lg bg-sunken px-3 py-2">
      <summary className="flex cursor-pointer items-center gap-1.5 text-base font-medium"><ChevronRight aria-hidden className="size-3.5 shrink-0 text-ink-3 transition-transform group-open/paste:rotate-90" />{t("paste_title")}</summary>
      <div className="mt-2 flex flex-col gap-2 pb-1">
        <Field label={t("paste")} hint={t("paste_hint")} error={problem ? t(problem) : undefined}>{(p) => <Textarea {...p} autoComplete="off" spellCheck={false} rows={3} maxRows={8} className="font-mono text-xs" placeholder={'{"mcpServers": {"wiki": {"command": "…", "args": ["…"]}}}'} value={text} onChange={(event) => setText(event.target.value)} />}</Field>
        <Button size="sm" className="self-start" disabled={text.trim() === ""} onClick={() => void take()}>{t("paste_take")}</Button>
      </div>
    </details>
  );
}

/** What was read of a server, and what is left to do. */
export function Taken({ entry, others }: { entry: Entry; others: number }) {
  const t = useT("mcp");
  return (
    <div role="status" className="rounded-lg bg-sunken px-3 py-2 text-sm text-ink-2">
      <p>{t("paste_taken")}{others > 0 && <> {t("paste_others", { count: others })}</>}</p>
      {entry.notes.map((note) => <p key={note} className="mt-1">{t(note)}</p>)}
      {entry.secrets.length > 0 && <p className="mt-1 font-medium">{t("paste_secrets", { names: entry.secrets.join(", ") })}</p>}
    </div>
  );
}
