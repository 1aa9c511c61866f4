import { Link } from "@tanstack/react-router";
import { ArrowLeft, CircleCheck, CircleX, FlaskConical, Play, Trash2 } from "lucide-react";
import { isOperator, useKept, useKeptActions, useMe, useRunActions } from "@/api/hooks";
import type { KeptReport, KeptRun } from "@/api/types";
import { useT } from "@/i18n";
import { Badge, Button, ButtonLink, EmptyState, ErrorState, formatAgo, IconButton, Page, PagedList, toast } from "@/ui";
import { Differences } from "./parts/Dialogs";

/** Runs that are kept as tests. */
export function KeptPage() {
  const t = useT("runs");
  const list = useKept();
  const { run, remove } = useKeptActions();
  const reports = new Map((run.data?.items ?? []).map((report) => [report.name, report]));
  const same = [...reports.values()].filter((report) => report.same).length;
  return (
    <Page
      title={t("kept_title")}
      lead={t("kept_subtitle")}
      width="text"
      back={<Link to="/runs" tabIndex={-1}><IconButton label={t("back_to_runs")} className="-ml-2"><ArrowLeft /></IconButton></Link>}
      actions={list.items.length > 0 && <Button size="sm" variant="primary" loading={run.isPending} icon={<Play aria-hidden className="size-3.5" />} onClick={() => run.mutate()}>{t("kept_run_all")}</Button>}
    >
      <div className="flex flex-col gap-4">
        {run.error && <ErrorState inline error={run.error} onRetry={() => run.mutate()} />}
        {run.data && <p role="status" className={`flex items-center gap-2 rounded-lg px-4 py-2.5 text-base ${same === reports.size ? "bg-ok-soft" : "bg-warn-soft"}`}>{same === reports.size ? <CircleCheck aria-hidden className="size-4 text-ok" /> : <CircleX aria-hidden className="size-4 text-warn" />}{t("kept_sum", { same, all: reports.size })}</p>}
        <div className="overflow-hidden rounded-lg border border-line bg-surface">
          <PagedList list={list} empty={<EmptyState icon={<FlaskConical />} title={t("kept_empty_title")} action={<ButtonLink to="/runs">{t("back_to_runs")}</ButtonLink>}>{t("kept_empty_text")}</EmptyState>}>
            <ul className="divide-y divide-line">{list.items.map((kept) => <Kept key={kept.name} kept={kept} report={reports.get(kept.name)} onRemove={() => remove.mutate(kept.name)} />)}</ul>
          </PagedList>
        </div>
      </div>
    </Page>
  );
}

function Kept({ kept, report, onRemove }: { kept: KeptRun; report: KeptReport | undefined; onRemove: () => void }) {
  const t = useT("runs");
  const me = useMe();
  const { keep } = useRunActions(kept.run_id);
  const remove = () => {
    onRemove();
    toast({ title: t("kept_removed", { name: kept.name }), undo: () => void keep.mutateAsync(kept.name) });
  };
  const mayRemove = isOperator(me.data) || kept.by === me.data?.email || kept.by === me.data?.name;
  return (
    <li className="flex flex-col gap-3 px-4 py-3">
      <div className="flex items-center gap-3">
        <div className="min-w-0 flex-1">
          <Link to="/runs/$runId" params={{ runId: kept.run_id }} className="font-medium hover:underline">{kept.name}</Link>
          <p className="text-sm text-ink-3">{t("kept_since", { when: formatAgo(kept.created_at), name: kept.by })}</p>
        </div>
        {report && <Badge tone={report.same ? "ok" : "warn"}>{report.same ? t("kept_pass") : t("kept_fail")}</Badge>}
        {mayRemove && <IconButton size="sm" label={t("kept_remove", { name: kept.name })} onClick={remove}><Trash2 /></IconButton>}
      </div>
      {report && !report.same && <Differences items={report.differences} />}
    </li>
  );
}
