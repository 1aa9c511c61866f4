import { Link, useParams } from "@tanstack/react-router";
import { ArrowLeft } from "lucide-react";
import { useState } from "react";
import { mayWork, useMe, useReach, useSkill, useSkillKinds } from "@/api/hooks";
import { useT } from "@/i18n";
import { EmptyState, ErrorState, IconButton, Page, Skeleton } from "@/ui";
import { useFilters } from "../runs/parts/filters";
import { Editor } from "./Editor";
import { copyName, emptyOf, exampleOf, inputOf, mayChange, mayWrite, startOf } from "./parts/form";
import { Kinds } from "./parts/Kinds";

/** One skill, or a new one; `?from=` begins with a copy, `?kind=` with a type, `?agent=` gives it to that agent. */
export function SkillPage() {
  const t = useT("skills");
  const { skillId } = useParams({ strict: false }) as { skillId?: string };
  const [{ from, kind: wanted, agent }, set] = useFilters(["from", "kind", "agent"] as const);
  const source = useSkill(skillId ?? (from || undefined));
  const kinds = useSkillKinds();
  const me = useMe();
  const granted = useReach("skill", skillId, "edit");
  const [empty, setEmpty] = useState(false);
  const back = <Link to="/skills" tabIndex={-1}><IconButton label={t("back")} className="-ml-2"><ArrowLeft /></IconButton></Link>;
  const error = source.error ?? kinds.error;
  if (error) return <Page title={t("title")} back={back}><ErrorState error={error} onRetry={() => (void source.refetch(), void kinds.refetch())} /></Page>;
  if (source.isLoading || !kinds.data || !me.data || granted === null) return <Page title={t("title")} back={back}><Skeleton rows={8} /></Page>;
  const kind = kinds.data.find((one) => one.type === (source.data?.type ?? wanted));
  if (skillId && source.data) return <Editor key={skillId} skill={source.data} start={inputOf(source.data)} kind={kind} back={back} mayEdit={granted && mayChange(me.data, source.data)} />;
  if (!mayWork(me.data)) return <Page title={t("new_title")} back={back}><EmptyState title={t("not_allowed")}>{t("not_allowed_text")}</EmptyState></Page>;
  if (!kind) return <Page title={t("new_title")} lead={t("kinds_lead")} back={back}><Kinds onChoose={(chosen) => set({ kind: chosen.type })} /></Page>;
  const start = startOf(me.data, source.data ? { ...inputOf(source.data), name: copyName(source.data.name, [source.data.name]) } : empty ? emptyOf(kind) : exampleOf(kind));
  return <Editor key={`new-${from}-${kind.type}-${empty}`} skill={undefined} start={start} kind={kind} back={back} mayEdit={mayWrite(me.data, kind.type)} agent={agent} onKind={() => set({ kind: "", from: "" })} {...(!source.data && { example: !empty, onEmpty: () => setEmpty(true) })} />;
}
