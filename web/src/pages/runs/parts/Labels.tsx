// Words of runs for values of the API; a value that is newer than the studio is shown as it is.
import { Bot, Braces, CalendarClock, GitFork, MessageSquare, SquareTerminal, Webhook } from "lucide-react";
import type { Origin, Outcome } from "@/api/types";
import { type Key, useT } from "@/i18n";

const icons = { cli: SquareTerminal, chat: MessageSquare, api: Braces, schedule: CalendarClock, webhook: Webhook, delegation: GitFork };

/** Text of `prefix + value`, or the value where there is none. */
export function useWord(): (prefix: "origin_" | "mode_" | "purpose_" | "source_" | "effect_" | "limit_" | "role_" | "outcome_" | "status_", value: string) => string {
  const t = useT("runs");
  return (prefix, value) => {
    const key = `${prefix}${value}`;
    const text = t(key as Key<"runs">);
    return text === key ? value : text;
  };
}

/** Where a run came from. */
export function OriginLabel({ origin }: { origin: Origin }) {
  const word = useWord();
  const Icon = icons[origin] ?? Bot;
  return <span className="inline-flex items-center gap-1.5 text-sm whitespace-nowrap text-ink-2"><Icon aria-hidden className="size-3.5 text-ink-3" />{word("origin_", origin)}</span>;
}

/** Why a run ended as it did, and what to do; nothing where all went well. */
export function useOutcomeText(): (outcome: Outcome | null) => string | null {
  const t = useT("runs");
  const word = useWord();
  return (outcome) => {
    switch (outcome?.status) {
      case "failed":
        return outcome.message;
      case "stopped":
        return t("stopped_by", { name: outcome.by });
      case "limited":
        return ("message" in outcome && outcome.message) ? String(outcome.message) : t("reached_limit", { limit: word("limit_", outcome.limit) });
      case "rejected":
        return t("refused_text");
      default:
        return null;
    }
  };
}
