import { type ReactNode, useState } from "react";
import { useAgents } from "@/api/hooks";
import { limits } from "@/api/limits";
import type { SkillInput, SkillKindInfo } from "@/api/types";
import { useT } from "@/i18n";
import { Button, Field, Input, Select, Switch, Textarea } from "@/ui";
import { Fold } from "@/run/cards/text";
import { RANGES } from "./form";
import { Inputs } from "./Inputs";
import { NO_INPUTS } from "./inputs";
import { JsonField } from "./JsonField";
import { KindBadge } from "./labels";
import { CompensationForm, CredentialForm, Safety } from "./Safety";
import { type Json, shapeOf } from "./schema";
import { SchemaForm, Variants } from "./SchemaForm";

type Props = {
  form: SkillInput;
  kind: SkillKindInfo | undefined;
  disabled: boolean;
  operator: boolean;
  problem: (name: string) => string | undefined;
  /** All that is wrong, by path. */
  names: Record<string, string>;
  onChange: (change: Partial<SkillInput>) => void;
  /** The whole was written as JSON. */
  onWhole: (form: SkillInput) => void;
  onSound: (id: string, sound: boolean) => void;
  /** Null: agents are not chosen here. */
  giveTo: string | null;
  onGiveTo: (agent: string) => void;
  onKind?: () => void;
};

/** The settings of a skill, as a form or as JSON. */
export function SkillForm(props: Props) {
  const { form, kind, disabled, operator, problem, names, onChange, onWhole, onSound, giveTo, onGiveTo, onKind } = props;
  const t = useT("skills");
  const [raw, setRaw] = useState(false);
  const agents = useAgents();
  const common = { form, kind, disabled, problem, onChange };
  return (
    <div className="flex flex-col gap-7 pb-4">
      <div className="flex flex-wrap items-center gap-2">
        {kind && onKind && <KindBadge kind={kind.type} />}
        {onKind && <Button size="sm" variant="quiet" onClick={onKind}>{t("other_kind")}</Button>}
        <span className="flex-1" />
        <Button size="sm" aria-pressed={raw} onClick={() => setRaw(!raw)}>{t(raw ? "as_form" : "as_json_button")}</Button>
      </div>
      {raw ? (
        <JsonField object label={t("whole_json")} hint={t("whole_json_hint")} error={Object.values(names)[0]} value={form} rows={20} disabled={disabled} onChange={(next) => onWhole(next as SkillInput)} onSound={onSound} />
      ) : (
        <>
          <Group title={t("sec_what")}>
            <Field label={t("name")} hint={t("name_hint")} error={problem("name")}>{(p) => <Input {...p} disabled={disabled} autoComplete="off" spellCheck={false} maxLength={RANGES.name.most} className="font-mono text-sm" value={form.name} onChange={(event) => onChange({ name: event.target.value })} />}</Field>
            <Field label={t("description")} hint={t("description_hint")} error={problem("description")}>{(p) => <Textarea {...p} disabled={disabled} rows={3} maxRows={12} maxLength={limits.SkillInput.description.maxLength} value={form.description} onChange={(event) => onChange({ description: event.target.value })} />}</Field>
            <Field label={t("utterances")} hint={t("utterances_hint")} error={problem("utterances")}>{(p) => <Lines {...p} disabled={disabled} value={form.utterances ?? []} onChange={(utterances) => onChange({ utterances })} />}</Field>
            <div className="grid gap-4 sm:grid-cols-2">
              <Field label={t("category")} hint={t("category_hint")} error={problem("category")}>{(p) => <Input {...p} disabled={disabled} maxLength={limits.SkillInput.category.maxLength} value={form.category ?? ""} onChange={(event) => onChange({ category: event.target.value })} />}</Field>
              {giveTo !== null && operator && <Field label={t("give_to")} hint={t("give_to_hint")}>{(p) => <Select {...p} value={giveTo} onChange={(event) => onGiveTo(event.target.value)}><option value="">{t("nobody")}</option>{agents.items.map((agent) => <option key={agent.id} value={agent.id}>{agent.name}</option>)}</Select>}</Field>}
            </div>
            <Switch checked={form.enabled ?? true} disabled={disabled} onChange={(enabled) => onChange({ enabled })} label={t("enabled")} hint={t("enabled_hint")} />
          </Group>
          <Group title={t("sec_config")} text={form.type === "internal" ? undefined : t("sec_config_text")}>
            {problem("config") && <p role="alert" className="text-sm text-bad">{problem("config")}</p>}
            {problem("type") && <p role="alert" className="text-sm text-bad">{problem("type")}</p>}
            <Settings form={form} kind={kind} disabled={disabled} operator={operator} problems={names} onChange={(config) => onChange({ config })} onSound={onSound} />
          </Group>
          {form.type !== "internal" && <Group title={t("inputs")}><Inputs value={form.parameters ?? NO_INPUTS} disabled={disabled} error={problem("parameters")} onChange={(parameters) => onChange({ parameters })} onSound={onSound} /></Group>}
          {form.type !== "internal" && <Group title={t("sec_safety")}><Safety {...common} /><Switch checked={form.untrusted ?? false} disabled={disabled} onChange={(untrusted) => onChange({ untrusted })} label={t("untrusted")} hint={t("untrusted_hint")} /></Group>}
          {form.type !== "internal" && ((kind?.credentials.length ?? 0) > 0 || form.credential) && <Group title={t("sec_credential")}><CredentialForm {...common} operator={operator} /></Group>}
          {form.type !== "internal" && <Fold summary={t("sec_compensation")} open={!!form.compensation}><div className="mt-3"><CompensationForm {...common} onSound={onSound} /></div></Fold>}
        </>
      )}
    </div>
  );
}

