import { CornerDownRight } from "lucide-react";
import { useState } from "react";
import { useRoutingPreview } from "@/api/hooks";
import type { Routing, RoutingPreview } from "@/api/types";
import { useT } from "@/i18n";
import { Badge, BreakerState, cx, ErrorState, Field, GradeBadge, Input, PriceText, Spinner } from "@/ui";
import { useSettled } from "./settled";

/** Where a message would go, with the routing as it is in the form now. */
export function TryRoute({ connection, routing, tools, sound }: { connection: string | null; routing: Routing; tools: string[]; sound: boolean }) {
  const t = useT("agents");
  const m = useT("models");
  const [message, setMessage] = useState("");
  const asked = useSettled(message);
  const settled = useSettled(routing);
  const route = useRoutingPreview({ connection, routing: settled, tools, message: sound ? asked : "" });
  const waiting = route.isFetching || (message.trim() !== "" && (asked !== message || settled !== routing));
  const shown = message.trim() === "" ? undefined : route.data;
  return (
    <div className="flex flex-col gap-3 rounded-lg border border-line bg-surface p-4">
      <Field label={t("try")} hint={t("try_hint")}>{(p) => <Input {...p} value={message} placeholder={t("try_placeholder")} onChange={(event) => setMessage(event.target.value)} onKeyDown={(event) => event.key === "Enter" && event.preventDefault()} />}</Field>
      {route.error && !waiting && message.trim() !== "" ? <ErrorState inline error={route.error} onRetry={() => void route.refetch()} /> : null}
      {message.trim() !== "" && !shown && waiting && <Spinner label={t("preview_updating")} />}
      {shown && (
        <div role="status" aria-busy={waiting} className={cx("flex flex-col gap-2.5 transition-opacity", waiting && "opacity-60")}>
          <p className="flex flex-wrap items-center gap-2 text-base"><Badge tone="accent">{m(`task_${shown.task}`)}</Badge><Badge title={shown.hint_words.join(", ")}>{m(`hint_${shown.hint}`)}</Badge></p>
          {shown.redirected && <p className="flex items-start gap-2 text-base wrap-anywhere"><CornerDownRight aria-hidden className="mt-1 size-4 shrink-0 text-ink-3" />{shown.redirected.reason}</p>}
          <Targets label={t("try_order")} targets={shown.targets} reason={shown.reason} />
          {shown.planner && (
            <>
              <h4 className="text-sm font-medium">{t("try_planner")}</h4>
              <Targets label={t("try_planner")} targets={shown.planner.targets} reason={shown.planner.reason} />
            </>
          )}
        </div>
      )}
    </div>
  );
}

function Targets({ label, targets, reason }: { label: string; targets: RoutingPreview["targets"]; reason: string }) {
  const m = useT("models");
  return (
    <>
      <ol aria-label={label} className="flex flex-col gap-1.5">
        {targets.map((target, at) => (
          <li key={target.id} className="flex flex-wrap items-center gap-x-3 gap-y-0.5 text-base">
            <span className="w-4 text-right text-ink-3 tabular">{at + 1}.</span>
            {target.grade ? <GradeBadge grade={target.grade} /> : <span aria-label={m("grade_none")} title={m("grade_none")} role="img" className="inline-flex size-5 items-center justify-center rounded-sm bg-active text-sm text-ink-3">–</span>}
            <span className="font-medium wrap-anywhere">{target.name}</span>
            <code className="min-w-0 truncate font-mono text-xs text-ink-3">{target.model}</code>
            <span className="ml-auto flex flex-wrap items-center gap-x-3 text-sm text-ink-3"><PriceText price={target.price} />{target.breaker !== "closed" && <BreakerState health={{ breaker: target.breaker, requests: 1, retry_in_ms: null }} />}</span>
          </li>
        ))}
      </ol>
      <p className="text-sm text-ink-2 wrap-anywhere">{reason}</p>
    </>
  );
}
