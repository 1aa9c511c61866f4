import { isAdmin, useMe } from "@/api/hooks";
import type { Capabilities, ConnectionInput, Wire } from "@/api/types";
import { useT } from "@/i18n";
import { Checkbox, Field, Input, Select, Switch } from "@/ui";
import { CAPABILITIES, type PriceText, type Problems, RANGES, STRATEGIES, WIRES } from "./form";

const ABILITIES = ["json_schema", "parallel_calls", "system_role", "vision", "scoring", "plans", "summarises", "thinks_first", "trusted"] as const;

type Props = {
  form: ConnectionInput;
  /** What the connection is used with so far. */
  known: Capabilities | undefined;
  /** Names of those that a person set. */
  byHand: readonly string[];
  price: PriceText;
  priceBad: boolean;
  problem: (name: keyof Problems) => string | undefined;
  onChange: (change: Partial<ConnectionInput>) => void;
  onPrice: (price: PriceText) => void;
};

/** What is best left alone: interface, price, weight, and what the model can do. */
export function Advanced({ form, known, byHand, price, priceBad, problem, onChange, onPrice }: Props) {
  const t = useT("connections");
  const m = useT("models");
  const admin = isAdmin(useMe().data);
  const shown = (n: number | null | undefined) => (n === null || n === undefined || Number.isNaN(n) ? "" : n);
  const number = (text: string) => (text === "" ? null : Number(text));
  const { capabilities } = form;
  const set = (change: Partial<Capabilities>) => capabilities && onChange({ capabilities: { ...capabilities, ...change } });
  const part = (name: keyof PriceText) => (
    <Field label={t(`price_${name}`)} error={priceBad && name === "input" ? t("price_bad") : undefined}>{(p) => <Input {...p} inputMode="decimal" placeholder="0.25" value={price[name]} onChange={(event) => onPrice({ ...price, [name]: event.target.value })} />}</Field>
  );
  return (
    <div className="flex flex-col gap-4">
      <div className="grid gap-4 md:grid-cols-2">
        <Field label={t("wire")} hint={t("wire_hint")}>
          {(p) => (
            <Select {...p} value={form.wire ?? ""} onChange={(event) => onChange({ wire: (event.target.value || null) as Wire | null })}>
              <option value="">{t("wire_usual")}</option>
              {WIRES.map((wire) => <option key={wire} value={wire}>{m(`wire_${wire}`)}</option>)}
            </Select>
          )}
        </Field>
        <Field label={t("weight")} hint={t("weight_hint")} error={problem("weight")}>{(p) => <Input {...p} type="number" inputMode="numeric" min={RANGES.weight.least} max={RANGES.weight.most} value={shown(form.weight ?? 1)} onChange={(event) => onChange({ weight: event.target.valueAsNumber })} />}</Field>
        <Field className="md:col-span-2" label={t("in_house")} hint={admin ? t("in_house_hint") : t("in_house_admin")}>
          {(p) => (
            <Select {...p} disabled={!admin} value={form.in_house === true ? "yes" : form.in_house === false ? "no" : ""} onChange={(event) => onChange({ in_house: event.target.value === "" ? null : event.target.value === "yes" })}>
              <option value="">{t("in_house_address")}</option>
              <option value="yes">{t("in_house_yes")}</option>
              <option value="no">{t("in_house_no")}</option>
            </Select>
          )}
        </Field>
      </div>
      <fieldset className="min-w-0">
        <legend className="mb-1 text-sm font-medium">{t("price_title")}</legend>
        <p className="mb-2 text-xs text-ink-3">{t("price_hint")}</p>
        <div className="grid gap-4 md:grid-cols-3">{part("input")}{part("cached")}{part("output")}</div>
      </fieldset>
      <Switch label={t("set_capabilities")} hint={t("capabilities_hint")} checked={!!capabilities} onChange={(on) => onChange({ capabilities: on ? (known ?? CAPABILITIES) : null })} />
      {byHand.length > 0 && <p className="text-sm text-ink-2">{t("set_by_hand", { fields: byHand.map((name) => (name === "strategy" ? t("cap_strategy") : name === "window" ? t("cap_window") : name === "max_tools" ? t("cap_max_tools_label") : (t as (key: string) => string)(name))).join(", ") })}</p>}
      {capabilities && (
        <div className="grid gap-4 rounded-lg border border-line p-4 md:grid-cols-3">
          <Field label={t("cap_strategy")}>{(p) => <Select {...p} value={capabilities.strategy} onChange={(event) => set({ strategy: event.target.value as Capabilities["strategy"] })}>{STRATEGIES.map((name) => <option key={name} value={name}>{m(`strategy_${name}`)}</option>)}</Select>}</Field>
          <Field label={t("cap_window")} error={problem("window")}>{(p) => <Input {...p} type="number" inputMode="numeric" min={RANGES.window.least} max={RANGES.window.most} value={shown(capabilities.window)} onChange={(event) => set({ window: event.target.valueAsNumber })} />}</Field>
          <Field label={t("cap_max_tools_label")} error={problem("max_tools")}>{(p) => <Input {...p} type="number" inputMode="numeric" min={RANGES.max_tools.least} max={RANGES.max_tools.most} value={shown(capabilities.max_tools)} onChange={(event) => set({ max_tools: event.target.valueAsNumber })} />}</Field>
          <Field label={t("prompt_tokens")} hint={t("prompt_tokens_hint")} error={problem("prompt_tokens")}>{(p) => <Input {...p} type="number" inputMode="numeric" value={shown(capabilities.prompt_tokens)} onChange={(event) => set({ prompt_tokens: number(event.target.value) })} />}</Field>
          {form.provider === "ollama" && <Field label={t("num_ctx")} hint={t("num_ctx_hint")} error={problem("num_ctx")}>{(p) => <Input {...p} type="number" inputMode="numeric" value={shown(capabilities.num_ctx)} onChange={(event) => set({ num_ctx: number(event.target.value) })} />}</Field>}
          <div className="grid gap-2 md:col-span-3 md:grid-cols-2">{ABILITIES.map((name) => <Checkbox key={name} checked={capabilities[name] ?? CAPABILITIES[name] ?? false} onChange={(on) => set({ [name]: on })} label={t(name)} hint={t(`${name}_hint`)} />)}</div>
        </div>
      )}
    </div>
  );
}
