import { Download, ScrollText, SlidersHorizontal } from "lucide-react";
import { useState } from "react";
import { type AuditQuery, useAudit, useAuditActions, useMe } from "@/api/hooks";
import type { AuditEntry, AuditResult } from "@/api/types";
import { useT } from "@/i18n";
import { Button, EmptyState, ErrorState, IconButton, Menu, MenuItem, Page, PagedList, Skeleton, Table, Time } from "@/ui";
import { useFilters } from "../runs/parts/filters";
import { Check } from "./parts/Check";
import { EntrySheet } from "./parts/EntrySheet";
import { Filters, NAMES, type Wanted } from "./parts/Filters";
import { Actor, ResultBadge } from "./parts/labels";
import { Retention } from "./parts/Retention";

/** Who did what, when and from where. */
export default function AuditPage() {
  const t = useT("audit");
  const { data: me } = useMe();
  if (me?.role === "admin") return <Entries />;
  return <Page title={t("title")} width="text">{me ? <EmptyState icon={<ScrollText />} title={t("not_allowed")}>{t("not_allowed_text")}</EmptyState> : <Skeleton rows={6} />}</Page>;
}

function queryOf(wanted: Wanted): AuditQuery {
  const day = (text: string, after: number) => {
    const at = new Date(`${text}T00:00:00`);
    at.setDate(at.getDate() + after);
    return at.getTime();
  };
  return {
    ...(wanted.actor && { actor: wanted.actor }),
    ...(wanted.action && { action: wanted.action }),
    ...(wanted.target && { target: wanted.target }),
    ...(wanted.result && { result: wanted.result as AuditResult }),
    ...(wanted.run && { run: wanted.run }),
    ...(wanted.from && { from: day(wanted.from, 0) }),
    ...(wanted.to && { to: day(wanted.to, 1) }),
    ...(wanted.q && { text: wanted.q }),
  };
}

function Entries() {
  const t = useT("audit");
  const [wanted, set] = useFilters(NAMES);
  const query = queryOf(wanted);
  const list = useAudit(query, true);
  const actions = useAuditActions();
  const [shown, setShown] = useState<AuditEntry | null>(null);
  const filtered = NAMES.some((name) => wanted[name] !== "");
  const clear = () => set(Object.fromEntries(NAMES.map((name) => [name, ""])));
  return (
    <Page
      title={t("title")}
      lead={t("lead")}
      actions={
        <>
          <Check />
          <Menu trigger={<IconButton size="sm" label={t("export")}><Download /></IconButton>}>
            <MenuItem onSelect={() => actions.export.mutate({ format: "csv", query })} hint={filtered ? t("export_filtered") : undefined}>{t("export_csv")}</MenuItem>
            <MenuItem onSelect={() => actions.export.mutate({ format: "jsonl", query })} hint={filtered ? t("export_filtered") : undefined}>{t("export_jsonl")}</MenuItem>
          </Menu>
          <Retention />
        </>
      }
    >
      {actions.export.error && <ErrorState inline error={actions.export.error} className="mb-3" />}
      <Filters wanted={wanted} set={set} />
      <div className="overflow-hidden rounded-lg border border-line bg-surface">
        <PagedList
          list={list}
          empty={
            filtered ? (
              <EmptyState icon={<SlidersHorizontal />} title={t("none_title")} action={<Button onClick={clear}>{t("clear")}</Button>}>{t("none_text")}</EmptyState>
            ) : (
              <EmptyState icon={<ScrollText />} title={t("empty_title")}>{t("empty_text")}</EmptyState>
            )
          }
        >
          <div className="max-md:hidden">
            <Table<AuditEntry>
              caption={t("title")}
              rows={list.items}
              rowKey={(entry) => String(entry.seq)}
              onRow={setShown}
              columns={[
                { key: "when", head: t("when"), className: "whitespace-nowrap text-sm text-ink-2", cell: (entry) => <Time at={entry.at} /> },
                { key: "actor", head: t("actor"), className: "max-w-56", cell: (entry) => <Actor entry={entry} /> },
                { key: "action", head: t("action"), cell: (entry) => <button type="button" className="font-mono text-sm hover:underline" onClick={(event) => (event.stopPropagation(), setShown(entry))}>{entry.action}</button> },
                { key: "target", head: t("target"), className: "w-full max-w-0", cell: (entry) => <span className="block truncate text-sm text-ink-2" title={entry.target}>{nameOf(entry)}</span> },
                { key: "result", head: t("result"), className: "text-right", cell: (entry) => <ResultBadge result={entry.result} /> },
              ]}
            />
          </div>
          <ul className="divide-y divide-line md:hidden">
            {list.items.map((entry) => (
              <li key={entry.seq}>
                <button type="button" onClick={() => setShown(entry)} className="flex w-full flex-col gap-1 px-4 py-3 text-left active:bg-hover">
                  <span className="flex w-full items-center gap-2"><span className="min-w-0 flex-1 truncate font-mono text-sm">{entry.action}</span><ResultBadge result={entry.result} /></span>
                  <span className="truncate text-sm text-ink-2">{nameOf(entry)}</span>
                  <span className="flex flex-wrap gap-x-3 text-sm text-ink-3"><Actor entry={entry} /><Time at={entry.at} className="ml-auto" /></span>
                </button>
              </li>
            ))}
          </ul>
        </PagedList>
      </div>
      {shown && <EntrySheet entry={shown} onClose={() => setShown(null)} onFilter={(patch) => (setShown(null), set(patch))} />}
    </Page>
  );
}

/** The name of what it was done to, where the entry has one. */
function nameOf(entry: AuditEntry): string {
  const name = entry.detail.name;
  return typeof name === "string" ? name : entry.target;
}
