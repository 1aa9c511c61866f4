import { useAllSkills, useCredentialNames } from "@/api/hooks";
import type { CredentialWanted, Effect, Risk, SkillInput, SkillKindInfo } from "@/api/types";
import { useT } from "@/i18n";
import { Checkbox, Field, Input, Select } from "@/ui";
import { EFFECTS, LIMITS, RANGES, RISKS } from "./form";
import { JsonField } from "./JsonField";
import type { Json } from "./schema";

type Said = (name: string) => string | undefined;
type Props = { form: SkillInput; kind: SkillKindInfo | undefined; disabled: boolean; problem: Said; onChange: (change: Partial<SkillInput>) => void };

/** Risk, effect and limits. */
export function Safety({ form, kind, disabled, problem, onChange }: Props) {
  const t = useT("skills");
  const c = useT("common");
  const limits = { ...LIMITS, ...form.limits };
  const usual = (word: string) => t("as_usual", { value: word });
  return (
    <div className="grid gap-4 sm:grid-cols-2">
      <Field label={t("risk")} hint={t("risk_hint")} error={problem("risk")}>
        {(p) => (
          <Select {...p} disabled={disabled} value={form.risk ?? ""} onChange={(event) => onChange({ risk: (event.target.value || null) as Risk | null })}>
            <option value="">{usual(kind ? c(`risk.${kind.risk}`) : "")}</option>
            {RISKS.map((risk) => <option key={risk} value={risk}>{c(`risk.${risk}`)}</option>)}
          </Select>
        )}
      </Field>
      <Field label={t("effect")} hint={t("effect_hint")} error={problem("effect")}>
        {(p) => (
          <Select {...p} disabled={disabled} value={form.effect ?? ""} onChange={(event) => onChange({ effect: (event.target.value || null) as Effect | null })}>
            <option value="">{usual(kind ? t(`effect_${kind.effect}`) : "")}</option>
            {EFFECTS.map((effect) => <option key={effect} value={effect}>{t(`effect_${effect}`)}</option>)}
          </Select>
        )}
      </Field>
      <Field label={t("timeout")} hint={t("timeout_hint")} error={problem("limits.timeout_ms")}>{(p) => <Input {...p} type="number" step="any" min={RANGES["limits.timeout_ms"].least} max={RANGES["limits.timeout_ms"].most} disabled={disabled} className="tabular" value={Number.isNaN(limits.timeout_ms) ? "" : limits.timeout_ms / 1000} onChange={(event) => onChange({ limits: { ...limits, timeout_ms: Math.round(event.target.valueAsNumber * 1000) } })} />}</Field>
      <Field label={t("chars")} hint={t("chars_hint")} error={problem("limits.result_chars")}>{(p) => <Input {...p} type="number" step={1} min={RANGES["limits.result_chars"].least} max={RANGES["limits.result_chars"].most} disabled={disabled} className="tabular" value={Number.isNaN(limits.result_chars) ? "" : limits.result_chars} onChange={(event) => onChange({ limits: { ...limits, result_chars: event.target.valueAsNumber } })} />}</Field>
    </div>
  );
}

/** Which credential is used: an operator's to choose. */
export function CredentialForm({ form, kind, disabled: locked, problem, onChange, operator }: Props & { operator: boolean }) {
  const t = useT("skills");
  const disabled = locked || !operator;
  const names = useCredentialNames(operator);
  const wanted = form.credential ?? null;
  const fitting = kind?.credentials ?? [];
  const value = !wanted ? "" : wanted.name ? `name:${wanted.name}` : wanted.kind ? `kind:${wanted.kind}` : "";
  const choose = (next: string) => {
    const [by, ...rest] = next.split(":");
    const word = rest.join(":");
    const optional = wanted?.optional ?? false;
    onChange({ credential: by === "name" ? { name: word, optional } : by === "kind" ? ({ kind: word, optional } as CredentialWanted) : null });
  };
  const offered = (names.data ?? []).filter((one) => fitting.includes(one.kind) || one.name === wanted?.name);
  const unknown = wanted?.name && !offered.some((one) => one.name === wanted.name);
  const kinds = wanted?.kind && !fitting.includes(wanted.kind) ? [...fitting, wanted.kind] : fitting;
  return (
    <div className="flex flex-col gap-3">
      <Field label={t("credential")} hint={!operator ? t("credential_operator") : fitting.length > 0 && offered.length === 0 ? t("credential_none_fits") : t("credential_hint")} error={problem("credential") ?? problem("credential.name") ?? problem("credential.kind")}>
        {(p) => (
          <Select {...p} disabled={disabled} value={value} onChange={(event) => choose(event.target.value)}>
            <option value="">{t("credential_no")}</option>
            {(offered.length > 0 || unknown) && (
              <optgroup label={t("credential_by_name")}>
                {offered.map((one) => <option key={one.id} value={`name:${one.name}`}>{one.name} ({t(`ckind_${one.kind}`)})</option>)}
                {unknown && <option value={`name:${wanted.name}`}>{names.data ? t("credential_gone", { name: wanted.name ?? "" }) : wanted.name}</option>}
              </optgroup>
            )}
            {kinds.length > 0 && <optgroup label={t("credential_by_kind")}>{kinds.map((one) => <option key={one} value={`kind:${one}`}>{t(`ckind_${one}`)}</option>)}</optgroup>}
          </Select>
        )}
      </Field>
      {wanted && <Checkbox checked={wanted.optional ?? false} disabled={disabled} onChange={(optional) => onChange({ credential: { ...wanted, optional } })} label={t("credential_optional")} />}
    </div>
  );
}

/** The skill that takes the effect back. */
export function CompensationForm({ form, disabled, problem, onChange, onSound }: Props & { onSound: (id: string, sound: boolean) => void }) {
  const t = useT("skills");
  const skills = useAllSkills();
  const back = form.compensation ?? null;
  const names = (skills.data ?? []).filter((one) => one.type !== "internal" && one.name !== form.name).map((one) => one.name);
  return (
    <div className="flex flex-col gap-3">
      <Field label={t("compensation")} hint={t("compensation_hint")} error={problem("compensation.skill") ?? problem("compensation")}>
        {(p) => (
          <Select {...p} disabled={disabled} value={back?.skill ?? ""} onChange={(event) => onChange({ compensation: event.target.value ? { skill: event.target.value, arguments: back?.arguments ?? {} } : null })}>
            <option value="">{t("compensation_no")}</option>
            {[...new Set([...names, ...(back?.skill ? [back.skill] : [])])].map((name) => <option key={name} value={name}>{name}</option>)}
          </Select>
        )}
      </Field>
      {back && <JsonField object label={t("compensation_args")} hint={t("compensation_args_hint")} error={problem("compensation.arguments")} value={back.arguments} disabled={disabled} onChange={(next) => onChange({ compensation: { ...back, arguments: next as Json } })} onSound={onSound} />}
    </div>
  );
}
