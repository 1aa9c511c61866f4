import { useState } from "react";
import type { UseMutationResult } from "@tanstack/react-query";
import { ApiError } from "@/api/client";
import type { KeptText } from "@/api/types";
import { useT } from "@/i18n";
import { Button, ErrorState, Field, Textarea, cx, toast } from "@/ui";
import { startOf } from "./kept-text";

type Props = {
  label: string;
  hint: string;
  kept: KeptText;
  disabled: boolean;
  save: UseMutationResult<KeptText, Error, { text: string; version: number }>;
  /** Reads the text again. */
  reread: () => Promise<KeptText | undefined>;
  onClear?: () => void;
};

/** A text that an agent changes too. What was typed stays where the agent was faster: a person then chooses. */
export function KeptTextEditor({ label, hint, kept, disabled, save, reread, onClear }: Props) {
  const t = useT("agents");
  const [draft, setDraft] = useState<string | null>(null);
  const [version, setVersion] = useState(kept.version);
  const { text, dirty, behind } = startOf(kept, draft, version);
  const length = [...text.trim()].length;
  const over = length > kept.limit;
  const conflict = behind || (save.error instanceof ApiError && save.error.status === 409);
  const store = (against: number) =>
    save.mutate({ text, version: against }, { onSuccess: (now) => (setDraft(null), setVersion(now.version), toast({ about: label, title: t("kept_saved") })) });
  const theirs = () => void reread().then((now) => (save.reset(), setDraft(null), now && setVersion(now.version)));
  const mine = () => void reread().then((now) => now && (setVersion(now.version), store(now.version)));
  const type = (value: string) => {
    if (draft === null) setVersion(kept.version);
    setDraft(value);
  };
  return (
    <div className="flex flex-col gap-2">
      <Field label={label} hint={hint} error={over ? t("kept_over", { limit: kept.limit }) : undefined}>
        {(p) => <Textarea {...p} rows={4} maxRows={16} readOnly={disabled} value={text} onChange={(event) => type(event.target.value)} />}
      </Field>
      <div className="flex flex-wrap items-center gap-2">
        <span className={cx("text-sm tabular", over ? "text-bad" : "text-ink-3")}>{t("kept_count", { used: length, limit: kept.limit })}</span>
        <span className="flex-1" />
        {!disabled && dirty && <Button size="sm" type="button" onClick={() => (save.reset(), setDraft(null))}>{t("discard")}</Button>}
        {!disabled && dirty && !conflict && <Button size="sm" type="button" variant="primary" disabled={over} loading={save.isPending} onClick={() => store(version)}>{t("kept_save")}</Button>}
        {!disabled && !dirty && onClear && kept.text !== "" && <Button size="sm" type="button" variant="danger" onClick={onClear}>{t("kept_clear")}</Button>}
      </div>
      {kept.origins.length > 0 && <p className="text-sm text-ink-3">{t("kept_origins", { origins: kept.origins.join(", ") })}</p>}
      {dirty && conflict && (
        <div role="alert" className="flex flex-wrap items-center gap-2 rounded-lg bg-warn-soft px-3 py-2 text-sm">
          <span className="min-w-0 flex-1">{t("kept_conflict")}</span>
          <Button size="sm" type="button" onClick={theirs}>{t("kept_theirs")}</Button>
          <Button size="sm" type="button" disabled={over} loading={save.isPending} onClick={mine}>{t("kept_mine")}</Button>
        </div>
      )}
      {save.error && !conflict && <ErrorState inline error={save.error} />}
    </div>
  );
}
