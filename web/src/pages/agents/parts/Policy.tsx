import { TriangleAlert, X } from "lucide-react";
import { ToggleGroup } from "radix-ui";
import type { Decision, Policy, Tool } from "@/api/types";
import { useT } from "@/i18n";
import { cx, IconButton, RiskBadge, Select } from "@/ui";

const CLASSES = ["read", "write", "external", "destructive"] as const;
const DECISIONS = ["allow", "ask", "deny"] as const;
const on: Record<Decision, string> = { allow: "data-[state=on]:bg-ok-soft data-[state=on]:text-ok", ask: "data-[state=on]:bg-warn-soft data-[state=on]:text-warn", deny: "data-[state=on]:bg-bad-soft data-[state=on]:text-bad" };

function Choice({ value, label, disabled, onChange }: { value: Decision; label: string; disabled: boolean; onChange: (value: Decision) => void }) {
  const t = useT("agents");
  return (
    <ToggleGroup.Root type="single" aria-label={label} disabled={disabled} value={value} onValueChange={(next) => next && onChange(next as Decision)} className="inline-flex shrink-0 rounded-md border border-line-2 p-0.5">
      {DECISIONS.map((decision) => <ToggleGroup.Item key={decision} value={decision} className={cx("h-6.5 rounded-sm px-2.5 text-sm text-ink-3 hover:text-ink data-[state=on]:font-medium max-md:h-9", on[decision])}>{t(`decision_${decision}`)}</ToggleGroup.Item>)}
    </ToggleGroup.Root>
  );
}

type Props = { policy: Policy; tools: Tool[]; disabled: boolean; onChange: (policy: Policy) => void };

/** What each class of risk needs, and tools that are exceptions. */
export function PolicyForm({ policy, tools, disabled, onChange }: Props) {
  const t = useT("agents");
  const exceptions = Object.entries(policy.tools);
  const without = (name: string) => Object.fromEntries(exceptions.filter(([other]) => other !== name));
  const riskOf = (name: string) => tools.find((tool) => tool.name === name)?.risk;
  const daring = policy.destructive === "allow" || exceptions.some(([name, decision]) => decision === "allow" && riskOf(name) === "destructive");
  return (
    <div className="flex flex-col gap-4">
      <p className="text-sm text-ink-2">{t("policy_text")}</p>
      <ul className="divide-y divide-line rounded-lg border border-line bg-surface">
        {CLASSES.map((name) => (
          <li key={name} className="flex flex-wrap items-center gap-x-4 gap-y-2 px-3 py-2.5">
            <div className="min-w-0 flex-1"><p className="text-base font-medium">{t(`class_${name}`)}</p><p className="text-xs text-ink-3">{t(`class_${name}_hint`)}</p></div>
            <Choice label={t(`class_${name}`)} value={policy[name]} disabled={disabled} onChange={(decision) => onChange({ ...policy, [name]: decision })} />
          </li>
        ))}
      </ul>
      <div className="flex flex-col gap-2">
        <h3 className="text-sm font-medium">{t("exceptions")}</h3>
        {exceptions.length === 0 && <p className="text-sm text-ink-3">{t("exceptions_none")}</p>}
        {exceptions.length > 0 && (
          <ul className="divide-y divide-line rounded-lg border border-line bg-surface">
            {exceptions.map(([name, decision]) => {
              const risk = riskOf(name);
              return (
                <li key={name} className="flex flex-wrap items-center gap-x-3 gap-y-2 py-2 pr-1.5 pl-3">
                  <span className="flex min-w-0 flex-1 items-center gap-2"><code className="truncate font-mono text-sm">{name}</code>{risk && <RiskBadge risk={risk} />}</span>
                  <Choice label={name} value={decision} disabled={disabled} onChange={(next) => onChange({ ...policy, tools: { ...policy.tools, [name]: next } })} />
                  <IconButton size="sm" disabled={disabled} label={t("exception_remove", { tool: name })} onClick={() => onChange({ ...policy, tools: without(name) })}><X /></IconButton>
                </li>
              );
            })}
          </ul>
        )}
        {!disabled && (
          <Select small aria-label={t("exception_add")} className="self-start" value="" onChange={(event) => event.target.value && onChange({ ...policy, tools: { ...policy.tools, [event.target.value]: "ask" } })}>
            <option value="">{t("exception_add")}</option>
            {tools.filter((tool) => !(tool.name in policy.tools)).map((tool) => <option key={tool.name} value={tool.name}>{tool.name}</option>)}
          </Select>
        )}
      </div>
      {daring && <p className="flex gap-2 rounded-lg bg-bad-soft px-3 py-2 text-base"><TriangleAlert aria-hidden className="mt-0.5 size-4 shrink-0 text-bad" />{t("allow_destructive")}</p>}
    </div>
  );
}
