import { useT } from "@/i18n";
import { Page, Tabs } from "@/ui";
import { useFilters } from "../runs/parts/filters";
import { Budgets } from "./parts/Budgets";
import { Keys } from "./parts/Keys";
import { Usage } from "./parts/Usage";

const TABS = ["usage", "budgets", "keys"] as const;

/** What models were asked and what it cost, what may be spent, and who may spend it from outside. */
export default function UsagePage() {
  const t = useT("usage");
  const [{ tab }, set] = useFilters(["tab"] as const);
  const value = TABS.find((name) => name === tab) ?? "usage";
  const content = { usage: <Usage />, budgets: <Budgets />, keys: <Keys /> };
  return (
    <Page title={t("title")}>
      <Tabs label={t("title")} value={value} onChange={(next) => set({ tab: next === "usage" ? "" : next })} tabs={TABS.map((name) => ({ value: name, label: t(`tab_${name}`), content: name === value ? content[name] : null }))} />
    </Page>
  );
}
