import { Link, useParams } from "@tanstack/react-router";
import { ArrowLeft, Hand } from "lucide-react";
import { useEffect, useMemo, useState } from "react";
import { useRun, useRunActions } from "@/api/hooks";
import { useT } from "@/i18n";
import { Badge, ClassifiedBadge, ErrorState, IconButton, Page, Skeleton, StateBadge, stateOf, Tabs, Time, toast, useErrorText, VerdictBadge } from "@/ui";
import { DocumentBeside } from "@/run/document-beside";
import { KeptPage } from "./KeptPage";
import { Actions } from "./parts/Actions";
import { useFilters } from "./parts/filters";
import { useOutcomeText } from "./parts/Labels";
import { Side } from "./parts/Side";
import { fold } from "./trace/fold";
import { useLog } from "./trace/log";
import { RawLog } from "./trace/RawLog";
import { ReceiptsPanel } from "./trace/Receipts";
import { Steps } from "./trace/Steps";

export function RunPage() {
  const { runId } = useParams({ strict: false }) as { runId: string };
  // The router has one route below the list; no run has this id.
  return runId === "kept" ? <KeptPage /> : <OneRun key={runId} id={runId} />;
}

function OneRun({ id }: { id: string }) {
  const t = useT("runs");
  const errorText = useErrorText();
  const run = useRun(id);
  const log = useLog(id);
  const trace = useMemo(() => fold(log.events), [log.events]);
  const actions = useRunActions(id);
  const outcomeText = useOutcomeText();
  const [{ tab }, set] = useFilters(["tab"] as const);
  const [shown, setShown] = useState<string | null>(null);
  const ended = trace.finish !== null;
  const { refetch } = run;
  // What the server knows beyond the log (fork points, what can be undone) changes at these moments.
  useEffect(() => {
    if (log.events.length > 0) void refetch();
  }, [ended, trace.waiting, trace.spent.model_calls, refetch, log.events.length > 0]);

  const undone = () => void log.more();
  const undoOne = (call: string) =>
    actions.undo.mutate(call, {
      onSuccess: ({ items }) => {
        for (const effect of items) toast({ title: effect.detail, tone: effect.undone ? "ok" : "bad" });
        undone();
      },
      onError: (error) => toast({ title: errorText(error).title, ...(errorText(error).hint && { detail: errorText(error).hint as string }), tone: "bad" }),
    });
  const back = <Link to="/runs" tabIndex={-1}><IconButton label={t("back_to_runs")} className="-ml-2"><ArrowLeft /></IconButton></Link>;

  if (run.error && !run.data) return <Page title={t("title")} back={back}><ErrorState error={run.error} onRetry={() => void refetch()} /></Page>;
  const detail = run.data;
  const why = trace.finish ? outcomeText(trace.finish.outcome) : null;
  return (
    <Page
      title={detail?.title || t("untitled")}
      back={back}
      width="full"
      actions={detail && <Actions run={detail} ended={ended} events={log.events} actions={actions} onUndone={undone} />}
    >
      {!detail ? (
        <Skeleton rows={8} />
      ) : (
        <div className="grid items-start gap-6 xl:grid-cols-[minmax(0,1fr)_19rem]">
          <div className="flex min-w-0 flex-col gap-4">
            <div className="flex flex-wrap items-center gap-x-4 gap-y-2">
              <StateBadge state={ended && trace.finish ? trace.finish.outcome.status : stateOf(detail)} />
              {detail.verdict && <VerdictBadge verdict={detail.verdict} />}
              {detail.parent && <Link to="/runs/$runId" params={{ runId: detail.parent }} className="text-sm text-accent-ink hover:underline">{t("delegated_by")}</Link>}
              {detail.children.map((child) => <Link key={child.run_id} to="/runs/$runId" params={{ runId: child.run_id }} className="text-sm text-accent-ink hover:underline">{t("delegated_to", { agent: child.agent_name })}</Link>)}
              {detail.forked_from && <Link to="/runs/$runId" params={{ runId: detail.forked_from }} className="text-sm text-accent-ink hover:underline">{t("forked_from")}</Link>}
              {detail.kept_as && <Link to="/runs/$runId" params={{ runId: "kept" }}><Badge>{t("kept_as", { name: detail.kept_as })}</Badge></Link>}
              {trace.classified && <ClassifiedBadge classified={trace.classified} />}
              {trace.failures > 0 && <Badge tone="warn">{t("retry_count", { count: trace.failures })}</Badge>}
              <Time relative at={detail.created_at} className="text-sm text-ink-3" />
            </div>
            {trace.waiting && (
              <div role="status" className="flex flex-wrap items-center gap-3 rounded-lg border border-warn-line/60 bg-warn-soft px-4 py-2.5 text-base">
                <Hand aria-hidden className="size-4 text-warn" />
                <span className="min-w-0 flex-1">{t("waiting_banner")}</span>
                <Link to="/approvals" search={{ id: trace.waiting }} className="font-medium text-accent-ink hover:underline">{t("decide_now")}</Link>
              </div>
            )}
            {why && <p className="rounded-lg border border-line bg-sunken px-4 py-2.5 text-base wrap-anywhere">{why}</p>}
            {log.error ? <ErrorState inline error={log.error} onRetry={log.retry} /> : null}
            <Tabs
              label={t("view")}
              value={tab || "trace"}
              onChange={(next) => set({ tab: next === "trace" ? "" : next })}
              tabs={[
                { value: "trace", label: t("tab_trace"), content: log.events.length === 0 && !log.error ? <Skeleton rows={6} /> : <Steps trace={trace} log={log} shown={shown} onUndo={ended ? undoOne : undefined} /> },
                { value: "receipts", label: t("tab_receipts"), content: <ReceiptsPanel trace={trace} ended={ended} onShow={(key) => (setShown(key), set({ tab: "" }))} /> },
                { value: "raw", label: t("tab_raw"), content: <RawLog runId={id} events={log.events} /> },
              ]}
            />
          </div>
          <Side run={detail} trace={trace} />
          <DocumentBeside />
        </div>
      )}
    </Page>
  );
}
