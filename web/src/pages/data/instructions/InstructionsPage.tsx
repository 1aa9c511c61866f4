import { ArrowDown, ArrowUp, ListOrdered, Pencil, Plus, Trash2 } from "lucide-react";
import { useState } from "react";
import { useInstructionActions, useStandingInstructions, useVerifiedActions, useVerifiedQuestions } from "@/api/hooks";
import { limits } from "@/api/limits";
import type { StandingInstruction, VerifiedQuestion } from "@/api/types";
import { useT } from "@/i18n";
import { Button, cx, Dialog, EmptyState, ErrorState, Field, IconButton, Input, Skeleton, Switch, Textarea, toast, useErrorText } from "@/ui";
import { Area } from "../parts/Area";
import { OperatorsOnly } from "../parts/OperatorsOnly";
import { lastPosition, moved } from "./order";

/** What models are told before each question about data. */
export function InstructionsPage() {
  const t = useT("data");
  return <OperatorsOnly title={t("instructions_title")}><Instructions /></OperatorsOnly>;
}

function Instructions() {
  const t = useT("data");
  const textOf = useErrorText();
  const list = useStandingInstructions();
  const { save, remove } = useInstructionActions();
  const [editing, setEditing] = useState<StandingInstruction | "new" | null>(null);
  const failed = (error: unknown) => {
    const { title, hint } = textOf(error);
    toast({ title, ...(hint && { detail: hint }), tone: "bad" });
  };
  const items = [...(list.data ?? [])].sort((one, other) => one.position - other.position || one.name.localeCompare(other.name));
  const move = async (name: string, by: -1 | 1) => {
    try {
      for (const write of moved(items, name, by)) await save.mutateAsync(write);
    } catch (error) {
      failed(error);
    }
  };
  const takeAway = (one: StandingInstruction) =>
    remove.mutate(one.name, { onSuccess: () => toast({ title: t("instruction_removed", { name: one.name }), undo: () => save.mutate({ name: one.name, text: one.text, position: one.position, enabled: one.enabled, version: 0 }, { onError: failed }) }), onError: failed });
  const add = <Button size="sm" variant="primary" icon={<Plus aria-hidden className="size-4" />} onClick={() => setEditing("new")}>{t("instruction_add")}</Button>;
  const busy = save.isPending || remove.isPending;
  return (
    <Area title={t("instructions_title")} lead={t("instructions_lead")} width="text" actions={items.length > 0 && add}>
      {list.error && !list.data ? <ErrorState error={list.error} onRetry={() => void list.refetch()} /> : !list.data ? <Skeleton rows={5} /> : items.length === 0 ? <EmptyState icon={<ListOrdered />} title={t("instructions_empty")} action={add}>{t("instructions_empty_text")}</EmptyState> : (
        <ol aria-label={t("instructions_title")} className="flex flex-col gap-3">
          {items.map((one, at) => (
            <li key={one.name} className="rounded-lg border border-line bg-surface px-4 py-3">
              <div className="flex flex-wrap items-center gap-2">
                <span className="text-sm text-ink-3 tabular">{at + 1}.</span>
                <h2 className="min-w-0 flex-1 text-base font-semibold wrap-anywhere">{one.name}</h2>
                <Switch label={t("enabled")} checked={one.enabled} disabled={busy} onChange={(enabled) => save.mutate({ name: one.name, text: one.text, position: one.position, version: one.version, enabled }, { onError: failed })} />
                <IconButton size="sm" label={t("move_up", { name: one.name })} disabled={at === 0 || busy} onClick={() => void move(one.name, -1)}><ArrowUp /></IconButton>
                <IconButton size="sm" label={t("move_down", { name: one.name })} disabled={at === items.length - 1 || busy} onClick={() => void move(one.name, 1)}><ArrowDown /></IconButton>
                <IconButton size="sm" label={t("edit_of", { name: one.name })} onClick={() => setEditing(one)}><Pencil /></IconButton>
                <IconButton size="sm" label={t("remove_of", { name: one.name })} disabled={busy} onClick={() => takeAway(one)}><Trash2 /></IconButton>
              </div>
              <p className={cx("mt-1 text-base whitespace-pre-wrap wrap-anywhere", one.enabled ? "text-ink-2" : "text-ink-3")}>{one.text}</p>
            </li>
          ))}
        </ol>
      )}
      <Verified />
      {editing && <InstructionDialog one={editing === "new" ? null : editing} position={lastPosition(items)} taken={items.map((other) => other.name)} onClose={() => setEditing(null)} />}
    </Area>
  );
}

