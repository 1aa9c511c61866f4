import { useId } from "react";
import type { Connection, ConnectionInput, Provider, Recognised } from "@/api/types";
import { useT } from "@/i18n";
import { Button, Field, formatRange, Input, Select } from "@/ui";
import { AuthFields, VariableHelp } from "./AuthFields";
import { isSealed, isTyped, keepsKey, problemsOf, PROVIDERS, RANGES, rangeOf } from "./form";

type Props = { form: ConnectionInput; saved: Connection | null; found: Recognised | null; tried: boolean; asking: boolean; onChange: (change: Partial<ConnectionInput>) => void; onName: (name: string) => void; onAsk: () => void };

/** What was recognised, to be checked and completed. */
export function ModelStep({ form, saved, found, tried, asking, onChange, onName, onAsk }: Props) {
  const t = useT("connections");
  const m = useT("models");
  const listId = useId();
  const problems = problemsOf(form, saved);
  const problem = (name: keyof typeof problems) => (tried && problems[name] ? t(problems[name], formatRange(rangeOf(name))) : undefined);
  const models = found?.models ?? [];
  const keyed = isSealed(form.auth.kind) ? isTyped(form.auth) : form.auth.kind !== "none" && !problems.variable;
  return (
    <div className="flex flex-col gap-4">
      <div className="grid gap-4 md:grid-cols-2">
        <div className="flex min-w-0 flex-col gap-2">
          <Field label={t("model")} hint={models.length > 0 ? t("models_listed", { count: models.length }) : t("model_hint")} error={problem("model")}>
            {(p) => (
              <>
                <Input {...p} list={listId} autoComplete="off" spellCheck={false} className="font-mono text-sm" value={form.model} onChange={(event) => onChange({ model: event.target.value })} />
                <datalist id={listId}>{models.map((model) => <option key={model} value={model} />)}</datalist>
              </>
            )}
          </Field>
          {models.length > 0 && models.length <= 12 && (
            <div role="group" aria-label={t("models_there")} className="flex flex-wrap gap-1.5">
              {models.map((model) => <Button key={model} size="sm" aria-pressed={form.model === model} className={form.model === model ? "border-accent! bg-accent-soft" : ""} onClick={() => onChange({ model })}><span className="max-w-72 truncate font-mono text-xs">{model}</span></Button>)}
            </div>
          )}
        </div>
        <Field label={t("name")} hint={t("name_hint")} error={problem("name")}>{(p) => <Input {...p} maxLength={RANGES.name.most} value={form.name} onChange={(event) => onName(event.target.value)} />}</Field>
        <Field label={t("provider")}>{(p) => <Select {...p} value={form.provider} onChange={(event) => onChange({ provider: event.target.value as Provider })}>{PROVIDERS.map((name) => <option key={name} value={name}>{m(`provider_${name}`)}</option>)}</Select>}</Field>
        <Field label={t("base_url")} hint={t("base_url_hint")} error={problem("base_url")}>{(p) => <Input {...p} type="url" inputMode="url" className="font-mono text-sm" value={form.base_url} onChange={(event) => onChange({ base_url: event.target.value })} />}</Field>
        <AuthFields auth={form.auth} provider={form.provider} url={form.base_url} kept={keepsKey(saved, form)} problem={problem} onChange={(auth) => onChange({ auth })} />
      </div>
      <VariableHelp auth={form.auth} />
      {keyed && models.length === 0 && <Button size="sm" className="self-start" loading={asking} onClick={onAsk}>{t("ask_with_key")}</Button>}
    </div>
  );
}
