import { Pause, ShieldOff, TriangleAlert } from "lucide-react";
import type { Hook } from "@/api/types";
import { useT } from "@/i18n";
import { Badge } from "@/ui";

/** For so long a refused call is said in the list, ms. */
const LATELY = 86_400_000;
export const refusedLately = ({ refused }: Hook): boolean => refused !== null && Date.now() - refused.at < LATELY;

/** Whether a webhook works, rests or is deleted, and that calls were refused. */
export function StateBadges({ hook }: { hook: Hook }) {
  const t = useT("webhooks");
  const gone = hook.deleted_at !== null;
  return (
    <>
      {gone ? <Badge>{t("is_deleted")}</Badge> : hook.pause ? <RestBadge pause={hook.pause} /> : <Badge>{t("works")}</Badge>}
      {!gone && refusedLately(hook) && <Badge tone="bad" icon={<ShieldOff aria-hidden />} className="whitespace-normal!">{t("refused_lately")}</Badge>}
    </>
  );
}

/** Why it rests. */
export function RestBadge({ pause }: { pause: NonNullable<Hook["pause"]> }) {
  const t = useT("webhooks");
  const person = pause.reason === "person";
  return <Badge tone={person ? "neutral" : "bad"} className="whitespace-normal!" icon={person ? <Pause aria-hidden /> : <TriangleAlert aria-hidden />} {...(pause.note && { title: pause.note })}>{t(`rests_${pause.reason}`)}</Badge>;
}
