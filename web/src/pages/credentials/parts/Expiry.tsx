import { TriangleAlert } from "lucide-react";
import { useT } from "@/i18n";
import { Badge, formatAgo, Time } from "@/ui";
import { expiryOf } from "./form";

/** When a credential ends. `badge`: only where somebody has to act; without: only where nobody has to yet. */
export function Expiry({ at, badge }: { at: number | null; badge?: boolean }) {
  const t = useT("credentials");
  const expiry = expiryOf(at, Date.now());
  if (at === null) return null;
  if (expiry === "later") return badge ? null : <> · {t("ends_on")} <Time at={at} /></>;
  if (!badge) return null;
  return <Badge tone={expiry === "past" ? "bad" : "warn"} icon={<TriangleAlert aria-hidden />} title={new Date(at).toISOString()}>{t(expiry === "past" ? "ended" : "ends_in", { when: formatAgo(at) })}</Badge>;
}
