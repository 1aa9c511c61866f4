import { Check, X } from "lucide-react";
import { useConnections } from "@/api/hooks";
import type { Attempt } from "@/api/events";
import { type Key, useT } from "@/i18n";
import { formatDuration } from "@/ui";

/** Names of connections by id; one that is gone has the beginning of its id. */
export function useConnectionName(): (id: string) => string {
  const list = useConnections();
  return (id) => list.items.find((item) => item.id === id)?.name ?? id.slice(0, 8);
}

/** All connections that one call was sent to, and why those before the last did not answer. */
export function Attempts({ attempts }: { attempts: Attempt[] }) {
  const t = useT("runs");
  const m = useT("models");
  const nameOf = useConnectionName();
  return (
    <ol aria-label={t("attempts")} className="flex flex-col gap-1 text-sm">
      {attempts.map((attempt, index) => (
        <li key={index} className="flex items-start gap-2">
          {attempt.class ? <X aria-hidden className="mt-0.5 size-4 shrink-0 text-bad" /> : <Check aria-hidden className="mt-0.5 size-4 shrink-0 text-ok" />}
          <span className="min-w-0 wrap-anywhere"><span className="font-medium">{nameOf(attempt.connection)}</span> {attempt.class ? <>{m(`class_${attempt.class}` as Key<"models">)}{attempt.message && <span className="text-ink-2">: {attempt.message}</span>}</> : t("attempt_answered")} <span className="text-xs text-ink-3 tabular">{formatDuration(attempt.ms)}</span></span>
        </li>
      ))}
    </ol>
  );
}
