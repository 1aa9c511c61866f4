import { Link, useNavigate } from "@tanstack/react-router";
import { ArrowLeft, Check } from "lucide-react";
import { type ReactNode, useState } from "react";
import { isOperator, useConnections, useConnectionWriter, useMe, useRecogniser } from "@/api/hooks";
import type { Connection, ConnectionInput, Recognised } from "@/api/types";
import { useT } from "@/i18n";
import { Button, cx, EmptyState, ErrorState, IconButton, Page, Skeleton, toast } from "@/ui";
import { AddressStep } from "./parts/AddressStep";
import { Examination } from "./parts/Examination";
import { examCost } from "./parts/cost";
import { useExam } from "./parts/exam";
import { authOf, EMPTY, inputOf, isSealed, isTyped, nameFor, problemsOf, usualAuth } from "./parts/form";
import { ModelStep } from "./parts/ModelStep";
import { ReportCard } from "./parts/ReportCard";
import { TestReport } from "./parts/TestReport";
import { useTests } from "./parts/tests";

/** Adds a connection: address, model and key, test, exam. */
export function NewPage() {
  const t = useT("connections");
  const me = useMe();
  const back = <Link to="/connections" tabIndex={-1}><IconButton label={t("back")} className="-ml-2"><ArrowLeft /></IconButton></Link>;
  return (
    <Page title={t("form_add")} lead={t("new_lead")} back={back} width="text">
      {!me.data ? <Skeleton rows={4} /> : isOperator(me.data) ? <Guide /> : <EmptyState title={t("not_allowed")}>{t("not_allowed_text")}</EmptyState>}
    </Page>
  );
}

function Guide() {
  const t = useT("connections");
  const navigate = useNavigate();
  const list = useConnections();
  const writer = useConnectionWriter();
  const recogniser = useRecogniser();
  const [form, setForm] = useState<ConnectionInput>(EMPTY);
  const [named, setNamed] = useState(false);
  const [found, setFound] = useState<Recognised | null>(null);
  const [open, setOpen] = useState(false);
  const [tried, setTried] = useState(false);
  const [saved, setSaved] = useState<Connection | null>(null);
  const tests = useTests();
  const exam = useExam(saved?.id ?? null);
  const test = saved ? tests.of(saved.id) : undefined;
  const works = test?.report?.ok === true;
  const state = (list.items.find((item) => item.id === saved?.id) ?? saved)?.exam_state;
  const running = state?.state === "running";
  const taken = list.items.filter((item) => item.id !== saved?.id).map((item) => item.name);
  const patch = (change: Partial<ConnectionInput>) =>
    setForm((old) => ({ ...old, ...change, ...(!named && change.model !== undefined && { name: change.model ? nameFor(change.model, taken) : "" }) }));

  const ask = async (base_url: string) => {
    const known = isSealed(form.auth.kind) ? isTyped(form.auth) : form.auth.kind !== "none";
    const answer = await recogniser.run({ base_url, ...(known && { auth: form.auth }) });
    if (!answer) return;
    setFound(answer);
    setOpen(true);
    const model = form.model || (answer.models.length === 1 ? answer.models[0]! : "");
    patch({ provider: answer.provider, base_url: answer.base_url, model, ...(form.auth.kind === "none" && { auth: authOf(usualAuth(answer.provider), form.auth, answer.provider, answer.base_url) }) });
  };
  const save = async () => {
    setTried(true);
    if (Object.keys(problemsOf(form, saved)).length > 0) return void setTimeout(() => document.querySelector<HTMLElement>("main [aria-invalid]")?.focus());
    const body: ConnectionInput = { ...form, name: form.name.trim(), base_url: form.base_url.trim().replace(/\/+$/, ""), model: form.model.trim() };
    const connection = await writer.run(saved?.id ?? null, body);
    if (!connection) return;
    if (!saved && connection.default) toast({ title: t("made_default", { name: connection.name }) });
    setSaved(connection);
    // The key leaves the page with this.
    setForm((old) => ({ ...old, auth: inputOf(connection).auth }));
    tests.run(connection);
  };
  return (
    <ol className="flex flex-col gap-4">
      <Step n={1} title={t("step_address")} done={open}>
        <AddressStep url={form.base_url} busy={recogniser.busy} error={recogniser.error} found={found} onUrl={(base_url) => patch({ base_url })} onAsk={(url) => void ask(url)} onSkip={() => setOpen(true)} open={open} />
      </Step>
      <Step n={2} title={t("step_model")} done={saved !== null} waits={!open}>
        {open && (
          <>
            <ModelStep form={form} saved={saved} found={found} tried={tried} asking={recogniser.busy} onChange={patch} onName={(name) => (setNamed(true), setForm((old) => ({ ...old, name })))} onAsk={() => void ask(form.base_url)} />
            {writer.error ? <ErrorState inline error={writer.error} /> : null}
            <Button variant={works ? "default" : "primary"} className="self-start" loading={writer.busy} onClick={() => void save()}>{t("save_test")}</Button>
          </>
        )}
      </Step>
      <Step n={3} title={t("step_test")} done={works} waits={!saved}>{test && saved && <div role="status"><TestReport test={test} onTest={() => tests.run(saved)} /></div>}{test && !test.busy && !works && <p className="text-sm text-ink-2">{t("test_advice")}</p>}</Step>
      <Step n={4} title={t("step_exam")} done={exam.report !== null} waits={!works}>
        {works && !exam.report && <p className="text-base text-ink-2">{running ? t("exam_by_itself") : t("exam_text")}{state?.state === "waiting" && ` ${examCost(t, state)}`}</p>}
        {works && <Examination exam={exam} />}
        {works && exam.report && saved && <ReportCard report={exam.report} connection={{ ...saved, capabilities: exam.report.capabilities }} />}
        {works && !exam.busy && (
          <div className="flex flex-wrap gap-2">
            {!exam.report && !running && <Button variant="primary" onClick={exam.start}>{t("exam_start")}</Button>}
            <Button variant={exam.report || running ? "primary" : "default"} icon={exam.report && <Check aria-hidden className="size-4" />} onClick={() => (toast({ title: t("saved") }), void navigate({ to: "/connections" }))}>{exam.report || running ? t("done") : t("exam_skip")}</Button>
          </div>
        )}
      </Step>
    </ol>
  );
}

function Step({ n, title, done, waits, children }: { n: number; title: string; done: boolean; waits?: boolean; children?: ReactNode }) {
  return (
    <li className={cx("rounded-lg border border-line px-4 py-3.5", waits ? "bg-transparent" : "bg-surface")}>
      <h2 className={cx("flex items-center gap-2.5 text-base font-semibold", waits && "text-ink-3")}>
        <span aria-hidden className={cx("flex size-6 shrink-0 items-center justify-center rounded-full text-xs tabular", done ? "bg-ok-soft text-ok" : waits ? "bg-active text-ink-3" : "bg-accent-soft text-accent-ink")}>{done ? <Check className="size-3.5" /> : n}</span>
        {title}
      </h2>
      {!waits && <div className="mt-3 flex flex-col gap-4">{children}</div>}
    </li>
  );
}
