import { useState } from "react";
import { useCollectionActions } from "@/api/hooks";
import { limits } from "@/api/limits";
import type { Collection } from "@/api/types";
import { useT } from "@/i18n";
import { Button, Dialog, ErrorState, Field, Input, Switch, Textarea, toast } from "@/ui";
import { isWorkspace } from "./target";

type Props = { collection: Collection | null; onClose: () => void; onMade?: (collection: Collection) => void };

/** Makes a collection, or changes its name and description. */
export function CollectionDialog({ collection, onClose, onMade }: Props) {
  const t = useT("documents");
  const { create, update } = useCollectionActions();
  const [name, setName] = useState(collection?.name ?? "");
  const [description, setDescription] = useState(collection?.description ?? "");
  const [open, setOpen] = useState(false);
  const [tried, setTried] = useState(false);
  const error = create.error ?? update.error;
  const problem = name.trim() === "" ? t("name_missing") : null;
  // It is found by its name: under another one a new one would be made.
  const kept = collection !== null && isWorkspace(collection);
  const save = () => {
    setTried(true);
    if (problem) return void setTimeout(() => document.querySelector<HTMLElement>("[role=dialog] [aria-invalid]")?.focus());
    const body = { name: name.trim(), description: description.trim() };
    if (collection) return update.mutate({ id: collection.id, ...(kept ? {} : { name: body.name }), description: body.description }, { onSuccess: () => (toast({ title: t("saved") }), onClose()) });
    create.mutate({ ...body, open }, { onSuccess: (made) => (toast({ title: t("collection_made", { name: made.name }) }), onClose(), onMade?.(made)) });
  };
  return (
    <Dialog open onOpenChange={onClose} title={collection ? t("collection_edit_title", { name: collection.name }) : t("collection_new")} footer={<><Button onClick={onClose}>{t("cancel")}</Button><Button variant="primary" loading={create.isPending || update.isPending} onClick={save}>{t(collection ? "save" : "collection_create")}</Button></>}>
      <form noValidate className="flex flex-col gap-4 pb-1" onSubmit={(event) => (event.preventDefault(), save())}>
        {error && <ErrorState inline error={error} />}
        <Field label={t("name")} hint={kept ? t("workspace_name") : undefined} error={tried ? problem : null}>{(p) => <Input {...p} autoFocus={!kept} disabled={kept} autoComplete="off" maxLength={limits.CollectionInput.name.maxLength} value={name} onChange={(event) => setName(event.target.value)} />}</Field>
        <Field label={t("description")} hint={t("description_hint")}>{(p) => <Textarea {...p} maxLength={limits.CollectionInput.description.maxLength} value={description} onChange={(event) => setDescription(event.target.value)} />}</Field>
        {!collection && <Switch label={t("open_to_all")} hint={t("open_to_all_hint")} checked={open} onChange={setOpen} />}
        <button type="submit" hidden tabIndex={-1} aria-hidden />
      </form>
    </Dialog>
  );
}
