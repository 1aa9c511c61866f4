import { Link } from "@tanstack/react-router";
import { useState } from "react";
import { useCredentials, useDatasourceActions } from "@/api/hooks";
import { limits } from "@/api/limits";
import type { Datasource, RowVisibility } from "@/api/types";
import { useT } from "@/i18n";
import { Button, Dialog, ErrorState, Field, formatRange, Input, Select, Switch, toast } from "@/ui";
import { EMPTY, type Form, formOf, inputOf, isFolder, isPostgres, isServer, problemsOf, ROWS, SECONDS, VISIBILITIES } from "./form";

const mono = { className: "font-mono text-sm", autoComplete: "off", spellCheck: false } as const;

/** Adds a database, or changes how one is reached and what may be asked of it. */
export function SourceDialog({ source, onClose, onSaved }: { source: Datasource | null; onClose: () => void; onSaved: (saved: Datasource) => void }) {
  const t = useT("data");
  const c = useT("credentials");
  const { create, update } = useDatasourceActions();
  const credentials = useCredentials();
  const [form, setForm] = useState<Form>(() => (source ? formOf(source) : EMPTY));
  const [tried, setTried] = useState(false);
  const patch = (change: Partial<Form>) => setForm((old) => ({ ...old, ...change }));
  const problems = problemsOf(form);
  const problem = (name: keyof typeof problems) => (tried && problems[name] ? t(problems[name], formatRange(name === "seconds" ? SECONDS : ROWS)) : undefined);
  const error = create.error ?? update.error;
  const fitting = credentials.items.filter((one) => one.kind === "password" || one.id === form.credential);
  const save = () => {
    setTried(true);
    if (Object.keys(problems).length > 0) return void setTimeout(() => document.querySelector<HTMLElement>("[role=dialog] [aria-invalid]")?.focus());
    const body = inputOf(form, source?.version ?? 0);
    const onSuccess = (saved: Datasource) => {
      toast({ title: t(source ? "source_saved" : "source_added", { name: saved.name }) });
      onClose();
      onSaved(saved);
    };
    if (source) update.mutate({ ...body, id: source.id }, { onSuccess });
    else create.mutate(body, { onSuccess });
  };
  return (
    <Dialog
      open
      wide
      onOpenChange={onClose}
      title={source ? t("source_edit", { name: source.name }) : t("source_add")}
      description={t("source_dialog_text")}
      footer={<><Button onClick={onClose}>{t("cancel")}</Button><Button variant="primary" loading={create.isPending || update.isPending} onClick={save}>{t(source ? "save_check" : "add_check")}</Button></>}
    >
      <form className="flex flex-col gap-4 pb-1" onSubmit={(event) => (event.preventDefault(), save())}>
        {error && <ErrorState inline error={error} />}
        <Field label={t("source_name")} hint={t("source_name_hint")} error={problem("name")}>{(p) => <Input {...p} {...mono} autoFocus maxLength={limits.DatasourceInput.name.maxLength} placeholder="shop" value={form.name} onChange={(event) => patch({ name: event.target.value.trim() })} />}</Field>
        <Field label={t("database")} hint={t("database_hint")} error={problem("database")}>{(p) => <Input {...p} {...mono} maxLength={limits.DatasourceInput.database.maxLength} placeholder="postgres://db.example.org/shop" value={form.database} onChange={(event) => patch({ database: event.target.value })} />}</Field>
        <Field label={t("credential")} hint={<>{t(isServer(form.database) ? "credential_server" : "credential_file")} <Link to="/credentials" className="text-accent-ink underline underline-offset-2">{t("credential_add")}</Link></>}>
          {(p) => (
            <Select {...p} value={form.credential} onChange={(event) => patch({ credential: event.target.value })}>
              <option value="">{t("credential_none")}</option>
              {form.credential && !fitting.some((one) => one.id === form.credential) && <option value={form.credential}>{form.credential}</option>}
              {fitting.map((one) => <option key={one.id} value={one.id}>{`${one.name} · ${c(`kind_${one.kind}`)}`}</option>)}
            </Select>
          )}
        </Field>
        <Field label={t("visibility")} hint={t(`visibility_${form.visibility}_hint`)}>{(p) => <Select {...p} value={form.visibility} onChange={(event) => patch({ visibility: event.target.value as RowVisibility })}>{VISIBILITIES.map((one) => <option key={one} value={one}>{t(`visibility_${one}`)}</option>)}</Select>}</Field>
        <div className="grid gap-4 md:grid-cols-3">
          <Field label={t("limit_rows")} hint={t("limit_rows_hint", formatRange(ROWS))} error={problem("rows")}>{(p) => <Input {...p} inputMode="numeric" value={form.rows} onChange={(event) => patch({ rows: event.target.value })} />}</Field>
          <Field label={t("limit_seconds")} hint={t("limit_seconds_hint", formatRange(SECONDS))} error={problem("seconds")}>{(p) => <Input {...p} inputMode="decimal" value={form.seconds} onChange={(event) => patch({ seconds: event.target.value })} />}</Field>
          <Field label={t("limit_planned")} hint={t("limit_planned_hint")} error={problem("planned")}>{(p) => <Input {...p} inputMode="numeric" value={form.planned} onChange={(event) => patch({ planned: event.target.value })} />}</Field>
        </div>
        {!isFolder(form.database) && <Switch label={t("writable")} hint={t("writable_hint")} checked={form.writable} onChange={(writable) => patch({ writable })} />}
        <Switch label={t("untrusted")} hint={t("untrusted_hint")} checked={form.untrusted} onChange={(untrusted) => patch({ untrusted })} />
        {isPostgres(form.database) && <Switch label={t("as_asking_user")} hint={t("as_asking_user_hint")} checked={form.asAskingUser} onChange={(asAskingUser) => patch({ asAskingUser })} />}
        <button type="submit" hidden tabIndex={-1} aria-hidden />
      </form>
    </Dialog>
  );
}
