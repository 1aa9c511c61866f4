import { useState } from "react";
import { useAgentDatabase, useAgentTable, useOwnDataActions } from "@/api/hooks";
import type { OwnTable } from "@/api/types";
import { useT } from "@/i18n";
import { Badge, Button, ConfirmDialog, ErrorState, Skeleton, formatBytes, toast } from "@/ui";
import { KeptTextEditor } from "./KeptTextEditor";
import { cellText } from "./kept-text";

/** The private database of an agent: its tables with their rows, and what the agent has written down about them. */
export function AgentDatabase({ agent, disabled }: { agent: string; disabled: boolean }) {
  const t = useT("agents");
  const found = useAgentDatabase(agent);
  const { saveDocumentation, clearDatabase, restoreDatabase } = useOwnDataActions(agent);
  const [open, setOpen] = useState<string | null>(null);
  const [clearing, setClearing] = useState(false);
  if (found.error) return <ErrorState inline error={found.error} onRetry={() => void found.refetch()} />;
  if (!found.data) return <Skeleton rows={3} />;
  const database = found.data;
  const back = () => restoreDatabase.mutate(undefined, { onSuccess: () => toast({ about: "own", title: t("own_restored") }), onError: (error) => toast({ about: "own", title: error.message, tone: "bad" }) });
  const clear = () => clearDatabase.mutate(undefined, { onSuccess: () => (setClearing(false), setOpen(null), toast({ about: "own", title: t("own_cleared"), undo: back })) });
  return (
    <div className="flex flex-col gap-3">
      <div className="flex flex-wrap items-center gap-2">
        <h3 className="text-base font-semibold">{t(database.shared ? "own_tables_shared" : "own_tables_user")}</h3>
        <span className="flex-1 text-sm text-ink-3 tabular">{t("own_size", { size: formatBytes(database.bytes), most: formatBytes(database.most_bytes) })}</span>
        {!disabled && database.has_copy && <Button size="sm" type="button" loading={restoreDatabase.isPending} onClick={back}>{t("own_restore")}</Button>}
        {!disabled && database.tables.length > 0 && <Button size="sm" type="button" variant="danger" onClick={() => setClearing(true)}>{t("own_clear")}</Button>}
      </div>
      {database.origins.length > 0 && <p className="text-sm text-ink-3">{t("own_origins", { origins: database.origins.join(", ") })}</p>}
      {database.tables.length === 0 ? (
        <p className="text-sm text-ink-3">{t("own_tables_none")}</p>
      ) : (
        <ul aria-label={t("own_tables")} className="divide-y divide-line rounded-lg border border-line bg-surface">
          {database.tables.map((table) => (
            <li key={table.name}>
              <TableLine table={table} open={open === table.name} onOpen={() => setOpen(open === table.name ? null : table.name)} />
              {open === table.name && <Rows agent={agent} table={table.name} />}
            </li>
          ))}
        </ul>
      )}
      <KeptTextEditor label={t("own_doc")} hint={t("own_doc_hint")} kept={database.documentation} disabled={disabled} save={saveDocumentation} reread={() => found.refetch().then(({ data }) => data?.documentation)} />
      {clearing && <ConfirmDialog open danger title={t("own_clear_title")} description={t("own_clear_text")} confirm={t("own_clear")} busy={clearDatabase.isPending} onOpenChange={() => setClearing(false)} onConfirm={clear} />}
    </div>
  );
}

function TableLine({ table, open, onOpen }: { table: OwnTable; open: boolean; onOpen: () => void }) {
  const t = useT("agents");
  return (
    <button type="button" aria-expanded={open} onClick={onOpen} className="flex w-full items-center gap-3 px-3 py-2 text-left hover:bg-hover max-md:min-h-10">
      <span className="font-mono text-sm">{table.name}</span>
      <span className="min-w-0 flex-1 truncate text-sm text-ink-3">{table.columns.map(({ name }) => name).join(", ")}</span>
      {table.view ? <Badge>{t("own_view")}</Badge> : <span className="text-sm text-ink-3 tabular">{t("own_rows", { count: table.rows ?? 0 })}</span>}
    </button>
  );
}

function Rows({ agent, table }: { agent: string; table: string }) {
  const t = useT("agents");
  const found = useAgentTable(agent, table);
  if (found.error) return <div className="p-3"><ErrorState inline error={found.error} onRetry={() => void found.refetch()} /></div>;
  if (found.isLoading) return <div className="p-3"><Skeleton rows={3} /></div>;
  return (
    <div className="overflow-x-auto border-t border-line bg-sunken">
      <table className="w-full border-collapse text-sm tabular">
        <caption className="sr-only">{table}</caption>
        <thead><tr className="text-left text-xs text-ink-3">{found.columns.map((column, at) => <th key={at} scope="col" className="px-3 py-1.5 font-medium whitespace-nowrap">{column}</th>)}</tr></thead>
        <tbody>
          {found.rows.map((row, at) => (
            <tr key={at} className="border-t border-line">{row.map((value, place) => <td key={place} className="max-w-64 truncate px-3 py-1.5" title={cellText(value)}>{cellText(value)}</td>)}</tr>
          ))}
        </tbody>
      </table>
      {found.rows.length === 0 && <p className="px-3 py-2 text-sm text-ink-3">{t("own_rows_none")}</p>}
      {found.hasNextPage && <div className="p-2"><Button size="sm" type="button" variant="quiet" loading={found.isFetchingNextPage} onClick={() => void found.fetchNextPage()}>{t("own_rows_more")}</Button></div>}
    </div>
  );
}
