// How types, effects and states of skills look and read.
import { Binary, Bot, Boxes, Braces, Cable, Database, FileCode2, Globe, type LucideIcon, MessageSquareText, Newspaper, PowerOff, ScrollText, Server, Sparkles, SquareTerminal } from "lucide-react";
import type { Skill, SkillKind } from "@/api/types";
import { useT } from "@/i18n";
import { Badge, RiskBadge } from "@/ui";

const ICONS: Record<SkillKind, LucideIcon> = { internal: MessageSquareText, http: Globe, graphql: Braces, sql: Database, ssh: Server, shell: SquareTerminal, python: FileCode2, ansible: ScrollText, docker: Boxes, scrape: Newspaper, huggingface: Sparkles, agent_delegation: Bot, mcp: Cable };

export function KindIcon({ kind }: { kind: SkillKind }) {
  const Icon = ICONS[kind] ?? Binary;
  return <Icon aria-hidden />;
}

export function KindBadge({ kind }: { kind: SkillKind }) {
  const t = useT("skills");
  return <Badge icon={<KindIcon kind={kind} />}>{t(`kind_${kind}`)}</Badge>;
}

/** What one has to know of a skill before it is used. */
export function SkillBadges({ skill, version }: { skill: Skill; version?: boolean }) {
  const t = useT("skills");
  return (
    <>
      <KindBadge kind={skill.type} />
      {skill.type !== "internal" && <RiskBadge risk={skill.risk} />}
      {skill.type !== "internal" && skill.effect !== "read" && <Badge title={t("effect")}>{t(`effect_${skill.effect}`)}</Badge>}
      {version !== false && <Badge className="tabular">{t("version_n", { n: skill.version })}</Badge>}
      {skill.package && <Badge tone="accent">{skill.package}</Badge>}
      {!skill.enabled && <Badge icon={<PowerOff aria-hidden />}>{t("disabled")}</Badge>}
    </>
  );
}
