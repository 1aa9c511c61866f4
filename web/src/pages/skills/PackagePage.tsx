import { Link, useParams } from "@tanstack/react-router";
import { ArrowLeft, Download, Ellipsis, Trash2, UserPlus } from "lucide-react";
import { type ReactNode, useState } from "react";
import { exportPackage, isOperator, useAllSkills, useMe, usePackage } from "@/api/hooks";
import type { SkillPackage } from "@/api/types";
import { useT } from "@/i18n";
import { Button, Card, CopyButton, ErrorState, Facts, formatBytes, IconButton, Menu, MenuItem, Page, Select, Skeleton, Time } from "@/ui";
import { useFilters } from "../runs/parts/filters";
import { AcceptDialog, GiveDialog, RemoveDialog } from "./parts/accept";
import { useFailed } from "./parts/actions";
import { Changes } from "./parts/Changes";
import { Findings } from "./parts/Findings";
import { SkillBadges } from "./parts/labels";
import { FindingCounts, PackageStateBadge } from "./parts/Packages";

/** One package: what it holds and wants, what the scan found, what a new revision changes. */
export function PackagePage() {
  const t = useT("skills");
  const { packageName } = useParams({ strict: false }) as { packageName: string };
  const list = usePackage(packageName);
  const [{ revision }, set] = useFilters(["revision"] as const);
  const back = <Link to="/skills" search={{ tab: "packages" }} tabIndex={-1}><IconButton label={t("back_packages")} className="-ml-2"><ArrowLeft /></IconButton></Link>;
  const shown = list.items.find((one) => String(one.revision) === revision) ?? list.items[0];
  if (!shown) return <Page title={packageName} back={back}>{list.error ? <ErrorState error={list.error} onRetry={list.retry} /> : <Skeleton rows={8} />}</Page>;
  return <One key={shown.revision} shown={shown} all={list.items} back={back} onRevision={(next) => set({ revision: next })} />;
}

function One({ shown, all, back, onRevision }: { shown: SkillPackage; all: SkillPackage[]; back: ReactNode; onRevision: (revision: string) => void }) {
  const t = useT("skills");
  const operator = isOperator(useMe().data);
  const failed = useFailed();
  const [dialog, setDialog] = useState<"accept" | "give" | "remove" | null>(null);
  const active = all.find((one) => one.state === "active");
  const close = () => setDialog(null);
  const accept = shown.state === "quarantined" ? (active ? "accept_upgrade" : "accept") : shown.state === "replaced" ? "accept_back" : "accept_again";
  const use = operator && shown.state !== "active" && <Button size="sm" variant="primary" onClick={() => setDialog("accept")}>{t(accept)}</Button>;
  const { permissions } = shown;
  const words = (list: string[]) => (list.length > 0 ? <span className="font-mono text-sm">{list.join(", ")}</span> : t("nothing"));
  return (
    <Page
      title={shown.name}
      back={back}
      width="text"
      actions={
        <>
          <Button size="sm" icon={<Download aria-hidden className="size-3.5" />} onClick={() => void exportPackage(shown.name, shown.revision).catch(failed)}>{t("export")}</Button>
          {operator && shown.state === "active" && <Button size="sm" icon={<UserPlus aria-hidden className="size-3.5" />} onClick={() => setDialog("give")}>{t("give_agent")}</Button>}
          {use}
          {operator && all.some((one) => one.state === "active" || one.state === "quarantined") && <Menu trigger={<IconButton size="sm" label={t("actions_for", { name: shown.name })}><Ellipsis /></IconButton>}><MenuItem icon={<Trash2 />} danger onSelect={() => setDialog("remove")}>{t("remove_package")}</MenuItem></Menu>}
        </>
      }
    >
      <div className="flex flex-col gap-5">
        <div className="flex flex-col gap-2">
          <p className="flex flex-wrap items-center gap-1.5"><PackageStateBadge state={shown.state} /><FindingCounts findings={shown.findings} /><span className="text-sm text-ink-3"><Time relative at={shown.at} /> · {shown.by}</span></p>
          <p className="text-base text-ink-2 wrap-anywhere">{shown.description}</p>
          {shown.state === "quarantined" && <p className="rounded-lg bg-warn-soft px-4 py-2.5 text-base text-warn">{t(operator ? "quarantine_text" : "quarantine_wait")}</p>}
          {all.length > 1 && (
            <p className="flex items-center gap-2 text-sm text-ink-2"><span aria-hidden>{t("revision")}</span>
              <Select small aria-label={t("revision")} value={String(shown.revision)} onChange={(event) => onRevision(event.target.value)}>{all.map((one) => <option key={one.revision} value={one.revision}>{t("revision_of", { n: one.revision, state: t(`state_${one.state}`) })}</option>)}</Select>
            </p>
          )}
        </div>
        <Findings findings={shown.findings} />
        <Card title={t("about")}>
          <Facts
            items={[
              ...(shown.version ? [[t("author_version"), shown.version] as [ReactNode, ReactNode]] : []),
              [t("hash"), <span key="hash" className="inline-flex max-w-full items-center gap-1"><code data-hash className="min-w-0 font-mono text-xs wrap-anywhere">{shown.hash}</code><CopyButton text={shown.hash} /></span>],
              [t("may_network"), words(permissions.network)],
              [t("may_tools"), words(permissions.tools)],
              [t("may_credentials"), words(permissions.credentials)],
              [t("may_scripts"), t(permissions.scripts ? "yes" : "no")],
            ]}
          />
        </Card>
        <Skills ids={shown.skills} />
        <Files files={shown.files} />
        <Changes shown={shown} all={all} />
      </div>
      {dialog === "accept" && <AcceptDialog one={shown} label={t(accept)} onClose={close} />}
      {dialog === "give" && <GiveDialog one={shown} onClose={close} />}
      {dialog === "remove" && <RemoveDialog name={shown.name} onClose={close} />}
    </Page>
  );
}

