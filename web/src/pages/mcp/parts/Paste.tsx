import { ChevronRight } from "lucide-react";
import { useState } from "react";
import { useT } from "@/i18n";
import { Button, Field, Textarea } from "@/ui";
import type { Form } from "./form";
import { type Read, readConfiguration, type Unread } from "./configuration";

/** Fills the form from a configuration that was written for another program. */
export function Paste({ onRead }: { onRead: (form: Form) => void }) {
  const t = useT("mcp");
  const [text, setText] = useState("");
  const [problem, setProblem] = useState<Unread | null>(null);
  const [read, setRead] = useState<Read | null>(null);
  const take = () => {
    const found = readConfiguration(text);
    setProblem(typeof found === "string" ? found : null);
    setRead(typeof found === "string" ? null : found);
    if (typeof found === "string") return;
    // It may hold secrets.
    setText("");
    onRead(found.form);
  };
  return (
    <details className="group/paste rounded-lg bg-sunken px-3 py-2">
      <summary className="flex cursor-pointer items-center gap-1.5 text-base font-medium"><ChevronRight aria-hidden className="size-3.5 shrink-0 text-ink-3 transition-transform group-open/paste:rotate-90" />{t("paste_title")}</summary>
      <div className="mt-2 flex flex-col gap-2 pb-1">
        <Field label={t("paste")} hint={t("paste_hint")} error={problem ? t(problem) : undefined}>{(p) => <Textarea {...p} autoComplete="off" spellCheck={false} rows={3} maxRows={8} className="font-mono text-xs" placeholder={'{"mcpServers": {"wiki": {"command": "…", "args": ["…"]}}}'} value={text} onChange={(event) => setText(event.target.value)} />}</Field>
        <Button size="sm" className="self-start" disabled={text.trim() === ""} onClick={take}>{t("paste_take")}</Button>
        {read && (
          <div role="status" className="text-sm text-ink-2">
            <p>{t("paste_taken")}{read.others > 0 && <> {t("paste_others", { count: read.others })}</>}</p>
            {read.secrets.length > 0 && <p className="mt-1 font-medium">{t("paste_secrets", { names: read.secrets.join(", ") })}</p>}
          </div>
        )}
      </div>
    </details>
  );
}
