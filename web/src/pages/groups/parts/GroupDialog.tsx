import { useState } from "react";
import { useGroupActions } from "@/api/hooks";
import { limits } from "@/api/limits";
import type { Group } from "@/api/types";
import { useT } from "@/i18n";
import { Button, Dialog, ErrorState, Field, Input, Textarea, toast } from "@/ui";

type Props = { group: Group | null; onClose: () => void; onMade?: (group: Group) => void };

/** Makes a group, or changes its name and description. */
export function GroupDialog({ group, onClose, onMade }: Props) {
  const t = useT("groups");
  const { create, update } = useGroupActions();
  const [name, setName] = useState(group?.name ?? "");
  const [description, setDescription] = useState(group?.description ?? "");
  const [tried, setTried] = useState(false);
  const error = create.error ?? update.error;
  const problem = name.trim() === "" ? t("name_missing") : null;
  const save = () => {
    setTried(true);
    if (problem) return void setTimeout(() => document.querySelector<HTMLElement>("[role=dialog] [aria-invalid]")?.focus());
    const body = { name: name.trim(), description: description.trim() };
    if (group) return update.mutate({ id: group.id, ...body }, { onSuccess: () => (toast({ title: t("saved") }), onClose()) });
    create.mutate(body, { onSuccess: (made) => (toast({ title: t("created", { name: made.name }) }), onClose(), onMade?.(made)) });
  };
  return (
    <Dialog open onOpenChange={onClose} title={group ? t("edit_title", { name: group.name }) : t("new_title")} footer={<><Button onClick={onClose}>{t("cancel")}</Button><Button variant="primary" loading={create.isPending || update.isPending} onClick={save}>{t(group ? "save" : "create")}</Button></>}>
      <form noValidate className="flex flex-col gap-4 pb-1" onSubmit={(event) => (event.preventDefault(), save())}>
        {error && <ErrorState inline error={error} />}
        <Field label={t("name")} error={tried ? problem : null}>{(p) => <Input {...p} autoFocus autoComplete="off" maxLength={limits.GroupInput.name.maxLength} value={name} onChange={(event) => setName(event.target.value)} />}</Field>
        <Field label={t("description")} hint={t("description_hint")}>{(p) => <Textarea {...p} maxLength={limits.GroupInput.description.maxLength} value={description} onChange={(event) => setDescription(event.target.value)} />}</Field>
        <button type="submit" hidden tabIndex={-1} aria-hidden />
      </form>
    </Dialog>
  );
}
