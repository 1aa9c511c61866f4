import type { AuditEntry, AuditResult } from "@/api/types";
import { useT } from "@/i18n";
import { Badge } from "@/ui";

const tones = { ok: "neutral", asked: "warn", refused: "bad", failed: "bad", stopped: "neutral", limited: "neutral", uncertain: "warn" } as const;

export function ResultBadge({ result }: { result: AuditResult }) {
  const t = useT("audit");
  return <Badge tone={tones[result] ?? "neutral"}>{t(`result_${result}`)}</Badge>;
}

/** Who it was; Steward itself and strangers have words of their own. */
export function Actor({ entry }: { entry: Pick<AuditEntry, "actor"> }) {
  const t = useT("audit");
  if (entry.actor === "") return <span className="text-ink-3">{t("actor_unknown")}</span>;
  if (entry.actor === "steward") return <span className="text-ink-3">{t("actor_program")}</span>;
  return <span className="block max-w-full truncate" title={entry.actor}>{entry.actor}</span>;
}
