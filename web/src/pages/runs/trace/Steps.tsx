import { ChevronsDownUp, ChevronsUpDown, ListTree, Milestone } from "lucide-react";
import { useEffect, useMemo, useState } from "react";
import { useT } from "@/i18n";
import { Button, cx, Dot } from "@/ui";
import { useFilters } from "../parts/filters";
import type { Log } from "./log";
import { inOrder, type Trace } from "./nodes";
import { axisOf } from "./span";
import type { View } from "./Step";
import { Timeline } from "./Timeline";
import { Tree } from "./Tree";

type Props = { trace: Trace; log: Log; shown: string | null; onUndo: ((callId: string) => void) | undefined };

/** The steps of a run, as a tree or along time. `shown`: the step to open and go to. */
export function Steps({ trace, log, shown, onUndo }: Props) {
  const t = useT("runs");
  const [{ view: chosen }, set] = useFilters(["view"] as const);
  const timeline = chosen === "timeline";
  const [open, setOpen] = useState<ReadonlySet<string>>(() => new Set(shown ? [shown] : []));
  const now = useNow(trace.finish === null && log.events.length > 0);
  const axis = useMemo(() => axisOf(trace, now), [trace, now]);
  const all = useMemo(() => inOrder(trace.roots).map((entry) => entry.node.key), [trace]);

  useEffect(() => {
    if (!shown) return;
    setOpen((old) => new Set([...old, shown]));
    const line = document.getElementById(`step-${shown}`);
    line?.scrollIntoView({ block: "center" });
    line?.focus();
  }, [shown]);

  const view: View = {
    open,
    axis,
    now,
    onUndo,
    toggle: (key) =>
      setOpen((old) => {
        const next = new Set(old);
        if (!next.delete(key)) next.add(key);
        return next;
      }),
  };
  const opened = open.size > 0;
  return (
    <div className="flex flex-col gap-2">
      <h2 className="sr-only">{t("tab_trace")}</h2>
      <div className="flex flex-wrap items-center gap-2">
        <div role="group" aria-label={t("view")} className="inline-flex rounded-md border border-line-2 p-0.5">
          {([["", t("view_tree"), ListTree], ["timeline", t("view_timeline"), Milestone]] as const).map(([value, label, Icon]) => (
            <button key={value} type="button" aria-pressed={timeline === (value === "timeline")} onClick={() => set({ view: value })} className={cx("flex h-6.5 items-center gap-1.5 rounded-sm px-2 text-sm max-md:h-9", timeline === (value === "timeline") ? "bg-active font-medium text-ink" : "text-ink-3 hover:text-ink")}>
              <Icon aria-hidden className="size-3.5" />{label}
            </button>
          ))}
        </div>
        <Button size="sm" variant="quiet" icon={opened ? <ChevronsDownUp aria-hidden className="size-3.5" /> : <ChevronsUpDown aria-hidden className="size-3.5" />} onClick={() => setOpen(new Set(opened ? [] : all))}>{opened ? t("collapse_all") : t("expand_all")}</Button>
        <LiveNote log={log} />
      </div>
      {trace.roots.length === 0 ? <p className="py-6 text-base text-ink-3">{t("no_steps")}</p> : timeline ? <Timeline roots={trace.roots} view={view} /> : <Tree roots={trace.roots} view={view} />}
    </div>
  );
}

function LiveNote({ log }: { log: Log }) {
  const t = useT("runs");
  if (log.state === "done" || log.error) return null;
  return (
    <span role="status" title={t(`state_${log.state}`)} className="ml-auto flex items-center gap-1.5 text-sm text-ink-3">
      <Dot tone={log.state === "live" ? "accent" : "warn"} busy />
      {log.state === "live" ? t("live") : t(`state_${log.state}`)}
    </span>
  );
}

/** The time, each second while something runs. */
function useNow(running: boolean): number {
  const [now, setNow] = useState(Date.now);
  useEffect(() => {
    if (!running) return;
    const timer = setInterval(() => setNow(Date.now()), 1000);
    return () => clearInterval(timer);
  }, [running]);
  return now;
}
