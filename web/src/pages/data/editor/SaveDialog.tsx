import { useState } from "react";
import { ApiError } from "@/api/client";
import { readDomainText, useDomainTextActions } from "@/api/hooks";
import type { DomainText, SavedDomainText, TextReport } from "@/api/types";
import { useT } from "@/i18n";
import { Button, Dialog, DiffView, ErrorState, toast } from "@/ui";
import { lineDiff } from "../../skills/parts/linediff";
import { type Doc, isRenamed, replacedBy, versionOf } from "./docs";

const linesOf = (text: string): string[] => (text === "" ? [] : text.replace(/\n$/, "").split("\n"));
export const textDiff = (before: string, after: string): string => lineDiff(linesOf(before), linesOf(after));

type Props = {
  doc: Doc;
  report: TextReport | null;
  kept: readonly DomainText[];
  onClose: () => void;
  onSaved: (saved: SavedDomainText[]) => void;
  /** Goes on from what somebody else saved meanwhile; `take`: theirs in the place of what was typed. */
  onTheirs: (theirs: DomainText, take: boolean) => void;
};

/** What a save changes, before it is done; warnings; and what to do if somebody was faster. */
export function SaveDialog({ doc, report, kept, onClose, onSaved, onTheirs }: Props) {
  const t = useT("data");
  const { save } = useDomainTextActions();
  const [theirs, setTheirs] = useState<DomainText | null>(null);
  const [done, setDone] = useState<SavedDomainText[] | null>(null);
  const [lost, setLost] = useState<unknown>(null);
  const names = report?.names ?? [];
  const replaced = replacedBy(doc, names, kept);
  // A new text that takes the place of others is compared with them.
  const before = doc.kind === null && replaced.length > 0 ? kept.filter((text) => replaced.includes(text.name)).map((text) => text.text.trimEnd()).join("\n\n") : doc.base;
  const errors = report?.diagnostics.filter((one) => one.error) ?? [];
  const warnings = report?.diagnostics.filter((one) => !one.error) ?? [];
  const conflict = save.error instanceof ApiError && save.error.status === 409;
  const send = () => {
    const version = versionOf(doc, names, kept);
    save.mutate({ text: doc.text, ...(version !== undefined && { version }) }, {
      onSuccess: (saved) => {
        if (saved.some((one) => one.warnings.length > 0)) return setDone(saved);
        toast({ title: saved.length > 3 ? t("texts_saved", { count: saved.length }) : t("text_saved", { names: saved.map((one) => one.text.name).join(", ") }) });
        onSaved(saved);
      },
    });
  };
  const look = async () => {
    if (doc.kind === null) return;
    try {
      const now = await readDomainText(doc.kind, doc.name);
      save.reset();
      setTheirs(now);
      onTheirs(now, false);
    } catch (error) {
      setLost(error);
    }
  };
  if (done) {
    return (
      <Dialog open wide onOpenChange={() => onSaved(done)} title={t("saved_with_warnings")} description={t("saved_with_warnings_text")} footer={<Button variant="primary" onClick={() => onSaved(done)}>{t("close")}</Button>}>
        <ul className="flex flex-col gap-1 pb-2 text-base">{done.flatMap((one) => one.warnings.map((warning, at) => <li key={`${one.text.name}-${at}`} className="rounded-md bg-warn-soft px-3 py-1.5 wrap-anywhere"><b className="font-semibold">{one.text.name}</b>: {warning}</li>))}</ul>
      </Dialog>
    );
  }
  return (
    <Dialog
      open
      wide
      onOpenChange={onClose}
      title={t("save_title", { count: Math.max(1, names.length) })}
      description={t("save_text")}
      footer={
        <>
          <Button onClick={onClose}>{t("cancel")}</Button>
          {theirs && <Button onClick={() => (onTheirs(theirs, true), onClose())}>{t("take_theirs")}</Button>}
          {conflict && doc.kind !== null ? <Button variant="primary" onClick={() => void look()}>{t("compare_theirs")}</Button> : <Button variant="primary" disabled={errors.length > 0 || names.length === 0} loading={save.isPending} onClick={send}>{theirs ? t("save_over") : t("save")}</Button>}
        </>
      }
    >
      <div className="flex flex-col gap-3 pb-1">
        {save.error ? <ErrorState inline error={save.error} /> : null}
        {lost ? <ErrorState inline error={lost} /> : null}
        {theirs && <p role="status" className="rounded-md bg-warn-soft px-3 py-2 text-base">{t("conflict_now", { version: theirs.version })}</p>}
        {errors.length > 0 && <p role="alert" className="rounded-md bg-bad-soft px-3 py-2 text-base">{t("save_errors", { count: errors.length })}</p>}
        {names.length === 0 && errors.length === 0 && <p role="alert" className="rounded-md bg-bad-soft px-3 py-2 text-base">{t("save_nothing")}</p>}
        {isRenamed(doc, names) && <p className="rounded-md bg-warn-soft px-3 py-2 text-base">{t("save_renamed", { old: doc.name })}</p>}
        {replaced.length > 0 && <p className="rounded-md bg-warn-soft px-3 py-2 text-base wrap-anywhere">{t("save_replaces", { names: replaced.join(", ") })}</p>}
        {warnings.length > 0 && <ul aria-label={t("warnings")} className="flex flex-col gap-1 text-sm">{warnings.map((one, at) => <li key={at} className="rounded-md bg-warn-soft px-3 py-1 wrap-anywhere">{t("line", { line: one.line })}: {one.message} {one.hint}</li>)}</ul>}
        {doc.text === before ? <p className="text-base text-ink-2">{t("nothing_changed")}</p> : <DiffView diff={textDiff(before, doc.text)} />}
      </div>
    </Dialog>
  );
}
