import { useState } from "react";
import { useConnectionActions } from "@/api/hooks";
import type { Capabilities, Connection, ConnectionInput, Provider } from "@/api/types";
import { useT } from "@/i18n";
import { Button, Checkbox, Dialog, ErrorState, Field, Input, Select, Switch, toast } from "@/ui";
import { CAPABILITIES, EMPTY, inputOf, PRESETS, problemsOf } from "./form";

const PROVIDERS = ["compatible", "ollama", "llama_cpp", "open_ai"] as const;
const STRATEGIES = ["native", "guided_json", "react"] as const;
const ABILITIES = ["json_schema", "scoring", "plans", "summarises"] as const;

type Props = { connection: Connection | null; onClose: () => void; onTest: (connection: Connection) => void };

export function ConnectionDialog({ connection, onClose, onTest }: Props) {
  const t = useT("connections");
  const { create, update } = useConnectionActions();
  const [form, setForm] = useState<ConnectionInput>(connection ? inputOf(connection) : EMPTY);
  const [tried, setTried] = useState(false);
  const patch = (change: Partial<ConnectionInput>) => setForm((old) => ({ ...old, ...change }));
  const problems = problemsOf(form);
  const problem = (name: keyof typeof problems) => (tried && problems[name] ? t(problems[name]) : undefined);
  const error = create.error ?? update.error;

  const save = (test: boolean) => {
    setTried(true);
    if (Object.keys(problems).length > 0) return void setTimeout(() => document.querySelector<HTMLElement>("[role=dialog] [aria-invalid]")?.focus());
    const body: ConnectionInput = { ...form, name: form.name.trim(), base_url: form.base_url.trim().replace(/\/+$/, ""), model: form.model.trim() };
    const onSuccess = (saved: Connection) => {
      toast({ title: t("saved") });
      onClose();
      if (test) onTest(saved);
    };
    if (connection) update.mutate({ ...body, id: connection.id }, { onSuccess });
    else create.mutate(body, { onSuccess });
  };
  const busy = create.isPending || update.isPending;
  return (
    <Dialog
      open
      wide
      onOpenChange={onClose}
      title={connection ? t("form_edit", { name: connection.name }) : t("form_add")}
      footer={<><Button onClick={onClose}>{t("cancel")}</Button><Button loading={busy} onClick={() => save(false)}>{t("save")}</Button><Button variant="primary" loading={busy} onClick={() => save(true)}>{t("save_test")}</Button></>}
    >
      <form className="flex flex-col gap-4 pb-1" onSubmit={(event) => (event.preventDefault(), save(true))}>
        {!connection && (
          <div role="group" aria-label={t("presets")} className="grid grid-cols-2 gap-2 md:grid-cols-4">
            {(Object.keys(PRESETS) as (keyof typeof PRESETS)[]).map((name) => (
              <button key={name} type="button" onClick={() => setForm(PRESETS[name])} className="rounded-lg border border-line-2 px-3 py-2 text-left hover:border-ink-3 hover:bg-hover">
                <span className="block text-base font-medium">{t(`preset_${name}`)}</span>
                <span className="block text-xs text-ink-3">{t(`preset_${name}_hint`)}</span>
              </button>
            ))}
          </div>
        )}
        {error && <ErrorState inline error={error} />}
        <div className="grid gap-4 md:grid-cols-2">
          <Field label={t("name")} error={problem("name")}>{(p) => <Input {...p} value={form.name} onChange={(event) => patch({ name: event.target.value })} />}</Field>
          <Field label={t("provider")}>{(p) => <Select {...p} value={form.provider} onChange={(event) => patch({ provider: event.target.value as Provider })}>{PROVIDERS.map((name) => <option key={name} value={name}>{t(`provider_${name}`)}</option>)}</Select>}</Field>
          <Field label={t("base_url")} hint={t("base_url_hint")} error={problem("base_url")}>{(p) => <Input {...p} type="url" inputMode="url" className="font-mono text-sm" placeholder="http://127.0.0.1:11434/v1" value={form.base_url} onChange={(event) => patch({ base_url: event.target.value })} />}</Field>
          <Field label={t("model")} hint={t("model_hint")} error={problem("model")}>{(p) => <Input {...p} className="font-mono text-sm" placeholder="qwen3:14b" value={form.model} onChange={(event) => patch({ model: event.target.value })} />}</Field>
          <Field label={t("auth")}>{(p) => <Select {...p} value={form.auth.kind} onChange={(event) => patch({ auth: event.target.value === "none" ? { kind: "none" } : { kind: "bearer_env", variable: "" } })}><option value="none">{t("auth_none")}</option><option value="bearer_env">{t("auth_bearer_env")}</option></Select>}</Field>
          {form.auth.kind === "bearer_env" && <Field label={t("variable")} hint={t("variable_hint")} error={problem("variable")}>{(p) => <Input {...p} className="font-mono text-sm" autoComplete="off" spellCheck={false} placeholder="OPENAI_API_KEY" value={form.auth.kind === "bearer_env" ? form.auth.variable : ""} onChange={(event) => patch({ auth: { kind: "bearer_env", variable: event.target.value } })} />}</Field>}
        </div>
        <Switch
          label={t("set_capabilities")}
          hint={t("capabilities_hint")}
          checked={form.capabilities !== undefined}
          onChange={(on) => setForm(({ capabilities: _old, ...rest }) => (on ? { ...rest, capabilities: connection?.capabilities ?? CAPABILITIES } : rest))}
        />
        {form.capabilities && <Abilities value={form.capabilities} problem={problem} onChange={(capabilities) => patch({ capabilities })} />}
      </form>
    </Dialog>
  );
}

function Abilities({ value, problem, onChange }: { value: Capabilities; problem: (name: "window" | "max_tools") => string | undefined; onChange: (value: Capabilities) => void }) {
  const t = useT("connections");
  const shown = (n: number) => (Number.isNaN(n) ? "" : n);
  return (
    <div className="grid gap-4 rounded-lg border border-line p-4 md:grid-cols-3">
      <Field label={t("cap_strategy")}>{(p) => <Select {...p} value={value.strategy} onChange={(event) => onChange({ ...value, strategy: event.target.value as Capabilities["strategy"] })}>{STRATEGIES.map((name) => <option key={name} value={name}>{t(`strategy_${name}`)}</option>)}</Select>}</Field>
      <Field label={t("cap_window")} error={problem("window")}>{(p) => <Input {...p} type="number" inputMode="numeric" min={512} value={shown(value.window)} onChange={(event) => onChange({ ...value, window: event.target.valueAsNumber })} />}</Field>
      <Field label={t("cap_max_tools_label")} error={problem("max_tools")}>{(p) => <Input {...p} type="number" inputMode="numeric" min={1} value={shown(value.max_tools)} onChange={(event) => onChange({ ...value, max_tools: event.target.valueAsNumber })} />}</Field>
      <div className="grid gap-2 md:col-span-3 md:grid-cols-2">{ABILITIES.map((name) => <Checkbox key={name} checked={value[name]} onChange={(on) => onChange({ ...value, [name]: on })} label={t(name)} hint={t(`${name}_hint`)} />)}</div>
    </div>
  );
}
