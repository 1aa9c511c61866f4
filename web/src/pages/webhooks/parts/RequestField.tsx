import { useRef } from "react";
import { useT } from "@/i18n";
import { Field, Textarea } from "@/ui";
import { FIELDS, insertField, offered, type RequestField as Name } from "./fields";
import { REQUEST } from "./form";

const WORDS = { payload: "field_payload", "payload.issue.title": "field_payload_part", "header.x-github-event": "field_header", event: "field_event", hook: "field_hook", received: "field_received" } as const satisfies Record<Name, string>;

/** What the agent is asked, with the fields that can be put in. */
export function RequestField({ value, error, onChange }: { value: string; error: string | undefined; onChange: (value: string) => void }) {
  const t = useT("webhooks");
  const area = useRef<HTMLTextAreaElement>(null);
  const put = (field: Name) => {
    const at = area.current;
    const next = insertField(value, at?.selectionStart ?? value.length, at?.selectionEnd ?? value.length, field);
    if ([...next.text].length > REQUEST.most) return;
    onChange(next.text);
    // Once it is there.
    setTimeout(() => {
      at?.focus();
      at?.setSelectionRange(next.from, next.to);
    });
  };
  return (
    <div className="flex flex-col gap-2">
      <Field label={t("request")} hint={t("request_hint")} error={error}>{(p) => <Textarea {...p} ref={area} rows={4} maxLength={REQUEST.most} placeholder={t("request_placeholder")} value={value} onChange={(event) => onChange(event.target.value)} />}</Field>
      <div role="group" aria-label={t("insert")} className="flex flex-wrap items-center gap-1.5">
        <span aria-hidden className="text-xs text-ink-3">{t("insert")}</span>
        {FIELDS.map((field) => <button key={field} type="button" title={t(WORDS[field])} onClick={() => put(field)} className="rounded-sm border border-line-2 bg-surface px-1.5 py-0.5 font-mono text-xs text-ink-2 transition-colors hover:bg-hover hover:text-ink max-md:min-h-10 max-md:px-2.5">{offered(field)}</button>)}
      </div>
    </div>
  );
}