function Skills({ ids }: { ids: string[] }) {
  const t = useT("skills");
  const all = useAllSkills(ids.length > 0);
  if (ids.length === 0) return null;
  const made = (all.data ?? []).filter((skill) => ids.includes(skill.id));
  return (
    <Card title={t("package_skills", { count: ids.length })} pad={false}>
      {all.isLoading ? <Skeleton rows={2} className="p-4" /> : <ul className="divide-y divide-line">{made.map((skill) => <li key={skill.id} className="flex flex-wrap items-center gap-2 px-4 py-2"><Link to="/skills/$skillId" params={{ skillId: skill.id }} className="min-w-0 flex-1 font-mono text-sm text-accent-ink wrap-anywhere hover:underline">{skill.name}</Link><SkillBadges skill={skill} version={false} /></li>)}</ul>}
    </Card>
  );
}

/** References first: they are what an agent looks into. */
function Files({ files }: { files: SkillPackage["files"] }) {
  const t = useT("skills");
  const place = (path: string) => (path.startsWith("references/") ? "references" : path.startsWith("scripts/") ? "scripts" : path.startsWith("skills/") ? "definitions" : "others");
  const entries = Object.entries(files).sort(([one], [other]) => one.localeCompare(other));
  return (
    <Card title={t("files", { count: entries.length })} pad={false}>
      {(["references", "definitions", "scripts", "others"] as const).map((group) => {
        const own = entries.filter(([path]) => place(path) === group);
        return own.length > 0 && (
          <section key={group} aria-label={t(`files_${group}`)} className="border-b border-line px-4 py-2.5 last:border-0">
            <h3 className="text-xs font-medium text-ink-3">{t(`files_${group}`)}</h3>
            <ul className="mt-1">{own.map(([path, bytes]) => <li key={path} className="flex items-baseline gap-3 py-0.5"><code className="min-w-0 flex-1 font-mono text-sm wrap-anywhere">{path}</code><span className="text-xs text-ink-3 tabular">{formatBytes(bytes)}</span></li>)}</ul>
          </section>
        );
      })}
    </Card>
  );
}
