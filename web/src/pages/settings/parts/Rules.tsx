import { Plus, X } from "lucide-react";
import { useState } from "react";
import { isAdmin, useMe, useReplaceToolRules, useToolRules } from "@/api/hooks";
import { limits } from "@/api/limits";
import { nameOf } from "@/api/named";
import type { Origin, Risk, Role, ToolRule, ToolRuleView } from "@/api/types";
import { useT } from "@/i18n";
import { Badge, Button, Card, Checkbox, Dialog, ErrorState, Field, IconButton, Input, RiskBadge, Select, Skeleton, toast } from "@/ui";

const RISKS: readonly Risk[] = ["read", "write", "external", "destructive"];
const ORIGINS: readonly Origin[] = ["chat", "cli", "api", "schedule", "webhook", "delegation"];
const ROLES: readonly Role[] = ["admin", "operator", "developer", "viewer"];
const EMPTY: ToolRule = { name: "", risks: ["destructive"], agents: [], origins: [], roles: [], decision: "ask", four_eyes: false };

/** As a rule is sent: its agents by their ids, so that it stays with them whatever they are called by then. */
const sent = (rule: ToolRuleView): ToolRule => ({ ...rule, agents: rule.agents.map((agent) => agent.id) });

/** Rules of the installation over what agents do; administrators change them. */
export function Rules() {
  const t = useT("settings");
  const me = useMe();
  const rules = useToolRules();
  const replace = useReplaceToolRules();
  const [adding, setAdding] = useState(false);
  const admin = isAdmin(me.data);
  const remove = (rule: ToolRuleView) => {
    if (!rules.data) return;
    const before = rules.data.rules;
    replace.mutate({ version: rules.data.version, rules: before.filter((one) => one !== rule).map(sent) }, {
      onSuccess: ({ version }) => toast({ title: t("rule_removed", { name: rule.name }), undo: () => replace.mutate({ version, rules: before.map(sent) }) }),
    });
  };
  return (
    <Card title={t("sec_rules")} actions={admin && <Button size="sm" icon={<Plus aria-hidden className="size-4" />} onClick={() => setAdding(true)}>{t("rule_add")}</Button>}>
      <div className="flex flex-col gap-3">
        <p className="max-w-prose text-base text-ink-2">{t("rules_text")}</p>
        {replace.error && !adding && <ErrorState inline error={replace.error} />}
        {rules.error ? <ErrorState inline error={rules.error} onRetry={() => void rules.refetch()} /> : !rules.data ? <Skeleton rows={2} /> : rules.data.rules.length === 0 ? <p className="text-base text-ink-3">{t("rules_none")}</p> : (
          <ul className="divide-y divide-line rounded-lg border border-line">
            {rules.data.rules.map((rule) => (
              <li key={rule.name} className="flex items-start gap-3 px-4 py-3">
                <div className="min-w-0 flex-1">
                  <p className="flex flex-wrap items-center gap-2 text-base font-medium"><span className="wrap-anywhere">{rule.name}</span><Badge tone={rule.decision === "deny" ? "bad" : "warn"}>{t(rule.decision === "deny" ? "rule_deny" : rule.four_eyes ? "rule_four_eyes" : "rule_ask")}</Badge></p>
                  <p className="mt-1 flex flex-wrap items-center gap-1.5 text-sm text-ink-2">{(rule.risks ?? []).length === 0 ? t("rule_all_risks") : (rule.risks ?? []).map((risk) => <RiskBadge key={risk} risk={risk} />)}<Limits rule={rule} /></p>
                </div>
                {admin && <IconButton size="sm" label={t("rule_remove", { name: rule.name })} onClick={() => remove(rule)}><X /></IconButton>}
              </li>
            ))}
          </ul>
        )}
      </div>
      {adding && rules.data && <RuleDialog version={rules.data.version} rules={rules.data.rules} onClose={() => setAdding(false)} />}
    </Card>
  );
}

