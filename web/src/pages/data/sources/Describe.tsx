import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { useDatasourceActions, useDatasourceSchema } from "@/api/hooks";
import type { Datasource } from "@/api/types";
import { useT } from "@/i18n";
import { Button, Checkbox, Dialog, ErrorState, SearchInput, Skeleton, toast } from "@/ui";
import { handOver } from "../parts/hand-over";
import { LeftOut } from "./LeftOut";

/** Writes first texts about chosen tables: to look at in the editor, or kept at once. */
export function Describe({ source, onClose }: { source: Datasource; onClose: () => void }) {
  const t = useT("data");
  const navigate = useNavigate();
  const schema = useDatasourceSchema(source.id, true);
  const { init } = useDatasourceActions();
  const [chosen, setChosen] = useState<ReadonlySet<string> | null>(null);
  const [words, setWords] = useState("");
  const tables = schema.data?.tables ?? [];
  // At first all that no domain describes.
  const now = chosen ?? new Set(tables.filter((table) => table.domains.length === 0).map((table) => table.name));
  const shown = tables.filter((table) => table.name.toLowerCase().includes(words.trim().toLowerCase()));
  const toggle = (name: string, on: boolean) => setChosen(new Set(on ? [...now, name] : [...now].filter((one) => one !== name)));
  const describe = (save: boolean) =>
    init.mutate({ id: source.id, tables: [...now], save }, {
      onSuccess: (made) => {
        onClose();
        if (made.saved) return toast({ title: t("described", { count: made.domains.length }), action: { label: t("show"), run: () => void navigate({ to: "/data" }) } });
        handOver(made.text);
        void navigate({ to: "/data/editor", search: { handed: 1 } as never });
      },
    });
  return (
    <Dialog
      open
      wide
      onOpenChange={onClose}
      title={t("describe_title", { name: source.name })}
      description={t("describe_text")}
      footer={<><Button onClick={onClose}>{t("cancel")}</Button><Button disabled={now.size === 0 || init.isPending} onClick={() => describe(true)}>{t("describe_save")}</Button><Button variant="primary" disabled={now.size === 0} loading={init.isPending} onClick={() => describe(false)}>{t("describe_open", { count: now.size })}</Button></>}
    >
      <div className="flex flex-col gap-3 pb-1">
        {init.error ? <ErrorState inline error={init.error} /> : null}
        {schema.error ? <ErrorState inline error={schema.error} onRetry={() => void schema.refetch()} /> : !schema.data ? <Skeleton rows={6} /> : tables.length === 0 ? <p className="text-base text-ink-2">{t("no_tables")}</p> : (
          <>
            <div className="flex flex-wrap items-center gap-2">
              {tables.length > 12 && <SearchInput className="w-60" label={t("search_tables")} value={words} onChange={setWords} />}
              <Button size="sm" variant="quiet" onClick={() => setChosen(new Set([...now, ...shown.map((table) => table.name)]))}>{t("choose_all")}</Button>
              <Button size="sm" variant="quiet" onClick={() => setChosen(new Set([...now].filter((name) => !shown.some((table) => table.name === name))))}>{t("choose_none")}</Button>
            </div>
            <div role="group" aria-label={t("tables")} className="grid gap-2 md:grid-cols-2">
              {shown.map((table) => <Checkbox key={table.name} label={table.name} hint={[t("column_count", { count: table.columns.length }), table.domains.length > 0 && t("described_by", { names: table.domains.join(", ") })].filter(Boolean).join(" · ")} checked={now.has(table.name)} onChange={(on) => toggle(table.name, on)} />)}
            </div>
            <LeftOut files={schema.data.left_out} />
          </>
        )}
      </div>
    </Dialog>
  );
}
