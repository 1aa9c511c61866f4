import { SlidersHorizontal } from "lucide-react";
import { isAdmin, isOperator, useMe } from "@/api/hooks";
import { useT } from "@/i18n";
import { EmptyState, Page, Skeleton, Tabs } from "@/ui";
import { useFilters } from "../runs/parts/filters";
import { HealthCard } from "./parts/HealthCard";
import { Settings } from "./parts/Settings";

const TABS = ["settings", "health"] as const;

/** The settings of the program, and how everything is that it needs. */
export default function SystemPage() {
  const t = useT("system");
  const { data: me } = useMe();
  const [{ tab }, set] = useFilters(["tab"] as const);
  if (!me) return <Page title={t("title")}><Skeleton rows={8} /></Page>;
  if (!isOperator(me) || !me.installation) return <Page title={t("title")} width="text"><EmptyState icon={<SlidersHorizontal />} title={t("not_allowed")}>{t("not_allowed_text")}</EmptyState></Page>;
  // Operators see how it is; what is set is an administrator's.
  if (!isAdmin(me)) return <Page title={t("title")} lead={t("operators")}><HealthCard /></Page>;
  const value = TABS.find((name) => name === tab) ?? "settings";
  const content = { settings: <Settings />, health: <HealthCard /> };
  return (
    <Page title={t("title")}>
      <Tabs label={t("title")} value={value} onChange={(next) => set({ tab: next === "settings" ? "" : next })} tabs={TABS.map((name) => ({ value: name, label: t(`tab_${name}`), content: name === value ? content[name] : null }))} />
    </Page>
  );
}
