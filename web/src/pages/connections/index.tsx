import { Cable, Plus } from "lucide-react";
import { useState } from "react";
import { isOperator, useConnectionActions, useConnections, useMe } from "@/api/hooks";
import type { Connection, ConnectionTest } from "@/api/types";
import { useT } from "@/i18n";
import { Button, EmptyState, Page, PagedList, toast, useErrorText } from "@/ui";
import { ConnectionCard } from "./parts/ConnectionCard";
import { ConnectionDialog } from "./parts/ConnectionDialog";
import { inputOf } from "./parts/form";

type Tests = Record<string, { busy: boolean; report: ConnectionTest | null; error: unknown }>;

/** The endpoints that models are behind. */
export default function ConnectionsPage() {
  const t = useT("connections");
  const list = useConnections();
  const operator = isOperator(useMe().data);
  const errorText = useErrorText();
  const { create, makeDefault, remove, test } = useConnectionActions();
  const [editing, setEditing] = useState<Connection | "new" | null>(null);
  const [tests, setTests] = useState<Tests>({});
  const failed = (error: unknown) => {
    const { title, hint } = errorText(error);
    toast({ title, ...(hint && { detail: hint }), tone: "bad" });
  };
  const run = async ({ id }: Connection) => {
    const note = (entry: Tests[string]) => setTests((old) => ({ ...old, [id]: entry }));
    note({ busy: true, report: null, error: null });
    try {
      note({ busy: false, report: await test.mutateAsync(id), error: null });
    } catch (error) {
      note({ busy: false, report: null, error });
    }
  };
  const removeOne = (connection: Connection) =>
    remove.mutate(connection.id, {
      onSuccess: () => toast({ title: t("removed", { name: connection.name }), undo: () => void create.mutateAsync(inputOf(connection)).then(() => toast({ title: t("restored", { name: connection.name }) }), failed) }),
      onError: failed,
    });
  const add = operator && <Button size="sm" variant="primary" icon={<Plus aria-hidden className="size-4" />} onClick={() => setEditing("new")}>{t("add")}</Button>;
  return (
    <Page title={t("title")} lead={t("lead")} width="text" actions={add}>
      <PagedList list={list} empty={<div className="rounded-lg border border-line bg-surface"><EmptyState icon={<Cable />} title={t("empty_title")} action={operator && <Button onClick={() => setEditing("new")}>{t("add")}</Button>}>{t("empty_text")}</EmptyState></div>}>
        <ul className="flex flex-col gap-3">
          {list.items.map((connection) => (
            <ConnectionCard
              key={connection.id}
              connection={connection}
              operator={operator}
              test={tests[connection.id]}
              onTest={() => void run(connection)}
              onEdit={() => setEditing(connection)}
              onDefault={() => makeDefault.mutate(connection.id, { onSuccess: () => toast({ title: t("made_default", { name: connection.name }) }), onError: failed })}
              onRemove={() => removeOne(connection)}
            />
          ))}
        </ul>
      </PagedList>
      {editing && <ConnectionDialog connection={editing === "new" ? null : editing} onClose={() => setEditing(null)} onTest={(connection) => void run(connection)} />}
    </Page>
  );
}
