import { Link } from "@tanstack/react-router";
import { Package, TriangleAlert } from "lucide-react";
import { isOperator, useMe, usePackageActions, usePackages, useReadyPackages } from "@/api/hooks";
import type { PackageState, SkillPackage } from "@/api/types";
import { useT } from "@/i18n";
import { Badge, Button, EmptyState, PagedList, Time, toast, type Tone } from "@/ui";
import { useFailed } from "./actions";

const TONES: Record<PackageState, Tone> = { quarantined: "warn", active: "ok", replaced: "neutral", removed: "neutral" };

export function PackageStateBadge({ state }: { state: PackageState }) {
  const t = useT("skills");
  return <Badge tone={TONES[state]}>{t(`state_${state}`)}</Badge>;
}

/** How many findings of each weight; nothing where there are none. */
export function FindingCounts({ findings }: { findings: SkillPackage["findings"] }) {
  const t = useT("skills");
  const count = (severity: string) => findings.filter((one) => one.severity === severity).length;
  const [danger, warning] = [count("danger"), count("warning")];
  return (
    <>
      {danger > 0 && <Badge tone="bad" icon={<TriangleAlert aria-hidden />}>{t("dangers", { count: danger })}</Badge>}
      {warning > 0 && <Badge tone="warn">{t("warnings", { count: warning })}</Badge>}
    </>
  );
}

/** Imported packages, and those that come with Steward. */
export function Packages({ onImport }: { onImport: () => void }) {
  const t = useT("skills");
  const operator = isOperator(useMe().data);
  const list = usePackages();
  const empty = <div className="rounded-lg border border-line bg-surface"><EmptyState icon={<Package />} title={t("packages_empty")} action={operator && <Button onClick={onImport}>{t("import")}</Button>}>{t(operator ? "packages_empty_text" : "packages_empty_rest")}</EmptyState></div>;
  return (
    <div className="flex flex-col gap-7">
      <PagedList list={list} empty={empty}>
        <ul aria-label={t("tab_packages")} className="divide-y divide-line rounded-lg border border-line bg-surface">
          {list.items.map((one) => (
            <li key={one.name} className="relative flex items-start gap-3 px-4 py-3 transition-colors first:rounded-t-lg last:rounded-b-lg hover:bg-hover">
              <Package aria-hidden className="mt-0.5 size-4.5 shrink-0 text-ink-3" />
              <div className="min-w-0 flex-1">
                <h2 className="text-base font-semibold"><Link to="/skills/packages/$packageName" params={{ packageName: one.name }} className="wrap-anywhere after:absolute after:inset-0 focus-visible:outline-none focus-visible:after:outline-2 focus-visible:after:outline-focus">{one.name}</Link></h2>
                <p className="mt-0.5 line-clamp-2 text-sm text-ink-2 wrap-anywhere">{one.description}</p>
                <p className="mt-1.5 flex flex-wrap items-center gap-1.5"><PackageStateBadge state={one.state} /><FindingCounts findings={one.findings} />{one.version && <Badge className="tabular">{one.version}</Badge>}<span className="text-xs text-ink-3">{t("revision_n", { n: one.revision })} · <Time relative at={one.at} /></span></p>
              </div>
            </li>
          ))}
        </ul>
      </PagedList>
      {operator && !list.isLoading && <Ready have={list.items} />}
    </div>
  );
}

function Ready({ have }: { have: SkillPackage[] }) {
  const t = useT("skills");
  const names = useReadyPackages();
  const failed = useFailed();
  const { import: take } = usePackageActions();
  const open = (names.data ?? []).filter((name) => !have.some((one) => one.name === name && one.state !== "removed"));
  if (open.length === 0) return null;
  return (
    <section aria-labelledby="ready" className="flex flex-col gap-3">
      <div><h2 id="ready" className="text-lg font-semibold">{t("ready")}</h2><p className="text-sm text-ink-2">{t("ready_text")}</p></div>
      <ul aria-label={t("ready")} className="grid gap-3 sm:grid-cols-2 lg:grid-cols-4">
        {open.map((name) => (
          <li key={name} className="flex items-center gap-2 rounded-lg border border-line bg-surface py-2 pr-2 pl-4">
            <span className="min-w-0 flex-1 truncate text-base font-medium">{name}</span>
            <Button size="sm" aria-label={t("install_name", { name })} disabled={take.isPending} loading={take.isPending && take.variables.file === name} onClick={() => take.mutate({ file: name }, { onSuccess: (one) => toast({ title: t(one.state === "active" ? "installed" : "in_quarantine", { name: one.name }) }), onError: failed })}>{t("install")}</Button>
          </li>
        ))}
      </ul>
    </section>
  );
}
