import { Link, useNavigate, useParams } from "@tanstack/react-router";
import { ArrowLeft } from "lucide-react";
import { isOperator, useAgent, useMe, useReach } from "@/api/hooks";
import { useT } from "@/i18n";
import { ErrorState, IconButton, Page, Skeleton } from "@/ui";
import { useFilters } from "../runs/parts/filters";
import { Builder } from "./Builder";
import { EMPTY, inputOf } from "./parts/form";

/** One agent, or a new one; `?from=` begins with a copy of another. */
export function AgentPage() {
  const t = useT("agents");
  const { agentId } = useParams({ strict: false }) as { agentId?: string };
  const [{ from }] = useFilters(["from"] as const);
  const navigate = useNavigate();
  const source = useAgent(agentId ?? (from || undefined));
  const me = useMe();
  const mayEdit = useReach("agent", agentId, "edit");
  const back = <Link to="/agents" tabIndex={-1}><IconButton label={t("back")} className="-ml-2"><ArrowLeft /></IconButton></Link>;
  if (source.error) return <Page title={t("title")} back={back}><ErrorState error={source.error} onRetry={() => (agentId ? void source.refetch() : void navigate({ to: "/agents/new", search: {} }))} /></Page>;
  if (source.isLoading || !me.data || mayEdit === null) return <Page title={t("title")} back={back}><Skeleton rows={8} /></Page>;
  const agent = agentId ? source.data : undefined;
  const start = agent ? inputOf(agent) : source.data ? { ...inputOf(source.data), name: t("copy_of", { name: source.data.name }).slice(0, 64) } : EMPTY;
  return <Builder key={agentId ?? `new-${from}`} agent={agent} start={start} back={back} mayEdit={agentId ? mayEdit : isOperator(me.data)} operator={isOperator(me.data)} />;
}
