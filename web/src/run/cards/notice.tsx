import { CircleAlert, Clock, CornerDownRight, RotateCw } from "lucide-react";
import { type Key, useT } from "@/i18n";
import { cx, formatClock } from "@/ui";
import type { Doing, NoticeItem, RunView, SteerItem } from "../view";
import { useEffect, useState } from "react";
import { Dot, Elapsed } from "@/ui";

/** What the engine calls its alarm before it asks a model again. */
const RETRY = "try the model again";

/** Something that happened to the run itself. */
export function Notice({ item }: { item: NoticeItem }) {
  const t = useT("chat");
  const bad = item.notice === "plan-failed" || (item.notice === "model-failed" && item.retryAt === null);
  const Icon = item.notice === "resumed" ? RotateCw : item.notice === "timer" ? Clock : CircleAlert;
  const words =
    item.notice === "resumed" ? t("notice.resumed", { node: item.node })
    : item.notice === "corrected" ? t("notice.corrected", { words: item.words })
    : item.notice === "compacted" ? t("notice.compacted", { count: item.count })
    : item.notice === "timer" ? t(item.fired ? "notice.timerFired" : "notice.timer", { purpose: item.purpose === RETRY ? t("purpose.retry") : item.purpose })
    : item.notice === "plan-failed" ? item.message
    : item.retryAt === null ? t(`fail.${item.class}` as Key<"chat">) : t("notice.retry", { message: t(`fail.${item.class}` as Key<"chat">), time: formatClock(item.retryAt) });
  return <p title={item.notice === "model-failed" ? item.message : undefined} className={cx("flex items-start gap-2 text-sm wrap-anywhere", bad ? "text-bad" : "text-ink-3")}><Icon aria-hidden className="mt-0.5 size-3.5 shrink-0" />{words}</p>;
}

export function Steer({ item }: { item: SteerItem }) {
  const t = useT("chat");
  return (
    <div className="flex items-start justify-end gap-2 text-base">
      <CornerDownRight aria-hidden className="mt-2.5 size-3.5 shrink-0 text-ink-3" />
      <div className="max-w-[85%] rounded-xl rounded-br-sm border border-line bg-sunken px-3.5 py-2 whitespace-pre-wrap wrap-anywhere"><span className="sr-only">{t("steered")}: </span>{item.text}</div>
    </div>
  );
}

/** What the run is busy with, and since when once that is more than a second. */
export function Busy({ view }: { view: RunView }) {
  const t = useT("chat");
  const doing: Doing = view.doing ?? { what: "start", since: Date.now() };
  const [late, setLate] = useState(false);
  useEffect(() => {
    setLate(false);
    const timer = setTimeout(() => setLate(true), 1000);
    return () => clearTimeout(timer);
  }, [doing.since, doing.what]);
  return (
    <p role="status" className="flex items-center gap-2.5 text-sm text-ink-3">
      <Dot tone="accent" busy />
      <span>{view.stopping ? t("stopping") : t(`doing.${doing.what}`, { tool: doing.tool ?? "" })}</span>
      {late && <Elapsed from={doing.since} className="text-xs tabular" />}
    </p>
  );
}
