import type { AgentInput, Deep } from "@/api/types";
import { useT } from "@/i18n";
import { Field, Input, Select } from "@/ui";
import { type Problems, RANGES } from "./form";

type Props = { form: AgentInput; problem: (name: keyof Problems) => string | undefined; onChange: (change: Partial<AgentInput>) => void };

/** Whether an agent plans while it works. What is not set is the installation's. */
export function DeepForm({ form, problem, onChange }: Props) {
  const t = useT("agents");
  const { deep } = form;
  const set = (change: Partial<Deep>) => onChange({ deep: { ...deep, ...change } });
  const off = deep.enabled === false;
  return (
    <>
      <p className="text-sm text-ink-2">{t("deep_text")}</p>
      <div className="grid gap-4 sm:grid-cols-3">
        <Field label={t("deep")}>
          {(p) => (
            <Select {...p} value={deep.enabled === null ? "" : String(deep.enabled)} onChange={(event) => set({ enabled: event.target.value === "" ? null : event.target.value === "true" })}>
              <option value="">{t("deep_inherit")}</option>
              <option value="true">{t("deep_on")}</option>
              <option value="false">{t("deep_off")}</option>
            </Select>
          )}
        </Field>
        <Field label={t("deep_steps")} hint={t("deep_steps_hint")} error={problem("deep_steps")}>{(p) => <Input {...p} disabled={off} type="number" inputMode="numeric" min={RANGES.deep_steps.least} max={RANGES.deep_steps.most} value={deep.max_steps === null || Number.isNaN(deep.max_steps) ? "" : deep.max_steps} onChange={(event) => set({ max_steps: event.target.value === "" ? null : event.target.valueAsNumber })} />}</Field>
        <Field label={t("deep_style")}>
          {(p) => (
            <Select {...p} disabled={off} value={deep.style ?? ""} onChange={(event) => set({ style: (event.target.value || null) as Deep["style"] })}>
              <option value="">{t("deep_inherit")}</option>
              <option value="structured">{t("deep_structured")}</option>
              <option value="concise">{t("deep_concise")}</option>
            </Select>
          )}
        </Field>
      </div>
    </>
  );
}
