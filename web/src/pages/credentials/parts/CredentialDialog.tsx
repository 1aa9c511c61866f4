import { useState } from "react";
import { useCredentialKinds, useCredentialWriter } from "@/api/hooks";
import { limits } from "@/api/limits";
import type { Credential, CredentialKind } from "@/api/types";
import { useT } from "@/i18n";
import { Button, Checkbox, Dialog, ErrorState, Field, formatRange, Input, Select, Skeleton, Switch, Textarea, toast } from "@/ui";
import { EMPTY, type Form, formOf, inputOf, NAME, patchOf, problemsOf, type Purpose, ROLES } from "./form";
import { Values } from "./Values";

type Props = { credential: Credential | null; purpose: Purpose; onClose: () => void; onSaved?: (credential: Credential) => void };

/** Adds a credential, changes what is told of one, or replaces its values. */
export function CredentialDialog({ credential, purpose, onClose, onSaved }: Props) {
  const t = useT("credentials");
  const kinds = useCredentialKinds();
  const { busy, error, create, change } = useCredentialWriter();
  const [form, setForm] = useState<Form>(() => (credential ? formOf(credential) : EMPTY));
  const [tried, setTried] = useState(false);
  const patch = (next: Partial<Form>) => setForm((old) => ({ ...old, ...next }));
  const fields = kinds.data?.find((one) => one.kind === form.kind)?.fields ?? [];
  const problems = problemsOf(form, fields, purpose, credential, Date.now());
  const problem = (name: string) => (tried && problems[name] ? t(problems[name], formatRange(NAME)) : undefined);
  const save = async () => {
    if (!kinds.data) return;
    setTried(true);
    if (Object.keys(problems).length > 0) return void setTimeout(() => document.querySelector<HTMLElement>("[role=dialog] [aria-invalid]")?.focus());
    const saved = credential ? await change(credential.id, patchOf(form, fields, purpose, credential)) : await create(inputOf(form, fields));
    if (!saved) return;
    toast({ title: t(purpose === "add" ? "added" : purpose === "edit" ? "saved" : "replaced", { name: saved.name }) });
    onClose();
    onSaved?.(saved);
  };
  const title = credential ? t(purpose === "edit" ? "edit_title" : "replace_title", { name: credential.name }) : t("add_title");
  return (
    <Dialog
      open
      wide
      onOpenChange={onClose}
      title={title}
      description={purpose === "edit" ? undefined : t(purpose === "add" ? "add_text" : "replace_text")}
      footer={<><Button onClick={onClose}>{t("cancel")}</Button><Button variant="primary" loading={busy} disabled={!kinds.data} onClick={() => void save()}>{t(purpose === "replace" ? "replace" : "save")}</Button></>}
    >
      <form autoComplete="off" className="flex flex-col gap-5 pb-1" onSubmit={(event) => (event.preventDefault(), void save())}>
        {error ? <ErrorState inline error={error} /> : null}
        {problem("all") && <p role="alert" className="rounded-lg bg-sunken px-3 py-2 text-base">{problem("all")}</p>}
        {purpose === "add" && (
          <Field label={t("kind")} hint={t(`kind_${form.kind}_hint`)}>
            {(p) => <Select {...p} value={form.kind} onChange={(event) => patch({ kind: event.target.value as CredentialKind, values: {}, further: [] })}>{(kinds.data ?? []).map(({ kind }) => <option key={kind} value={kind}>{t(`kind_${kind}`)}</option>)}</Select>}
          </Field>
        )}
        {purpose !== "replace" && (
          <>
            <Field label={t("name")} hint={t("name_hint")} error={problem("name")}>{(p) => <Input {...p} autoComplete="off" spellCheck={false} maxLength={NAME.most + 16} value={form.name} onChange={(event) => patch({ name: event.target.value })} />}</Field>
            <Field label={t("description")} hint={t("description_hint")}>{(p) => <Textarea {...p} maxLength={limits.CredentialInput.description.maxLength} value={form.description} onChange={(event) => patch({ description: event.target.value })} />}</Field>
          </>
        )}
        {purpose !== "edit" && (kinds.error ? <ErrorState inline error={kinds.error} onRetry={() => void kinds.refetch()} /> : kinds.data ? <Values form={form} fields={fields} before={credential} problem={problem} onChange={patch} /> : <Skeleton rows={4} />)}
        {purpose !== "replace" && (
          <fieldset className="flex min-w-0 flex-col gap-3">
            <legend className="text-sm font-medium">{t("who")}</legend>
            <p className="text-sm text-ink-3">{t("who_hint")}</p>
            <div role="group" aria-label={t("roles")} className="grid gap-2 sm:grid-cols-2">
              {ROLES.map((role) => <Checkbox key={role} checked={form.roles.includes(role)} onChange={(on) => patch({ roles: on ? [...form.roles, role] : form.roles.filter((other) => other !== role) })} label={t(`role_${role}`)} />)}
            </div>
            <Switch label={t("discoverable")} hint={t("discoverable_hint")} checked={form.discoverable} onChange={(discoverable) => patch({ discoverable })} />
            <Field label={t("hosts")} hint={t("hosts_hint")} error={problem("hosts")}>{(p) => <Textarea {...p} rows={2} spellCheck={false} value={form.hosts} onChange={(event) => patch({ hosts: event.target.value })} />}</Field>
          </fieldset>
        )}
        <Field className="max-w-56" label={t("ends")} hint={t("ends_hint")} error={problem("ends")}>{(p) => <Input {...p} type="date" value={form.ends} onChange={(event) => patch({ ends: event.target.value })} />}</Field>
        <button type="submit" hidden tabIndex={-1} aria-hidden />
      </form>
    </Dialog>
  );
}
