import { Ban, Pause, Play, RotateCcw } from "lucide-react";
import { useState } from "react";
import { isAtWork, useFolderActions, useIngestJobs } from "@/api/hooks";
import type { IngestJob } from "@/api/types";
import { useT } from "@/i18n";
import { Badge, ConfirmDialog, formatNumber, IconButton, Meter, PagedList, Time, toast, type Tone } from "@/ui";
import { useFailed } from "./failed";

const tones: Record<IngestJob["state"], Tone> = { scanning: "accent", running: "accent", paused: "warn", cancelled: "neutral" };
const done = { tone: "ok" as Tone, key: "job_done" as const };

/** Folders that are read, and how far each is. */
export function Jobs({ nameOf }: { nameOf: (collection: string) => string }) {
  const t = useT("documents");
  const list = useIngestJobs();
  const failed = useFailed();
  const { steer } = useFolderActions();
  const [ending, setEnding] = useState<IngestJob | null>(null);
  const act = (job: IngestJob, how: "pause" | "resume" | "retry") => steer.mutate({ id: job.id, how }, { onSuccess: () => toast({ title: t(`job_${how}_toast`, { name: job.label }), about: job.id }), onError: failed });
  const end = () => ending && steer.mutate({ id: ending.id, how: "cancel" }, { onSuccess: () => toast({ title: t("job_cancel_toast", { name: ending.label }) }), onError: failed, onSettled: () => setEnding(null) });
  return (
    <>
      <PagedList list={list} skeletonRows={3} empty={<p className="px-4 py-6 text-center text-base text-ink-3">{t("jobs_none")}</p>}>
        <ul aria-label={t("jobs")} className="divide-y divide-line">{list.items.map((job) => <Row key={job.id} job={job} collection={nameOf(job.collection)} busy={steer.isPending} onAct={(how) => act(job, how)} onEnd={() => setEnding(job)} />)}</ul>
      </PagedList>
      <ConfirmDialog open={ending !== null} onOpenChange={() => setEnding(null)} title={t("job_cancel_title")} description={t("job_cancel_text", { count: ending?.progress.waiting ?? 0 })} confirm={t("job_cancel")} danger busy={steer.isPending} onConfirm={end} />
    </>
  );
}

function Row({ job, collection, busy, onAct, onEnd }: { job: IngestJob; collection: string; busy: boolean; onAct: (how: "pause" | "resume" | "retry") => void; onEnd: () => void }) {
  const t = useT("documents");
  const { waiting, embedding, ready, failed, duplicate } = job.progress;
  const all = waiting + embedding + ready + failed + duplicate;
  const share = (part: number) => (all === 0 ? 0 : part / all);
  const over = job.state === "running" && !isAtWork(job);
  const { tone, key } = over ? done : { tone: tones[job.state] ?? "neutral", key: `job_${job.state}` as const };
  const words = [t("job_progress", { done: formatNumber(ready + duplicate), of: formatNumber(all) }), duplicate > 0 && t("job_duplicates", { count: duplicate }), failed > 0 && t("count_failed", { count: failed }), embedding > 0 && t("job_embedding", { count: embedding })].filter(Boolean).join(" · ");
  const live = job.state === "running" || job.state === "scanning";
  return (
    <li className="flex items-start gap-2 py-2.5 pr-2 pl-4">
      <div className="min-w-0 flex-1">
        <p className="flex flex-wrap items-center gap-2"><span className="font-mono text-sm wrap-anywhere">{job.label}</span><Badge tone={tone}>{t(key)}</Badge></p>
        <Meter className="my-1.5" label={t("job_meter", { name: job.label })} text={words} parts={[{ share: share(ready + duplicate), tone: "ok" }, { share: share(failed), tone: "bad" }, { share: share(embedding), tone: "accent", faint: true }]} />
        <p className="text-sm text-ink-3 tabular">{words} · {collection} · <Time relative at={job.created_at} /></p>
      </div>
      {failed > 0 && job.state !== "cancelled" && <IconButton size="sm" label={t("job_retry", { name: job.label })} disabled={busy} onClick={() => onAct("retry")}><RotateCcw /></IconButton>}
      {live && !over && <IconButton size="sm" label={t("job_pause", { name: job.label })} disabled={busy} onClick={() => onAct("pause")}><Pause /></IconButton>}
      {job.state === "paused" && <IconButton size="sm" label={t("job_resume", { name: job.label })} disabled={busy} onClick={() => onAct("resume")}><Play /></IconButton>}
      {job.state !== "cancelled" && !over && <IconButton size="sm" label={t("job_end", { name: job.label })} disabled={busy} onClick={onEnd}><Ban /></IconButton>}
    </li>
  );
}
