import { X } from "lucide-react";
import type { AgentInput, Balance, Connection, Routing, Task } from "@/api/types";
import { useT } from "@/i18n";
import { Field, IconButton, Input, Select, Switch } from "@/ui";
import { Chain } from "./Chain";
import type { Problems } from "./form";
import { RANGES, TASKS } from "./form";
import { Redirects } from "./Redirects";
import { TryRoute } from "./TryRoute";

const BALANCES: readonly Balance[] = ["fixed", "weighted", "least_latency"];

const ROLES = ["planner", "executor"] as const;

type Props = { form: AgentInput; connections: Connection[]; loading: boolean; disabled: boolean; fixed: boolean; problem: (name: keyof Problems) => string | undefined; onChange: (change: Partial<AgentInput>) => void };

/** Which connections an agent's requests go to. `fixed`: only the connection is theirs to change. */
export function RoutingForm({ form, connections, loading, disabled: shut, fixed, problem, onChange }: Props) {
  const t = useT("agents");
  const m = useT("models");
  const { routing } = form;
  const disabled = shut || fixed;
  const set = (change: Partial<Routing>) => onChange({ routing: { ...routing, ...change } });
  const shown = (value: number | null) => (value === null || Number.isNaN(value) ? "" : value);
  const standard = connections.find((item) => item.default);
  const options = (chosen: string) => (
    <>
      {connections.map((item) => <option key={item.id} value={item.id}>{item.name} · {item.model}</option>)}
      {chosen && !loading && !connections.some((item) => item.id === chosen) && <option value={chosen}>{t("connection_gone")}</option>}
    </>
  );
  const tasks = TASKS.filter((task) => routing.task_routing[task]);
  const left = TASKS.filter((task) => !routing.task_routing[task]);
  const without = (task: Task) => {
    const { [task]: _gone, ...rest } = routing.task_routing;
    return rest;
  };
  return (
    <>
      <Field label={t("connection")} hint={t("primary_hint")}>
        {(p) => (
          <Select {...p} value={form.connection ?? ""} onChange={(event) => onChange({ connection: event.target.value || null })}>
            <option value="">{standard ? t("connection_default", { name: standard.name }) : t("connection_none")}</option>
            {options(form.connection ?? "")}
          </Select>
        )}
      </Field>
      <fieldset disabled={disabled} className="contents">
        <div className="grid gap-4 sm:grid-cols-2">
          {ROLES.map((role) => (
            <Field key={role} label={t(role)} hint={t(`${role}_hint`)}>
              {(p) => (
                <Select {...p} value={routing[role] ?? ""} onChange={(event) => set({ [role]: event.target.value || null })}>
                  <option value="">{t("role_usual")}</option>
                  {options(routing[role] ?? "")}
                </Select>
              )}
            </Field>
          ))}
        </div>
        <div className="flex flex-col gap-2">
          <h3 className="text-sm font-medium">{t("tasks")}</h3>
          <p className="text-xs text-ink-3">{t("tasks_hint")}</p>
          {tasks.length > 0 && (
            <ul className="divide-y divide-line rounded-lg border border-line bg-surface">
              {tasks.map((task) => (
                <li key={task} className="flex flex-wrap items-center gap-x-3 gap-y-1 py-2 pr-1.5 pl-3">
                  <span className="min-w-36 flex-1 text-base">{m(`task_${task}`)}</span>
                  <Select small aria-label={t("task_connection", { task: m(`task_${task}`) })} className="max-w-full min-w-0" value={routing.task_routing[task]} onChange={(event) => set({ task_routing: { ...routing.task_routing, [task]: event.target.value } })}>{options(routing.task_routing[task] ?? "")}</Select>
                  <IconButton size="sm" disabled={disabled} label={m("take_out", { name: m(`task_${task}`) })} onClick={() => set({ task_routing: without(task) })}><X /></IconButton>
                </li>
              ))}
            </ul>
          )}
          {!disabled && left.length > 0 && connections[0] && (
            <Select small aria-label={t("task_add")} className="self-start" value="" onChange={(event) => event.target.value && set({ task_routing: { ...routing.task_routing, [event.target.value]: (standard ?? connections[0])!.id } })}>
              <option value="">{t("task_add")}</option>
              {left.map((task) => <option key={task} value={task}>{m(`task_${task}`)}</option>)}
            </Select>
          )}
        </div>
        <Redirects redirects={routing.redirects} onChange={(redirects) => set({ redirects })} />
        <Chain chain={routing.fallback_chain} connections={connections} disabled={disabled} onChange={(fallback_chain) => set({ fallback_chain })} />
        <div className="grid gap-4 sm:grid-cols-2">
          <Field label={t("attempts")} hint={t("attempts_hint")} error={problem("attempts")}>{(p) => <Input {...p} type="number" inputMode="numeric" min={RANGES.attempts.least} max={RANGES.attempts.most} value={shown(routing.max_fallback_attempts)} onChange={(event) => set({ max_fallback_attempts: event.target.valueAsNumber })} />}</Field>
          <Field label={t("balance")} hint={t("balance_hint")}>{(p) => <Select {...p} value={routing.balance} onChange={(event) => set({ balance: event.target.value as Balance })}>{BALANCES.map((balance) => <option key={balance} value={balance}>{m(`balance_${balance}`)}</option>)}</Select>}</Field>
        </div>
        <Switch label={t("cost_aware")} hint={t("cost_aware_hint")} disabled={disabled} checked={routing.cost_aware} onChange={(cost_aware) => set({ cost_aware })} />
        <Switch label={t("hedge")} hint={t("hedge_hint")} disabled={disabled} checked={routing.hedge_after_ms !== null} onChange={(on) => set({ hedge_after_ms: on ? 2_000 : null })} />
        {routing.hedge_after_ms !== null && <Field className="max-w-xs" label={t("hedge_after")} error={problem("hedge")}>{(p) => <Input {...p} type="number" inputMode="decimal" min={RANGES.hedge.least} max={RANGES.hedge.most} step={0.1} value={shown(Number.isNaN(routing.hedge_after_ms) ? Number.NaN : (routing.hedge_after_ms ?? 0) / 1000)} onChange={(event) => set({ hedge_after_ms: Number.isNaN(event.target.valueAsNumber) ? Number.NaN : Math.round(event.target.valueAsNumber * 1000) })} />}</Field>}
      </fieldset>
      <TryRoute connection={form.connection} routing={routing} tools={form.tools ?? []} sound={!problem("attempts") && !problem("hedge")} />
    </>
  );
}
