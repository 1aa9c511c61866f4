import { useState } from "react";
import { mayWork, useCredentials, useMcpActions, useMe } from "@/api/hooks";
import type { McpServer } from "@/api/types";
import { useT } from "@/i18n";
import { Button, Checkbox, Dialog, ErrorState, Field, Input, Select, Switch, Textarea, toast } from "@/ui";
import { CredentialChoice } from "./CredentialChoice";
import { EMPTY, type Form, formOf, inputOf, problemsOf } from "./form";
import type { Entry } from "./configuration";
import { Paste, Taken } from "./Paste";

type Props = { server: McpServer | null; onClose: () => void; onSaved: (server: McpServer) => void };

const mono = { className: "font-mono text-sm", autoComplete: "off", spellCheck: false } as const;

/** Adds an MCP server, or changes how one is reached. */
export function ServerDialog({ server, onClose, onSaved }: Props) {
  const t = useT("mcp");
  const { create, update } = useMcpActions();
  const credentials = useCredentials(mayWork(useMe().data));
  const [form, setForm] = useState<Form>(() => (server ? formOf(server) : EMPTY));
  const [tried, setTried] = useState(false);
  /** Servers that were pasted: the one in the form, then those to come. */
  const [pasted, setPasted] = useState<Entry[]>([]);
  const show = (entries: Entry[]) => {
    setPasted(entries);
    setTried(false);
    if (entries[0]) setForm(entries[0].form);
  };
  const patch = (change: Partial<Form>) => setForm((old) => ({ ...old, ...change }));
  const problems = problemsOf(form);
  const problem = (name: keyof typeof problems) => (tried && problems[name] ? t(problems[name]) : undefined);
  const error = create.error ?? update.error;
  const save = () => {
    setTried(true);
    if (Object.keys(problems).length > 0) return void setTimeout(() => document.querySelector<HTMLElement>("[role=dialog] [aria-invalid]")?.focus());
    const body = inputOf(form);
    const onSuccess = (saved: McpServer) => {
      toast({ title: t(server ? "saved" : "added", { name: saved.name }) });
      const rest = pasted.slice(1);
      if (rest.length > 0) return show(rest);
      onClose();
      onSaved(saved);
    };
    if (server) update.mutate({ ...body, id: server.id }, { onSuccess });
    else create.mutate(body, { onSuccess });
  };
  return (
    <Dialog
      open
      wide
      onOpenChange={onClose}
      title={server ? t("edit_title", { name: server.name }) : t("add_title")}
      description={server ? t("edit_text") : t("add_text")}
      footer={<><Button onClick={onClose}>{t("cancel")}</Button><Button variant="primary" loading={create.isPending || update.isPending} onClick={save}>{t(server ? "save_check" : "add_check")}</Button></>}
    >
      <form className="flex flex-col gap-4 pb-1" onSubmit={(event) => (event.preventDefault(), save())}>
        {error && <ErrorState inline error={error} />}
        {!server && <Paste onRead={show} />}
        {pasted[0] && <Taken entry={pasted[0]} others={pasted.length - 1} />}
        <div className="grid gap-4 md:grid-cols-2">
          <Field label={t("name")} hint={t("name_hint", { name: form.name || "wiki" })} error={problem("name")}>{(p) => <Input {...p} {...mono} maxLength={40} placeholder="wiki" value={form.name} onChange={(event) => patch({ name: event.target.value.trim().toLowerCase() })} />}</Field>
          <Field label={t("kind")} hint={t(`kind_${form.kind}_hint`)}>
            {(p) => <Select {...p} value={form.kind} onChange={(event) => patch({ kind: event.target.value as Form["kind"] })}><option value="stdio">{t("kind_stdio")}</option><option value="http">{t("kind_http")}</option></Select>}
          </Field>
        </div>
        {form.kind === "stdio" ? (
          <>
            <Field label={t("program")} hint={t("program_hint")} error={problem("program")}>{(p) => <Input {...p} {...mono} placeholder="/opt/wiki/bin/server" value={form.program} onChange={(event) => patch({ program: event.target.value })} />}</Field>
            <Field label={t("args")} hint={t("args_hint")}>{(p) => <Textarea {...p} {...mono} placeholder={"--read-only\n/srv/wiki"} value={form.args} onChange={(event) => patch({ args: event.target.value })} />}</Field>
            <Field label={t("read")} hint={t("read_hint")} error={problem("read")}>{(p) => <Textarea {...p} {...mono} placeholder="/opt/wiki" value={form.read} onChange={(event) => patch({ read: event.target.value })} />}</Field>
            <Field label={t("write")} hint={t("write_hint")} error={problem("write")}>{(p) => <Textarea {...p} {...mono} placeholder="/srv/wiki" value={form.write} onChange={(event) => patch({ write: event.target.value })} />}</Field>
            <Field label={t("env")} hint={t("env_hint")} error={problem("env")}>{(p) => <Textarea {...p} {...mono} placeholder={"LOG_LEVEL=warn"} value={form.env} onChange={(event) => patch({ env: event.target.value })} />}</Field>
            <Field label={t("secrets")} hint={t("secrets_hint")} error={problem("secrets")}>{(p) => <Textarea {...p} {...mono} placeholder={"WIKI_TOKEN=wiki"} value={form.secrets} onChange={(event) => patch({ secrets: event.target.value })} />}</Field>
            <Switch label={t("network")} hint={t("network_hint")} checked={form.network} onChange={(network) => patch({ network })} />
          </>
        ) : (
          <>
            <Field label={t("url")} hint={t("url_hint")} error={problem("url")}>{(p) => <Input {...p} {...mono} type="url" inputMode="url" placeholder="https://wiki.example.org/mcp" value={form.url} onChange={(event) => patch({ url: event.target.value })} />}</Field>
            <Field label={t("allow")} hint={t("allow_hint")} error={problem("allow")}>{(p) => <Textarea {...p} {...mono} placeholder="wiki.internal:8443" value={form.allow} onChange={(event) => patch({ allow: event.target.value })} />}</Field>
            <Switch label={t("per_user")} hint={t("per_user_hint")} checked={form.per_user} onChange={(per_user) => patch({ per_user })} />
          </>
        )}
        {!(form.kind === "http" && form.per_user) && (
          <div className="grid gap-4 md:grid-cols-2">
            <CredentialChoice form={form} credentials={credentials.items} onChange={(credential) => patch({ credential })} />
            {form.kind === "stdio" && form.credential !== "" && <Field label={t("variable")} hint={t("variable_hint")} error={problem("variable")}>{(p) => <Input {...p} {...mono} placeholder="WIKI_TOKEN" value={form.variable} onChange={(event) => patch({ variable: event.target.value.trim() })} />}</Field>}
            {form.credential !== "" && <Checkbox className="md:col-span-2" checked={form.optional} onChange={(optional) => patch({ optional })} label={t("optional")} />}
          </div>
        )}
        <Switch label={t("enabled")} hint={t("enabled_hint")} checked={form.enabled} onChange={(enabled) => patch({ enabled })} />
        <button type="submit" hidden tabIndex={-1} aria-hidden />
      </form>
    </Dialog>
  );
}
