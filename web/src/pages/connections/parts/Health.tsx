import { CircleAlert } from "lucide-react";
import type { ConnectionHealth } from "@/api/types";
import { useT } from "@/i18n";
import { BreakerState, formatDuration, Time } from "@/ui";

/** How a connection has fared since the server started. */
export function HealthLine({ health }: { health: ConnectionHealth | undefined }) {
  const t = useT("connections");
  const m = useT("models");
  const error = health?.last_error;
  // An old failure after which it answered again is told in a word only.
  const now = !!error && (health.breaker !== "closed" || (health.last_failed_at ?? 0) > (health.last_ok_at ?? 0));
  return (
    <div className="flex flex-col gap-1.5">
      <p className="flex flex-wrap items-center gap-x-4 gap-y-1 text-sm text-ink-3">
        <BreakerState health={health} />
        {health?.first_ms != null && <span className="tabular">{t("median_first", { time: formatDuration(health.first_ms) })}</span>}
        {health?.last_ok_at != null && <span>{t("last_ok")} <Time relative at={health.last_ok_at} /></span>}
        {health !== undefined && health.failures > 0 && <span className="tabular">{t("failures", { failures: health.failures, requests: health.requests })}</span>}
        {error && !now && <span>{t("last_error", { what: m(`class_${error.class}`) })} {health.last_failed_at != null && <Time relative at={health.last_failed_at} />}</span>}
      </p>
      {error && now && (
        <div className="flex gap-2.5 rounded-lg bg-bad-soft px-3 py-2 text-sm">
          <CircleAlert aria-hidden className="mt-0.5 size-4 shrink-0 text-bad" />
          <div className="min-w-0 wrap-anywhere"><p><span className="font-medium">{m(`class_${error.class}`)}:</span> {error.message}{health.last_failed_at != null && <span className="text-ink-3"> · <Time relative at={health.last_failed_at} /></span>}</p>{error.hint && <p className="text-ink-2">{error.hint}</p>}</div>
        </div>
      )}
    </div>
  );
}
