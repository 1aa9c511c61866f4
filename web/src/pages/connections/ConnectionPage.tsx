import { Link, useParams } from "@tanstack/react-router";
import { ArrowLeft, ClipboardCheck, Pencil } from "lucide-react";
import { useState } from "react";
import { isOperator, useConnectionHealth, useConnections, useExamReport, useMe } from "@/api/hooks";
import type { Connection } from "@/api/types";
import { useT } from "@/i18n";
import { Badge, Button, Card, EmptyState, ErrorState, IconButton, Page, PriceText, Skeleton, Spinner } from "@/ui";
import { AccessButton } from "../access/AccessButton";
import { ConnectionDialog } from "./parts/ConnectionDialog";
import { examCost } from "./parts/cost";
import { useExam } from "./parts/exam";
import { Examination } from "./parts/Examination";
import { HealthLine } from "./parts/Health";
import { ReportCard } from "./parts/ReportCard";
import { TestReport } from "./parts/TestReport";
import { useTests } from "./parts/tests";

/** One connection: how it fares, and its report card. */
export function ConnectionPage() {
  const t = useT("connections");
  const { connectionId } = useParams({ strict: false }) as { connectionId: string };
  const list = useConnections();
  const connection = list.items.find((item) => item.id === connectionId);
  const back = <Link to="/connections" tabIndex={-1}><IconButton label={t("back")} className="-ml-2"><ArrowLeft /></IconButton></Link>;
  if (connection) return <One key={connection.id} connection={connection} back={back} />;
  return (
    <Page title={t("title")} back={back}>
      {list.isLoading ? <Skeleton rows={8} /> : list.error ? <ErrorState error={list.error} onRetry={list.retry} /> : <EmptyState title={t("gone_title")}>{t("gone_text")}</EmptyState>}
    </Page>
  );
}

function One({ connection, back }: { connection: Connection; back: React.ReactNode }) {
  const t = useT("connections");
  const m = useT("models");
  const operator = isOperator(useMe().data);
  const health = useConnectionHealth().data?.get(connection.id);
  // Asked for only where one is there.
  const report = useExamReport(connection.id, connection.exam !== null);
  const exam = useExam(connection.id);
  const tests = useTests();
  const [editing, setEditing] = useState(false);
  const test = tests.of(connection.id);
  const start = operator && !exam.busy && <Button size="sm" variant="primary" icon={<ClipboardCheck aria-hidden className="size-3.5" />} onClick={exam.start}>{report.data ? t("exam_again") : t("exam_start")}</Button>;
  return (
    <Page
      title={connection.name}
      back={back}
      width="text"
      reading
      actions={
        <>
          <AccessButton kind="connection" id={connection.id} name={connection.name} />
          {operator && connection.editable && <Button size="sm" icon={<Pencil aria-hidden className="size-3.5" />} onClick={() => setEditing(true)}>{t("edit")}</Button>}
          {operator && <Button size="sm" loading={test?.busy ?? false} onClick={() => tests.run(connection)}>{t("test")}</Button>}
          {start}
        </>
      }
    >
      <div className="flex flex-col gap-5">
        <div className="flex flex-col gap-2">
          <p className="flex flex-wrap items-center gap-2 text-base"><code className="font-mono text-sm wrap-anywhere">{connection.model}</code>{connection.default && <Badge tone="accent">{t("default")}</Badge>}</p>
          <p className="text-sm text-ink-3 wrap-anywhere">{m(`provider_${connection.provider}`)}{connection.base_url && <> · <span className="font-mono text-xs">{connection.base_url}</span></>} · <PriceText price={connection.known_price} /></p>
          <HealthLine health={health} />
        </div>
        {test && (test.busy || test.report || test.error) ? <div role="status"><TestReport test={test} onTest={() => tests.run(connection)} /></div> : null}
        {(exam.busy || exam.error || exam.checks.length > 0) && !exam.report && <Card title={t("exam")}><Examination exam={exam} /></Card>}
        {report.data ? <ReportCard report={report.data} connection={connection} />
          : report.error ? <ErrorState inline error={report.error} onRetry={() => void report.refetch()} />
          : report.isLoading ? <Skeleton rows={6} />
          : exam.report ? <ReportCard report={exam.report} connection={connection} />
          : !exam.busy && <NoReport connection={connection} onStart={operator ? exam.start : null} />}
      </div>
      {editing && <ConnectionDialog connection={connection} onClose={() => setEditing(false)} onTest={tests.run} />}
    </Page>
  );
}

/** Why there is no report yet, and what can be done about it. */
function NoReport({ connection, onStart }: { connection: Connection; onStart: (() => void) | null }) {
  const t = useT("connections");
  const state = connection.exam_state;
  const start = onStart && <Button onClick={onStart}>{t("exam_start")}</Button>;
  if (state?.state === "running") return <Card title={t("exam")}><p role="status" className="flex items-center gap-2.5 text-base"><Spinner className="text-accent-ink" />{t("exam_by_itself")}</p></Card>;
  if (state?.state === "failed") return <Card title={t("exam")}><p role="status" className="text-base text-warn wrap-anywhere">{t("exam_failed", { why: state.message })}</p><p className="mb-3 text-sm text-ink-2 wrap-anywhere">{state.hint}</p>{start}</Card>;
  const cost = state?.state === "waiting" ? <p className="mt-1">{examCost(t, state)}</p> : null;
  return <div className="rounded-lg border border-line bg-surface"><EmptyState icon={<ClipboardCheck />} title={t("no_report_title")} action={start}>{t("no_report_text")}{cost}</EmptyState></div>;
}