function Limits({ rule }: { rule: ToolRuleView }) {
  const t = useT("settings");
  const parts = [
    rule.agents.length > 0 && t("rule_agents", { names: rule.agents.map((agent) => nameOf(agent, t("rule_agent_gone"))).join(", ") }),
    (rule.origins ?? []).length > 0 && t("rule_origins", { names: (rule.origins ?? []).map((one) => t(`origin_${one}`)).join(", ") }),
    (rule.roles ?? []).length > 0 && t("rule_roles", { names: (rule.roles ?? []).map((one) => t(`rule_role_${one}`)).join(", ") }),
  ].filter(Boolean);
  return <span className="wrap-anywhere">{parts.length > 0 ? parts.join(" · ") : t("rule_everywhere")}</span>;
}

function RuleDialog({ version, rules, onClose }: { version: number; rules: ToolRuleView[]; onClose: () => void }) {
  const t = useT("settings");
  const replace = useReplaceToolRules();
  const [rule, setRule] = useState<ToolRule>(EMPTY);
  const [agents, setAgents] = useState("");
  const [tried, setTried] = useState(false);
  const patch = (next: Partial<ToolRule>) => setRule((old) => ({ ...old, ...next }));
  const name = rule.name.trim();
  const problem = name === "" ? t("rule_name_missing") : rules.some((one) => one.name === name) ? t("rule_name_taken") : undefined;
  const what = rule.decision === "deny" ? "deny" : rule.four_eyes ? "four_eyes" : "ask";
  const save = () => {
    setTried(true);
    if (problem) return;
    const whole = { ...rule, name, agents: agents.split(",").map((one) => one.trim()).filter(Boolean) };
    replace.mutate({ version, rules: [...rules.map(sent), whole] }, { onSuccess: () => (toast({ title: t("rule_added", { name }) }), onClose()) });
  };
  const choose = <T extends string>(label: string, all: readonly T[], chosen: readonly T[] | undefined, words: (one: T) => string, set: (next: T[]) => void) => (
    <fieldset className="flex flex-col gap-2">
      <legend className="mb-1 text-sm font-medium">{label}</legend>
      <div className="grid gap-2 sm:grid-cols-2">{all.map((one) => <Checkbox key={one} checked={(chosen ?? []).includes(one)} onChange={(on) => set(on ? [...(chosen ?? []), one] : (chosen ?? []).filter((other) => other !== one))} label={words(one)} />)}</div>
    </fieldset>
  );
  return (
    <Dialog open wide onOpenChange={onClose} title={t("rule_add")} description={t("rule_add_text")} footer={<><Button onClick={onClose}>{t("cancel")}</Button><Button variant="primary" loading={replace.isPending} onClick={save}>{t("rule_save")}</Button></>}>
      <form className="flex flex-col gap-5 pb-1" onSubmit={(event) => (event.preventDefault(), save())}>
        {replace.error && <ErrorState inline error={replace.error} />}
        <Field label={t("rule_name")} hint={t("rule_name_hint")} error={tried ? problem : undefined}>{(p) => <Input {...p} maxLength={limits.ToolRuleInput.name.maxLength} value={rule.name} onChange={(event) => patch({ name: event.target.value })} />}</Field>
        <Field label={t("rule_what")}>{(p) => (
          <Select {...p} value={what} onChange={({ target }) => patch({ decision: target.value === "deny" ? "deny" : "ask", four_eyes: target.value === "four_eyes" })}>
            {(["ask", "four_eyes", "deny"] as const).map((one) => <option key={one} value={one}>{t(`rule_${one}`)}</option>)}
          </Select>
        )}</Field>
        {choose(t("rule_risks"), RISKS, rule.risks, (one) => t(`rule_risk_${one}`), (risks) => patch({ risks }))}
        {choose(t("rule_from"), ORIGINS, rule.origins, (one) => t(`origin_${one}`), (origins) => patch({ origins }))}
        {choose(t("rule_by"), ROLES, rule.roles, (one) => t(`rule_role_${one}`), (roles) => patch({ roles }))}
        <Field label={t("rule_agents_label")} hint={t("rule_agents_hint")}>{(p) => <Input {...p} spellCheck={false} value={agents} onChange={(event) => setAgents(event.target.value)} />}</Field>
        <button type="submit" hidden tabIndex={-1} aria-hidden />
      </form>
    </Dialog>
  );
}
