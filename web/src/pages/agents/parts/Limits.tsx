import type { AgentInput, Preset } from "@/api/types";
import { useT } from "@/i18n";
import { Field, Input, Select } from "@/ui";
import { type Problems, RANGES } from "./form";

const PRESETS = ["agent", "query", "executor", "plan"] as const;

type Props = { form: AgentInput; problem: (name: keyof Problems) => string | undefined; onChange: (change: Partial<AgentInput>) => void };

/** What a run may spend, and how the model is called. */
export function Limits({ form, problem, onChange }: Props) {
  const t = useT("agents");
  const { tuning } = form;
  const tune = (change: Partial<typeof tuning>) => onChange({ tuning: { ...tuning, ...change } });
  const shown = (value: number) => (Number.isNaN(value) ? "" : value);
  return (
    <>
      <Field label={t("budget")} hint={t("budget_hint")}>{(p) => <Select {...p} value={form.budget} onChange={(event) => onChange({ budget: event.target.value as Preset })}>{PRESETS.map((preset) => <option key={preset} value={preset}>{t(`budget_${preset}`)}</option>)}</Select>}</Field>
      <div className="grid gap-4 sm:grid-cols-3">
        <Field label={t("temperature")} hint={t("temperature_hint")} error={problem("temperature")}>{(p) => <Input {...p} type="number" inputMode="decimal" min={RANGES.temperature.least} max={RANGES.temperature.most} step={0.1} value={shown(tuning.temperature)} onChange={(event) => tune({ temperature: event.target.valueAsNumber })} />}</Field>
        <Field label={t("max_tokens")} hint={t("max_tokens_hint")} error={problem("max_tokens")}>{(p) => <Input {...p} type="number" inputMode="numeric" min={RANGES.max_tokens.least} max={RANGES.max_tokens.most} step={256} value={shown(tuning.max_tokens)} onChange={(event) => tune({ max_tokens: event.target.valueAsNumber })} />}</Field>
        <Field label={t("timeout")} hint={t("timeout_hint")} error={problem("timeout")}>{(p) => <Input {...p} type="number" inputMode="numeric" min={RANGES.timeout.least} max={RANGES.timeout.most} step={10} value={shown(tuning.timeout_ms / 1000)} onChange={(event) => tune({ timeout_ms: Math.round(event.target.valueAsNumber * 1000) })} />}</Field>
      </div>
    </>
  );
}
