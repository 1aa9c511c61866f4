// What can be done to a run, each asked for in a dialog.
import { useNavigate } from "@tanstack/react-router";
import { CircleCheck, CircleX } from "lucide-react";
import { useState } from "react";
import { useConnections, useRunActions } from "@/api/hooks";
import { limits } from "@/api/limits";
import type { Difference, Replay, RunDetail, Undone } from "@/api/types";
import { useT } from "@/i18n";
import { Badge, Button, Dialog, ErrorState, Field, formatNumber, Input, Select, Spinner, Textarea, toast } from "@/ui";
import { useWord } from "./Labels";

export type DialogName = "steer" | "undo" | "replay" | "fork" | "keep";
type Props = { run: RunDetail; actions: ReturnType<typeof useRunActions>; onClose: () => void };

export function SteerDialog({ actions, onClose }: Props) {
  const t = useT("runs");
  const [text, setText] = useState("");
  const { steer } = actions;
  const send = () => steer.mutate(text.trim(), { onSuccess: () => (toast({ title: t("steered_toast") }), onClose()) });
  return (
    <Dialog open onOpenChange={onClose} title={t("steer_title")} description={t("steer_text")} footer={<><Button onClick={onClose}>{t("cancel")}</Button><Button variant="primary" disabled={!text.trim()} loading={steer.isPending} onClick={send}>{t("steer_send")}</Button></>}>
      <Field label={t("steer_label")}>{(p) => <Textarea {...p} autoFocus value={text} onChange={(event) => setText(event.target.value)} onKeyDown={(event) => event.key === "Enter" && (event.ctrlKey || event.metaKey) && text.trim() && send()} />}</Field>
      {steer.error && <ErrorState inline error={steer.error} className="mt-3" />}
    </Dialog>
  );
}

export function UndoDialog({ run, actions, onClose, onUndone }: Props & { onUndone: () => void }) {
  const t = useT("runs");
  const { undo } = actions;
  const [report, setReport] = useState<Undone[] | null>(null);
  const go = () => undo.mutate(undefined, { onSuccess: (page) => (setReport(page.items), onUndone()) });
  return (
    <Dialog
      open
      onOpenChange={onClose}
      title={report ? t("undo_result") : t("undo_title")}
      description={report ? undefined : t("undo_text", { count: run.undoable })}
      footer={report ? <Button variant="primary" onClick={onClose}>{t("close")}</Button> : <><Button onClick={onClose}>{t("cancel")}</Button><Button variant="primary" loading={undo.isPending} onClick={go}>{t("action_undo_all")}</Button></>}
    >
      {undo.error && <ErrorState inline error={undo.error} />}
      {report && <UndoReport report={report} />}
    </Dialog>
  );
}

export function UndoReport({ report }: { report: Undone[] }) {
  const t = useT("runs");
  if (report.length === 0) return <p className="text-base text-ink-2">{t("undo_none")}</p>;
  return (
    <ul className="flex flex-col gap-2">
      {report.map((effect) => (
        <li key={effect.call_id} className="flex gap-2.5 text-base">
          {effect.undone ? <CircleCheck aria-hidden className="mt-0.5 size-4 shrink-0 text-ok" /> : <CircleX aria-hidden className="mt-0.5 size-4 shrink-0 text-bad" />}
          <span className="min-w-0 wrap-anywhere"><code className="font-mono text-sm font-medium">{effect.tool}</code> <span className="text-ink-3">{effect.undone ? t("undone_ok") : t("undone_not")}</span><span className="block text-sm text-ink-2">{effect.detail}</span></span>
        </li>
      ))}
    </ul>
  );
}

export function Differences({ items }: { items: Difference[] }) {
  const t = useT("runs");
  return (
    <ul className="flex flex-col gap-2">
      {items.map((difference, index) => (
        <li key={index} className="rounded-md border border-line p-3 text-sm">
          <p className="mb-1.5 text-xs text-ink-3">{t("event_no", { seq: difference.seq })}</p>
          <dl className="grid grid-cols-[max-content_1fr] gap-x-3 gap-y-1">
            <dt className="text-ink-3">{t("recorded")}</dt><dd className="font-mono wrap-anywhere">{difference.recorded}</dd>
            <dt className="text-ink-3">{t("now")}</dt><dd className="font-mono wrap-anywhere text-warn">{difference.now}</dd>
          </dl>
        </li>
      ))}
    </ul>
  );
}

