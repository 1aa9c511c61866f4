import { Database, Ellipsis, FileText, Pencil, Plug, Plus, Trash2 } from "lucide-react";
import { useState } from "react";
import { useDatasourceActions, useDatasources } from "@/api/hooks";
import type { Datasource, DatasourceSchema } from "@/api/types";
import { useT } from "@/i18n";
import { Badge, Button, ConfirmDialog, EmptyState, ErrorState, formatNumber, IconButton, Menu, MenuItem, Skeleton, Table, toast } from "@/ui";
import { useFilters } from "../../runs/parts/filters";
import { Area } from "../parts/Area";
import { OperatorsOnly } from "../parts/OperatorsOnly";
import { Describe } from "./Describe";
import { LeftOut } from "./LeftOut";
import { SourceDialog } from "./SourceDialog";

/** Users' databases. */
export function SourcesPage() {
  const t = useT("data");
  return <OperatorsOnly title={t("sources_title")}><Sources /></OperatorsOnly>;
}

function Sources() {
  const t = useT("data");
  const list = useDatasources();
  const { check, remove } = useDatasourceActions();
  // Links from other pages open the dialogs.
  const [{ add: adding, describe: described }, set] = useFilters(["add", "describe"] as const);
  const [edited, setEditing] = useState<Datasource | "new" | null>(null);
  const editing = edited ?? (adding ? "new" : null);
  const [removing, setRemoving] = useState<Datasource | null>(null);
  const [describes, setDescribes] = useState(described);
  const describing = list.data?.find((source) => source.id === describes);
  const setDescribing = (source: Datasource | null) => setDescribes(source?.id ?? "");
  // Checks may overlap: each has its own result.
  const [checks, setChecks] = useState<Record<string, { busy: boolean; schema?: DatasourceSchema; error?: unknown }>>({});
  const runCheck = (id: string) => {
    setChecks((old) => ({ ...old, [id]: { busy: true } }));
    check.mutateAsync(id).then((schema) => setChecks((old) => ({ ...old, [id]: { busy: false, schema } })), (error: unknown) => setChecks((old) => ({ ...old, [id]: { busy: false, error } })));
  };
  const add = <Button size="sm" variant="primary" icon={<Plus aria-hidden className="size-4" />} onClick={() => setEditing("new")}>{t("source_add")}</Button>;
  return (
    <Area title={t("sources_title")} lead={t("sources_lead")} width="text" actions={list.data && list.data.length > 0 && add}>
      {list.error && !list.data ? <ErrorState error={list.error} onRetry={() => void list.refetch()} /> : !list.data ? <Skeleton rows={5} /> : list.data.length === 0 ? <EmptyState icon={<Database />} title={t("sources_empty")} action={add}>{t("sources_empty_text")}</EmptyState> : (
        <ul aria-label={t("sources_title")} className="flex flex-col gap-3">
          {list.data.map((source) => {
            const state = checks[source.id];
            return (
              <li key={source.id} className="rounded-lg border border-line bg-surface px-4 py-3">
                <div className="flex flex-wrap items-center gap-2">
                  <Database aria-hidden className="size-4 text-ink-3" />
                  <h2 className="text-base font-semibold wrap-anywhere">{source.name}</h2>
                  <Badge>{t(`visibility_${source.visibility}`)}</Badge>
                  <Badge tone={source.writable ? "warn" : "neutral"}>{t(source.writable ? "may_change" : "read_only")}</Badge>
                  <span className="flex-1" />
                  <Button size="sm" loading={state?.busy ?? false} icon={<Plug aria-hidden className="size-3.5" />} onClick={() => runCheck(source.id)}>{t("check")}</Button>
                  <Button size="sm" icon={<FileText aria-hidden className="size-3.5" />} onClick={() => setDescribing(source)}>{t("describe")}</Button>
                  <Menu trigger={<IconButton size="sm" label={t("actions_for", { name: source.name })}><Ellipsis /></IconButton>}>
                    <MenuItem icon={<Pencil />} onSelect={() => setEditing(source)}>{t("edit")}</MenuItem>
                    <MenuItem icon={<Trash2 />} danger onSelect={() => setRemoving(source)}>{t("remove")}</MenuItem>
                  </Menu>
                </div>
                <p className="mt-1 font-mono text-sm text-ink-2 wrap-anywhere">{source.database}</p>
                {state?.error ? <ErrorState inline error={state.error} onRetry={() => runCheck(source.id)} className="mt-2" /> : null}
                {state?.schema && <Tables schema={state.schema} name={source.name} onDescribe={() => setDescribing(source)} />}
              </li>
            );
          })}
        </ul>
      )}
      {editing && <SourceDialog source={editing === "new" ? null : editing} onClose={() => (setEditing(null), adding && set({ add: "" }))} onSaved={(saved) => runCheck(saved.id)} />}
      {describing && <Describe source={describing} onClose={() => setDescribing(null)} />}
      {removing && (
        <ConfirmDialog open danger busy={remove.isPending} onOpenChange={() => (remove.reset(), setRemoving(null))} title={t("source_remove", { name: removing.name })} description={t("source_remove_text")} confirm={t("remove")} onConfirm={() => remove.mutate(removing.id, { onSuccess: () => (toast({ title: t("source_removed", { name: removing.name }) }), setRemoving(null)) })}>
          {remove.error ? <ErrorState inline error={remove.error} /> : null}
        </ConfirmDialog>
      )}
    </Area>
  );
}

function Tables({ schema, name, onDescribe }: { schema: DatasourceSchema; name: string; onDescribe: () => void }) {
  const t = useT("data");
  return (
    <div className="mt-2">
      <p className="flex items-center gap-2 text-base text-ok">{t("check_ok", { count: schema.tables.length })}</p>
      <LeftOut files={schema.left_out} />
      {schema.tables.some((table) => table.domains.length === 0) && (
        <p className="my-2 flex flex-wrap items-center gap-x-3 gap-y-1.5 text-base text-ink-2">
          <Button size="sm" icon={<FileText aria-hidden className="size-3.5" />} onClick={onDescribe}>{t("describe_next")}</Button>
          {t("describe_why")}
        </p>
      )}
      <details className="mt-1">
        <summary className="w-fit rounded-md text-sm text-ink-3 hover:text-ink">{t("tables")}</summary>
        <Table
          caption={t("tables_of", { name })}
          rows={schema.tables}
          rowKey={(table) => table.name}
          columns={[
            { key: "table", head: t("table"), cell: (table) => <span className="font-mono text-sm">{table.name}{table.view && <Badge className="ml-2">{t("db_view")}</Badge>}</span> },
            { key: "columns", head: t("columns"), className: "text-right", cell: (table) => formatNumber(table.columns.length) },
            { key: "rows", head: t("rows"), className: "text-right", cell: (table) => (table.rows === null ? "–" : `≈ ${formatNumber(table.rows)}`) },
            { key: "domains", head: t("domains"), cell: (table) => table.domains.join(", ") || <span className="text-ink-3">{t("not_described")}</span> },
          ]}
        />
      </details>
    </div>
  );
}