/** The settings of the type, from its JSON Schema. */
function Settings({ form, kind, disabled, operator, problems, onChange, onSound }: { form: SkillInput; kind: SkillKindInfo | undefined; disabled: boolean; operator: boolean; problems: Record<string, string>; onChange: (config: Json) => void; onSound: (id: string, sound: boolean) => void }) {
  const t = useT("skills");
  const agents = useAgents();
  const shape = kind ? shapeOf(kind.config) : ({ is: "json" } as const);
  const suggestions: Record<string, string[]> = kind?.type === "agent_delegation" ? { "config.agent": agents.items.map((agent) => agent.name) } : {};
  const common = { disabled, problems, onSound, suggestions };
  // Private hosts are an operator's to allow.
  if (shape.is === "object") return <SchemaForm folds fields={shape.fields.filter((field) => operator || disabled || field.name !== "allow")} value={form.config} path="config." onChange={onChange} {...common} />;
  if (shape.is === "variants") return <Variants shape={shape} label={shape.tag} optional={false} value={form.config} path="config." onChange={(next) => onChange(next ?? {})} {...common} />;
  return <JsonField object label={t("sec_config")} value={form.config} disabled={disabled} onChange={(next) => onChange(next as Json)} onSound={onSound} />;
}

/** One entry a line. */
function Lines({ value, onChange, ...rest }: { value: string[]; onChange: (value: string[]) => void; id: string; disabled: boolean }) {
  const [text, setText] = useState(value.join("\n"));
  return <Textarea {...rest} rows={2} maxRows={10} value={text} onChange={(event) => (setText(event.target.value), onChange(event.target.value.split("\n").map((line) => line.trim()).filter(Boolean)))} />;
}

function Group({ title, text, children }: { title: string; text?: string | undefined; children: ReactNode }) {
  return (
    <section className="flex flex-col gap-4">
      <div>
        <h2 className="text-lg font-semibold">{title}</h2>
        {text && <p className="text-sm text-ink-2">{text}</p>}
      </div>
      {children}
    </section>
  );
}
