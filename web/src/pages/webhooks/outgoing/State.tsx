import { Check, Clock, Pause, TriangleAlert, X } from "lucide-react";
import type { Dispatch, Subscription } from "@/api/types";
import { useT } from "@/i18n";
import { Badge } from "@/ui";
import { kindKey, standOf, toldKey } from "./services";

/** Whether a subscription works, rests or is deleted. */
export function StateBadge({ subscription }: { subscription: Subscription }) {
  const t = useT("subscriptions");
  if (subscription.deleted_at !== null) return <Badge>{t("is_deleted")}</Badge>;
  return subscription.pause ? <RestBadge pause={subscription.pause} /> : <Badge>{t("works")}</Badge>;
}

/** Why it rests: a person had it rest, or messages didn't arrive. */
export function RestBadge({ pause }: { pause: NonNullable<Subscription["pause"]> }) {
  const t = useT("subscriptions");
  const person = pause.reason === "person";
  return <Badge tone={person ? "neutral" : "bad"} className="whitespace-normal!" icon={person ? <Pause aria-hidden /> : <TriangleAlert aria-hidden />}>{t(person ? "rests_person" : "rests_failed")}</Badge>;
}

/** What is told, in words. */
export function useKinds(): (subscription: Pick<Subscription, "kinds" | "all">) => string {
  const t = useT("subscriptions");
  const word = (kind: string) => {
    const key = kindKey(kind);
    return key ? t(key) : kind;
  };
  return ({ kinds, all }) => `${kinds.length === 0 ? t("kinds_all") : kinds.map(word).join(", ")}${all ? ` · ${t("all_said")}` : ""}`;
}

/** What a message tells of. */
export function Kind({ dispatch }: { dispatch: Dispatch }) {
  const t = useT("subscriptions");
  const key = kindKey(dispatch.kind);
  return <>{key ? t(key) : dispatch.kind}</>;
}

const ICONS = { waiting: Clock, again: Clock, sent: Check, given_up: X };

export function StandBadge({ dispatch }: { dispatch: Dispatch }) {
  const t = useT("subscriptions");
  const stand = standOf(dispatch);
  const Icon = ICONS[stand];
  return <Badge {...(stand === "given_up" && { tone: "bad" as const })} icon={<Icon aria-hidden />}>{t(`status_${stand}`)}</Badge>;
}

/** What the last try came to; nothing before the first. */
export function Came({ dispatch }: { dispatch: Dispatch }) {
  const t = useT("subscriptions");
  if (dispatch.last === null) return null;
  const key = toldKey(dispatch.last);
  return <span className="wrap-anywhere">{key ? t(key) : dispatch.last}</span>;
}
