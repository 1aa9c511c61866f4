import { FlaskConical } from "lucide-react";
import { useId, useState } from "react";
import { useAgents, useCheckData, useTools } from "@/api/hooks";
import { limits } from "@/api/limits";
import type { DataChecked, DataRulesView } from "@/api/types";
import { useT } from "@/i18n";
import { Badge, Button, Card, ClassificationBadge, ErrorState, Facts, Field, Input, Textarea } from "@/ui";

const EMPTY = { agent: "", tool: "", argument: "", text: "" };

/** What the saved rules say of something that a run would meet. Nothing is done. */
export function TryIt({ rules, unsaved }: { rules: DataRulesView; unsaved: boolean }) {
  const t = useT("governance");
  const check = useCheckData();
  const agents = useAgents();
  const tools = useTools();
  const [form, setForm] = useState(EMPTY);
  const [agentList, toolList] = [useId(), useId()];
  const set = (change: Partial<typeof EMPTY>) => (setForm((old) => ({ ...old, ...change })), check.data && check.reset());
  const go = () => check.mutate({ agent: form.agent.trim(), tool: form.tool.trim(), argument: form.argument, text: form.text });
  // It stands within another form.
  const onKeyDown = (event: React.KeyboardEvent) => event.key === "Enter" && (event.target as HTMLElement).tagName === "INPUT" && (event.preventDefault(), go());
  return (
    <Card title={t("try")}>
      <div role="group" aria-label={t("try")} className="flex flex-col gap-4" onKeyDown={onKeyDown}>
        <p className="max-w-prose text-base text-ink-2">{t("try_text")}</p>
        <div className="grid gap-4 md:grid-cols-2">
          <Field label={t("try_agent")}>{(p) => <><Input {...p} maxLength={limits.DataCheck.agent.maxLength} list={agentList} autoComplete="off" value={form.agent} onChange={(event) => set({ agent: event.target.value })} /><datalist id={agentList}>{agents.items.map((agent) => <option key={agent.id} value={agent.name} />)}</datalist></>}</Field>
          <Field label={t("try_tool")}>{(p) => <><Input {...p} maxLength={limits.DataCheck.tool.maxLength} list={toolList} autoComplete="off" spellCheck={false} className="font-mono text-sm" value={form.tool} onChange={(event) => set({ tool: event.target.value })} /><datalist id={toolList}>{(tools.data ?? []).map((tool) => <option key={tool.name} value={tool.name} />)}</datalist></>}</Field>
          <Field label={t("try_argument")} hint={t("try_argument_hint")}>{(p) => <Input {...p} maxLength={limits.DataCheck.argument.maxLength} autoComplete="off" spellCheck={false} className="font-mono text-sm" value={form.argument} onChange={(event) => set({ argument: event.target.value })} />}</Field>
          <Field label={t("try_said")} hint={t("try_said_hint")}>{(p) => <Textarea {...p} maxLength={limits.DataCheck.text.maxLength} maxRows={6} value={form.text} onChange={(event) => set({ text: event.target.value })} />}</Field>
        </div>
        <div className="flex flex-wrap items-center gap-3">
          <Button icon={<FlaskConical aria-hidden className="size-4" />} loading={check.isPending} onClick={go}>{t("try_go")}</Button>
          {unsaved && <span className="text-sm text-ink-3">{t("try_saved")}</span>}
        </div>
        {check.error && <ErrorState inline error={check.error} />}
        <div role="status">{check.data && <Result found={check.data} rules={rules} />}</div>
      </div>
    </Card>
  );
}

function Result({ found: { classified, policies, connections }, rules }: { found: DataChecked; rules: DataRulesView }) {
  const t = useT("governance");
  if (!classified) return <p className="text-base">{t("result_none")}</p>;
  const blocked = rules.policies.find((policy) => policy.action === "block" && policies.includes(policy.name));
  const names = (all: readonly string[], none: string) => (all.length === 0 ? none : <span className="flex flex-wrap gap-1.5">{all.map((name) => <Badge key={name}>{name}</Badge>)}</span>);
  return (
    <Facts
      items={[
        [t("classification"), <ClassificationBadge key="c" level={classified.classification} />],
        [t("result_label"), classified.label],
        [t("result_source"), classified.source],
        [t("policies"), names(policies, t("result_no_policy"))],
        [t("result_connections"), blocked ? t("result_blocked", { name: blocked.name }) : names(connections, t("result_no_connection"))],
      ]}
    />
  );
}
