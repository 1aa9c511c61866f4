import { CircleCheck, TriangleAlert } from "lucide-react";
import { useState } from "react";
import { usePromptPreview } from "@/api/hooks";
import type { AgentInput, PromptPreview } from "@/api/types";
import { type Key, useT } from "@/i18n";
import { cx, ErrorState, Field, formatNumber, Input, Skeleton, Spinner } from "@/ui";
import { Text } from "../../runs/parts/Fold";
import { useSettled } from "./settled";

const fills: Record<string, string> = { system: "bg-accent", skills: "bg-warn", tools: "bg-(--hl-key)", memory: "bg-ok", history: "bg-ink-3", input: "bg-warn-line" };

/** The prompt as it would be sent and how much of the window it takes. `form`: `null` while it can't be sent. */
export function Preview({ form }: { form: AgentInput | null }) {
  const t = useT("agents");
  const [input, setInput] = useState("");
  const settled = useSettled(form);
  const preview = usePromptPreview(settled, useSettled(input) || undefined);
  const waiting = preview.isFetching || settled !== form;
  return (
    <div className="flex flex-col gap-4">
      <Field label={t("preview_input")}>{(p) => <Input {...p} value={input} placeholder={t("preview_input_placeholder")} onChange={(event) => setInput(event.target.value)} />}</Field>
      {preview.error && !waiting ? <ErrorState inline error={preview.error} onRetry={() => void preview.refetch()} /> : null}
      {preview.data ? <Shown preview={preview.data} waiting={waiting} /> : form === null ? <p className="text-base text-ink-3">{t("preview_needs_name")}</p> : !preview.error && <Skeleton rows={6} />}
    </div>
  );
}

function Shown({ preview, waiting }: { preview: PromptPreview; waiting: boolean }) {
  const t = useT("agents");
  const name = (section: string) => {
    const key = `section_${section}`;
    const text = t(key as Key<"agents">);
    return text === key ? section : text;
  };
  const room = Math.max(0, preview.window - preview.reserved);
  const free = Math.max(0, room - preview.tokens);
  const whole = Math.max(preview.window, preview.tokens + preview.reserved);
  const parts = [
    ...preview.sections.filter((section) => section.tokens > 0).map((section) => ({ name: name(section.name), tokens: section.tokens, fill: fills[section.name] ?? "bg-ink-3" })),
    { name: t("preview_reserved"), tokens: preview.reserved, fill: "bg-line-2" },
    { name: t("preview_free"), tokens: free, fill: "bg-active" },
  ];
  return (
    <div className={cx("flex flex-col gap-4 transition-opacity", waiting && "opacity-60")} aria-busy={waiting}>
      <div className="flex flex-col gap-2.5">
        <p className="flex items-center gap-2 text-base font-medium">
          {preview.fits ? <CircleCheck aria-hidden className="size-4 text-ok" /> : <TriangleAlert aria-hidden className="size-4 text-bad" />}
          <span className="min-w-0 flex-1 tabular">{preview.fits ? t("preview_fits", { tokens: formatNumber(preview.tokens), window: formatNumber(preview.window) }) : t("preview_too_long", { tokens: formatNumber(preview.tokens), room: formatNumber(room) })}</span>
          {waiting && <Spinner label={t("preview_updating")} />}
        </p>
        {!preview.fits && <p className="text-sm text-bad">{t("preview_too_long_hint")}</p>}
        <div aria-hidden className="flex h-3.5 gap-px overflow-hidden rounded-sm">{parts.map((part, index) => <div key={index} title={`${part.name}: ${formatNumber(part.tokens)}`} className={cx("min-w-0.5", part.fill)} style={{ width: `${(part.tokens / whole) * 100}%` }} />)}</div>
        <ul className="grid grid-cols-2 gap-x-6 gap-y-1 text-sm">
          {parts.map((part, index) => <li key={index} className="flex items-center gap-2"><span aria-hidden className={cx("size-2.5 shrink-0 rounded-[3px]", part.fill)} /><span className="min-w-0 flex-1 truncate text-ink-2">{part.name}</span><span className="tabular">{formatNumber(part.tokens)}</span></li>)}
        </ul>
        <p className="text-sm text-ink-3"><code className="font-mono">{preview.model}</code> · {t("preview_tools", { count: preview.tools.length })}</p>
      </div>
      <ol className="flex flex-col gap-3">
        {preview.messages.map((message, index) => (
          <li key={index} className="flex flex-col gap-1">
            <p className="text-xs font-medium text-ink-3">{t(`role_${message.role}` as Key<"agents">)}</p>
            <Text text={message.text} />
          </li>
        ))}
      </ol>
    </div>
  );
}
