import { Plus, Upload } from "lucide-react";
import { useState } from "react";
import { isOperator, mayWork, useMe } from "@/api/hooks";
import { useT } from "@/i18n";
import { Button, ButtonLink, Page, Tabs } from "@/ui";
import { useFilters } from "../runs/parts/filters";
import { Catalogue } from "./parts/Catalogue";
import { Hosts } from "./parts/Hosts";
import { ImportDialog } from "./parts/ImportDialog";
import { Packages } from "./parts/Packages";

const TABS = ["catalogue", "packages", "hosts"] as const;

/** What agents can do: skills, and the packages they come in. */
export function SkillsPage() {
  const t = useT("skills");
  const me = useMe().data;
  const [{ tab }, set] = useFilters(["tab"] as const);
  const [importing, setImporting] = useState(false);
  // Fingerprints are for those who write skills.
  const tabs = TABS.filter((name) => name !== "hosts" || mayWork(me));
  const value = tabs.find((name) => name === tab) ?? "catalogue";
  const content = { catalogue: <Catalogue onImport={() => setImporting(true)} />, packages: <Packages onImport={() => setImporting(true)} />, hosts: <Hosts /> };
  return (
    <Page
      title={t("title")}
      lead={t("lead")}
      actions={
        <>
          {isOperator(me) && <Button size="sm" icon={<Upload aria-hidden className="size-3.5" />} {...(value === "packages" && { variant: "primary" as const })} onClick={() => setImporting(true)}>{t("import")}</Button>}
          {mayWork(me) && <ButtonLink to="/skills/new" size="sm" {...(value === "catalogue" && { variant: "primary" as const })} icon={<Plus aria-hidden className="size-4" />}>{t("new")}</ButtonLink>}
        </>
      }
    >
      <Tabs label={t("title")} value={value} onChange={(next) => set({ tab: next === "catalogue" ? "" : next })} tabs={tabs.map((name) => ({ value: name, label: t(`tab_${name}`), content: name === value ? content[name] : null }))} />
      {importing && <ImportDialog onClose={() => setImporting(false)} />}
    </Page>
  );
}
