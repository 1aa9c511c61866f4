import { Link } from "@tanstack/react-router";
import { Plus, PowerOff, Upload, X } from "lucide-react";
import { lazy, Suspense, useState } from "react";
import { useAllSkills } from "@/api/hooks";
import type { Agent, Skill } from "@/api/types";
import { useT } from "@/i18n";
import { Badge, Button, ButtonLink, ErrorState, IconButton, RiskBadge, SearchInput, Skeleton } from "@/ui";

const ImportDialog = lazy(() => import("@/pages/skills/parts/ImportDialog").then((module) => ({ default: module.ImportDialog })));

type Props = {
  agent: Agent | undefined;
  chosen: string[];
  disabled: boolean;
  operator: boolean;
  onChange: (skills: string[]) => void;
  /** These were given to the agent at once. */
  onGiven: (skills: string[]) => void;
};

/** How many matches are listed; a search finds the others. */
const SHOWN = 8;

/** The skills of an agent, and others to add. */
export function SkillPicker({ agent, chosen, disabled, operator, onChange, onGiven }: Props) {
  const t = useT("agents");
  const all = useAllSkills();
  const [words, setWords] = useState("");
  const [adding, setAdding] = useState(false);
  const [importing, setImporting] = useState(false);
  if (all.error) return <ErrorState inline error={all.error} onRetry={() => void all.refetch()} />;
  if (!all.data) return <Skeleton rows={3} />;
  const found = all.data.filter((skill) => !chosen.includes(skill.id) && `${skill.name} ${skill.description} ${skill.package ?? ""}`.toLowerCase().includes(words.trim().toLowerCase()));
  return (
    <div className="flex flex-col gap-3">
      <p className="text-sm text-ink-2">{t("skills_text")}</p>
      {chosen.length > 0 && (
        <ul aria-label={t("skills_of")} className="divide-y divide-line rounded-lg border border-line bg-surface">
          {chosen.map((id) => {
            const skill = all.data.find((one) => one.id === id);
            return (
              <li key={id} className="flex items-center gap-2 py-1.5 pr-1.5 pl-3">
                {skill ? <Line skill={skill} /> : <span className="min-w-0 flex-1 truncate font-mono text-sm">{id}</span>}
                {!disabled && <IconButton size="sm" label={t("skill_remove", { name: skill?.name ?? id })} onClick={() => onChange(chosen.filter((other) => other !== id))}><X /></IconButton>}
              </li>
            );
          })}
        </ul>
      )}
      {chosen.length === 0 && <p className="text-sm text-ink-3">{t("skills_none")}</p>}
      {!disabled && (
        <div className="flex flex-wrap gap-2">
          <Button size="sm" aria-expanded={adding} icon={<Plus aria-hidden className="size-3.5" />} onClick={() => setAdding(!adding)}>{t("skill_add")}</Button>
          {agent && operator && <Button size="sm" icon={<Upload aria-hidden className="size-3.5" />} onClick={() => setImporting(true)}>{t("skill_import")}</Button>}
          <ButtonLink size="sm" variant="quiet" to="/skills/new" search={agent && operator ? { agent: agent.id } : {}}>{t("skill_new")}</ButtonLink>
        </div>
      )}
      {adding && !disabled && (
        <div className="flex flex-col gap-2">
          <SearchInput label={t("skills_search")} value={words} onChange={setWords} />
          <ul aria-label={t("skills_more")} className="divide-y divide-line rounded-lg border border-line bg-surface">
            {found.slice(0, SHOWN).map((skill) => (
              <li key={skill.id} className="flex items-center gap-2 py-1.5 pr-2 pl-3"><Line skill={skill} /><Button size="sm" aria-label={t("skill_add_name", { name: skill.name })} onClick={() => onChange([...chosen, skill.id])}>{t("skill_add_short")}</Button></li>
            ))}
            {found.length === 0 && <li className="px-3 py-5 text-center text-base text-ink-3">{t(all.data.length === 0 ? "skills_empty" : "skills_no_match")}</li>}
          </ul>
          {found.length > SHOWN && <p className="text-xs text-ink-3">{t("skills_further", { count: found.length - SHOWN })}</p>}
        </div>
      )}
      {importing && agent && <Suspense><ImportDialog agent={agent} onClose={() => setImporting(false)} onImported={(one) => one.state === "active" && onGiven(one.skills)} /></Suspense>}
    </div>
  );
}

function Line({ skill }: { skill: Skill }) {
  const t = useT("agents");
  return (
    <>
      <span className="min-w-0 flex-1">
        <Link to="/skills/$skillId" params={{ skillId: skill.id }} className="block truncate font-mono text-sm text-accent-ink hover:underline">{skill.name}</Link>
        <span className="block truncate text-xs text-ink-3">{skill.description}</span>
      </span>
      {!skill.enabled && <Badge icon={<PowerOff aria-hidden />}>{t("skill_disabled")}</Badge>}
      {skill.package && <Badge>{skill.package}</Badge>}
      {skill.type !== "internal" && <RiskBadge risk={skill.risk} />}
    </>
  );
}