/** Questions that were answered right, of which models are given the nearest as examples. */
function Verified() {
  const t = useT("data");
  const textOf = useErrorText();
  const list = useVerifiedQuestions();
  const { add, remove } = useVerifiedActions();
  const failed = (error: unknown) => toast({ title: textOf(error).title, tone: "bad" });
  const takeAway = (one: VerifiedQuestion) =>
    remove.mutate(one.id, { onSuccess: () => toast({ title: t("verified_removed"), undo: () => add.mutate({ text: one.text, query: one.query }, { onError: failed }) }), onError: failed });
  return (
    <section aria-labelledby="verified" className="mt-8 flex flex-col gap-3">
      <h2 id="verified" className="text-lg font-semibold">{t("verified_title")}</h2>
      <p className="text-base text-ink-2">{t("verified_lead")}</p>
      {list.error && !list.data ? <ErrorState error={list.error} onRetry={() => void list.refetch()} /> : !list.data ? <Skeleton rows={2} /> : list.data.length === 0 ? <p className="text-base text-ink-3">{t("verified_empty")}</p> : (
        <ul aria-labelledby="verified" className="flex flex-col gap-2">
          {list.data.map((one) => (
            <li key={one.id} className="flex items-start gap-2 rounded-lg border border-line bg-surface px-4 py-2.5">
              <div className="min-w-0 flex-1"><p className="text-base wrap-anywhere">{one.text}</p><p className="font-mono text-xs text-ink-3 wrap-anywhere">{JSON.stringify(one.query)}</p></div>
              <IconButton size="sm" label={t("remove_of", { name: one.text })} disabled={remove.isPending} onClick={() => takeAway(one)}><Trash2 /></IconButton>
            </li>
          ))}
        </ul>
      )}
    </section>
  );
}

function InstructionDialog({ one, position, taken, onClose }: { one: StandingInstruction | null; position: number; taken: readonly string[]; onClose: () => void }) {
  const t = useT("data");
  const { save } = useInstructionActions();
  const [name, setName] = useState(one?.name ?? "");
  const [text, setText] = useState(one?.text ?? "");
  const [tried, setTried] = useState(false);
  const named = name.trim();
  const nameProblem = one ? undefined : named === "" ? t("instruction_name_missing") : taken.includes(named) ? t("instruction_name_taken") : undefined;
  const textProblem = text.trim() === "" ? t("instruction_text_missing") : undefined;
  const send = () => {
    setTried(true);
    if (nameProblem || textProblem) return;
    save.mutate({ name: one?.name ?? named, text, position: one?.position ?? position, enabled: one?.enabled ?? true, version: one?.version ?? 0 }, { onSuccess: () => (toast({ title: t("instruction_saved", { name: one?.name ?? named }) }), onClose()) });
  };
  return (
    <Dialog open wide onOpenChange={onClose} title={one ? t("edit_of", { name: one.name }) : t("instruction_add")} description={t("instruction_dialog_text")} footer={<><Button onClick={onClose}>{t("cancel")}</Button><Button variant="primary" loading={save.isPending} onClick={send}>{t("save")}</Button></>}>
      <form className="flex flex-col gap-4 pb-1" onSubmit={(event) => (event.preventDefault(), send())}>
        {save.error ? <ErrorState inline error={save.error} /> : null}
        {!one && <Field label={t("name")} hint={t("instruction_name_hint")} error={tried ? nameProblem : undefined}>{(p) => <Input {...p} maxLength={100} value={name} onChange={(event) => setName(event.target.value)} />}</Field>}
        <Field label={t("text")} error={tried ? textProblem : undefined}>{(p) => <Textarea {...p} maxLength={limits.InstructionInput.text.maxLength} maxRows={20} value={text} onChange={(event) => setText(event.target.value)} />}</Field>
        <button type="submit" hidden tabIndex={-1} aria-hidden />
      </form>
    </Dialog>
  );
}
