import { Link } from "@tanstack/react-router";
import { Bot, X } from "lucide-react";
import { useAgents, useSkillActions } from "@/api/hooks";
import type { SkillDetail } from "@/api/types";
import { useT } from "@/i18n";
import { EmptyState, IconButton, Select, toast } from "@/ui";
import { useFailed } from "./actions";

/** Which agents have the skill; giving and taking is done at once. */
export function Agents({ skill, operator }: { skill: SkillDetail; operator: boolean }) {
  const t = useT("skills");
  const agents = useAgents();
  const failed = useFailed();
  const { attach, detach } = useSkillActions();
  const nameOf = (id: string) => agents.items.find((one) => one.id === id)?.name ?? id;
  const others = agents.items.filter((one) => !skill.agents.includes(one.id));
  const give = (agent: string, back = false) => attach.mutateAsync({ agent, skill: skill.id }).then(() => toast({ title: t("given", { agent: nameOf(agent) }), ...(!back && { undo: () => void take(agent, true) }) }), failed);
  const take = (agent: string, back = false) => detach.mutateAsync({ agent, skill: skill.id }).then(() => toast({ title: t("taken", { agent: nameOf(agent) }), ...(!back && { undo: () => void give(agent, true) }) }), failed);
  return (
    <div className="flex flex-col gap-4">
      <p className="text-sm text-ink-2">{t("agents_text")}</p>
      {skill.agents.length === 0 ? (
        <div className="rounded-lg border border-line bg-surface"><EmptyState icon={<Bot />} title={t("agents_none")}>{operator ? t("agents_none_text") : t("agents_operator")}</EmptyState></div>
      ) : (
        <ul aria-label={t("agents_with")} className="divide-y divide-line rounded-lg border border-line bg-surface">
          {skill.agents.map((id) => (
            <li key={id} className="flex min-h-11 items-center gap-2 py-1 pr-1.5 pl-4">
              <Link to="/agents/$agentId" params={{ agentId: id }} className="min-w-0 flex-1 truncate text-base text-accent-ink hover:underline">{nameOf(id)}</Link>
              {operator && <IconButton size="sm" label={t("take_from", { agent: nameOf(id) })} disabled={detach.isPending} onClick={() => void take(id)}><X /></IconButton>}
            </li>
          ))}
        </ul>
      )}
      {operator && others.length > 0 && (
        <Select aria-label={t("give_to")} className="self-start" disabled={attach.isPending} value="" onChange={(event) => event.target.value && void give(event.target.value)}>
          <option value="">{t("give_to_choose")}</option>
          {others.map((agent) => <option key={agent.id} value={agent.id}>{agent.name}</option>)}
        </Select>
      )}
    </div>
  );
}