export function ReplayDialog({ actions, onClose }: Props) {
  const t = useT("runs");
  const { replay } = actions;
  const report: Replay | undefined = replay.data;
  return (
    <Dialog open wide onOpenChange={onClose} title={t("replay_title")} description={t("replay_text")} footer={<><Button onClick={onClose}>{t("close")}</Button><Button variant="primary" loading={replay.isPending} onClick={() => replay.mutate()}>{report ? t("replay_again") : t("action_replay")}</Button></>}>
      {replay.isPending && <p className="flex items-center gap-2 text-base text-ink-2"><Spinner />{t("replay_running")}</p>}
      {replay.error && <ErrorState inline error={replay.error} />}
      {report?.same && <p className="flex items-center gap-2 rounded-md bg-ok-soft px-3 py-2 text-base"><CircleCheck aria-hidden className="size-4 text-ok" />{t("replay_same", { decisions: formatNumber(report.decisions), events: formatNumber(report.events) })}</p>}
      {report && !report.same && (
        <div className="flex flex-col gap-3">
          <p className="flex items-center gap-2 rounded-md bg-warn-soft px-3 py-2 text-base font-medium"><CircleX aria-hidden className="size-4 text-warn" />{t("replay_differs", { count: report.differences.length })}</p>
          <Differences items={report.differences} />
        </div>
      )}
    </Dialog>
  );
}

export function ForkDialog({ run, actions, onClose }: Props) {
  const t = useT("runs");
  const word = useWord();
  const navigate = useNavigate();
  const connections = useConnections();
  const { fork } = actions;
  const points = run.forkable;
  const [seq, setSeq] = useState(points[0]?.seq);
  const [connection, setConnection] = useState("");
  const [input, setInput] = useState(run.input);
  const first = seq === points[0]?.seq;
  const go = () =>
    fork.mutate(
      { ...(seq !== undefined && { seq }), ...(connection && { connection_id: connection }), ...(first && input.trim() !== run.input.trim() && { input: input.trim() }) },
      { onSuccess: (started) => (toast({ title: t("forked_toast") }), onClose(), void navigate({ to: "/runs/$runId", params: { runId: started.run_id } })) },
    );
  return (
    <Dialog open onOpenChange={onClose} title={t("fork_title")} description={t("fork_text")} footer={<><Button onClick={onClose}>{t("cancel")}</Button><Button variant="primary" loading={fork.isPending} disabled={first && !input.trim()} onClick={go}>{t("fork_go")}</Button></>}>
      <div className="flex flex-col gap-4">
        {points.length > 0 && (
          <Field label={t("fork_at")}>
            {(p) => <Select {...p} value={seq} onChange={(event) => setSeq(Number(event.target.value))}>{points.map((point) => <option key={point.seq} value={point.seq}>{t("fork_step", { step: point.step, purpose: word("purpose_", point.purpose) })}</option>)}</Select>}
          </Field>
        )}
        <Field label={t("fork_connection")}>
          {(p) => (
            <Select {...p} value={connection} onChange={(event) => setConnection(event.target.value)}>
              <option value="">{t("fork_connection_of_agent")}</option>
              {connections.items.map((item) => <option key={item.id} value={item.id}>{item.name} · {item.model}</option>)}
            </Select>
          )}
        </Field>
        <Field label={t("fork_input")} hint={first ? undefined : t("fork_input_hint")}>{(p) => <Textarea {...p} disabled={!first} value={first ? input : run.input} onChange={(event) => setInput(event.target.value)} />}</Field>
        {fork.error && <ErrorState inline error={fork.error} />}
      </div>
    </Dialog>
  );
}

export function KeepDialog({ run, actions, onClose }: Props) {
  const t = useT("runs");
  const { keep } = actions;
  const [name, setName] = useState(() => slug(run.title));
  const go = () => keep.mutate(name.trim(), { onSuccess: (kept) => (toast({ title: t("kept_toast", { name: kept.name }) }), onClose()) });
  return (
    <Dialog open onOpenChange={onClose} title={t("keep_title")} description={t("keep_text")} footer={<><Button onClick={onClose}>{t("cancel")}</Button><Button variant="primary" disabled={!name.trim()} loading={keep.isPending} onClick={go}>{t("keep_go")}</Button></>}>
      <form onSubmit={(event) => (event.preventDefault(), name.trim() && go())}>
        <Field label={t("keep_name")} hint={t("keep_name_hint")}>{(p) => <Input {...p} autoFocus maxLength={limits.Keep.name.maxLength} value={name} onChange={(event) => setName(event.target.value)} />}</Field>
      </form>
      {keep.error && <ErrorState inline error={keep.error} className="mt-3" />}
      {run.kept_as && <p className="mt-3 text-sm text-ink-3"><Badge>{t("kept_as", { name: run.kept_as })}</Badge></p>}
    </Dialog>
  );
}

/** A short name from a title: its first words. */
const slug = (title: string) =>
  title.toLowerCase().normalize("NFKD").replace(/[^\p{L}\p{N}]+/gu, "-").replace(/^-+|-+$/g, "").split("-").slice(0, 5).join("-").slice(0, 40);
