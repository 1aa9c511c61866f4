import { Cable, Plus } from "lucide-react";
import { useState } from "react";
import { isOperator, useConnectionActions, useConnectionHealth, useConnections, useMe } from "@/api/hooks";
import type { Connection } from "@/api/types";
import { useT } from "@/i18n";
import { ButtonLink, ConfirmDialog, EmptyState, ErrorState, Page, PagedList, toast, useErrorText } from "@/ui";
import { ConnectionCard } from "./parts/ConnectionCard";
import { ConnectionDialog } from "./parts/ConnectionDialog";
import { againOf, isSealed } from "./parts/form";
import { useTests } from "./parts/tests";

/** The endpoints that models are behind. */
export function ConnectionsPage() {
  const t = useT("connections");
  const list = useConnections();
  const health = useConnectionHealth();
  const operator = isOperator(useMe().data);
  const errorText = useErrorText();
  const { create, makeDefault, remove } = useConnectionActions();
  const [editing, setEditing] = useState<Connection | null>(null);
  const [removing, setRemoving] = useState<Connection | null>(null);
  const tests = useTests();
  const failed = (error: unknown) => {
    const { title, hint } = errorText(error);
    toast({ title, ...(hint && { detail: hint }), tone: "bad" });
  };
  const removeOne = (connection: Connection) =>
    remove.mutate(connection.id, {
      onSuccess: () => toast({ title: t("removed", { name: connection.name }), undo: () => void create.mutateAsync(againOf(connection)).then(() => toast({ title: t("restored", { name: connection.name }) }), failed) }),
      onError: failed,
    });
  const add = operator && <ButtonLink to="/connections/new" size="sm" variant="primary" icon={<Plus aria-hidden className="size-4" />}>{t("add")}</ButtonLink>;
  return (
    <Page title={t("title")} lead={t("lead")} width="text" actions={add}>
      <PagedList list={list} empty={<div className="rounded-lg border border-line bg-surface"><EmptyState icon={<Cable />} title={t("empty_title")} action={operator && <ButtonLink to="/connections/new">{t("add")}</ButtonLink>}>{t("empty_text")}</EmptyState></div>}>
        <ul className="flex flex-col gap-3">
          {list.items.map((connection) => (
            <ConnectionCard
              key={connection.id}
              connection={connection}
              health={health.data?.get(connection.id)}
              operator={operator}
              test={tests.of(connection.id)}
              onTest={() => tests.run(connection)}
              onEdit={() => setEditing(connection)}
              onDefault={() => makeDefault.mutate(connection.id, { onSuccess: () => toast({ title: t("made_default", { name: connection.name }) }), onError: failed })}
              onRemove={() => (isSealed(connection.auth.kind) ? setRemoving(connection) : removeOne(connection))}
            />
          ))}
        </ul>
      </PagedList>
      {removing && (
        <ConfirmDialog open onOpenChange={() => setRemoving(null)} title={t("remove_title", { name: removing.name })} description={t("remove_text")} confirm={t("remove")} danger busy={remove.isPending} onConfirm={() => remove.mutate(removing.id, { onSuccess: () => (setRemoving(null), toast({ title: t("removed", { name: removing.name }) })) })}>
          {remove.error && <ErrorState inline error={remove.error} />}
        </ConfirmDialog>
      )}
      {editing && <ConnectionDialog connection={editing} onClose={() => setEditing(null)} onTest={tests.run} />}
    </Page>
  );
}
