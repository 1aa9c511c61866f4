import { Link } from "@tanstack/react-router";
import type { HookDelivery, Outcome } from "@/api/types";
import { useT } from "@/i18n";
import { Badge, StateBadge } from "@/ui";
import { eventOf } from "./content";

/** Reasons that the server always says in the same words. */
const REASONS = { "the webhook is paused": "reason_paused", "the webhook was deleted": "reason_deleted" } as const;

/** What became of a delivery, and why. */
export function Fate({ delivery }: { delivery: HookDelivery }) {
  const t = useT("webhooks");
  const { status, reason, outcome } = delivery;
  if (status === "started") return <StateBadge state={(outcome as Outcome["status"] | null) ?? "running"} />;
  const known = REASONS[reason as keyof typeof REASONS];
  return (
    <span className="inline-flex flex-wrap items-baseline gap-x-2 text-sm text-ink-2">
      <Badge className="whitespace-normal!" {...(status === "failed" && { tone: "bad" as const })}>{t(`status_${status}`)}</Badge>
      {reason !== null && <span className="wrap-anywhere">{known ? t(known) : reason}</span>}
    </span>
  );
}

/** What the sender calls it, and whether it is there again. */
export function EventName({ delivery }: { delivery: HookDelivery }) {
  const t = useT("webhooks");
  const { event, again } = eventOf(delivery);
  return (
    <span className="inline-flex min-w-0 max-w-full flex-wrap items-center gap-x-2">
      {event === null ? <span className="text-sm text-ink-3">{t("event_none")}</span> : <code className="min-w-0 font-mono text-sm wrap-anywhere">{event}</code>}
      {again && <Badge>{t("again")}</Badge>}
      {delivery.repeats > 0 && <Badge>{t("repeats", { count: delivery.repeats })}</Badge>}
    </span>
  );
}

/** To the run of a delivery; nothing where it has none. */
export function RunLink({ delivery }: { delivery: HookDelivery }) {
  const t = useT("webhooks");
  if (delivery.run_id === null) return null;
  return <Link to="/runs/$runId" params={{ runId: delivery.run_id }} onClick={(event) => event.stopPropagation()} className="relative z-1 text-accent-ink underline underline-offset-2">{t("run_link")}</Link>;
}
