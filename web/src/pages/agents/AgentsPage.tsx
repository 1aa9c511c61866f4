import { Link, useNavigate } from "@tanstack/react-router";
import { Bot, Copy, Ellipsis, MessageSquare, Pencil, Plus, SearchX, Trash2 } from "lucide-react";
import { isOperator, useAgentActions, useAgents, useConnections, useMe } from "@/api/hooks";
import type { Agent } from "@/api/types";
import { useT } from "@/i18n";
import { ButtonLink, EmptyState, IconButton, Menu, MenuItem, MenuSeparator, Page, PagedList, SearchInput, toast, useErrorText } from "@/ui";
import { useFilters, useTyped } from "../runs/parts/filters";

export function AgentsPage() {
  const t = useT("agents");
  const [filters, set] = useFilters(["q"] as const);
  const [q, setQ] = useTyped(filters.q, (value) => set({ q: value }));
  const list = useAgents(filters.q ? { q: filters.q } : {});
  const operator = isOperator(useMe().data);
  const make = operator && <ButtonLink to="/agents/new" size="sm" variant="primary" icon={<Plus aria-hidden className="size-4" />}>{t("new")}</ButtonLink>;
  return (
    <Page title={t("title")} lead={t("lead")} actions={make}>
      {(list.items.length > 5 || filters.q !== "") && <SearchInput className="mb-4 max-w-xs" label={t("search")} value={q} onChange={setQ} />}
      <PagedList
        list={list}
        empty={
          <div className="rounded-lg border border-line bg-surface">
            {filters.q ? <EmptyState icon={<SearchX />} title={t("none_title")}>{t("none_text")}</EmptyState> : <EmptyState icon={<Bot />} title={t("empty_title")} action={operator && <ButtonLink to="/agents/new">{t("new")}</ButtonLink>}>{t("empty_text")}</EmptyState>}
          </div>
        }
      >
        <ul className="grid gap-3 md:grid-cols-2 xl:grid-cols-3">{list.items.map((agent) => <AgentCard key={agent.id} agent={agent} operator={operator} />)}</ul>
      </PagedList>
    </Page>
  );
}

function AgentCard({ agent, operator }: { agent: Agent; operator: boolean }) {
  const t = useT("agents");
  const navigate = useNavigate();
  const connections = useConnections();
  const actions = useDeleting();
  const connection = connections.items.find((item) => item.id === agent.connection)?.name ?? t("default_connection");
  return (
    <li className="group relative flex flex-col rounded-lg border border-line bg-surface transition-colors hover:border-line-2">
      <div className="flex items-start gap-2 px-4 pt-3.5">
        <h2 className="min-w-0 flex-1 text-lg font-semibold wrap-anywhere">
          {/* The whole card opens the agent. */}
          <Link to="/agents/$agentId" params={{ agentId: agent.id }} className="after:absolute after:inset-0 after:rounded-lg focus-visible:outline-none focus-visible:after:outline-2 focus-visible:after:outline-focus">{agent.name}</Link>
        </h2>
        <div className="relative z-1 -mt-0.5 -mr-2 flex">
          <IconButton size="sm" label={`${t("chat")}: ${agent.name}`} onClick={() => void navigate({ to: "/chat", search: { agent: agent.id } })}><MessageSquare /></IconButton>
          {operator && (
            <Menu trigger={<IconButton size="sm" label={`${t("edit")}: ${agent.name}`}><Ellipsis /></IconButton>}>
              <MenuItem icon={<Pencil />} onSelect={() => void navigate({ to: "/agents/$agentId", params: { agentId: agent.id } })}>{t("edit")}</MenuItem>
              <MenuItem icon={<Copy />} onSelect={() => void navigate({ to: "/agents/new", search: { from: agent.id } })}>{t("duplicate")}</MenuItem>
              <MenuSeparator />
              <MenuItem icon={<Trash2 />} danger onSelect={() => void actions(agent)}>{t("delete")}</MenuItem>
            </Menu>
          )}
        </div>
      </div>
      <p className="mb-3 line-clamp-3 px-4 pt-1 text-base text-ink-2 wrap-anywhere">{agent.instructions || t("no_instructions")}</p>
      <p className="mt-auto flex items-center gap-2 truncate border-t border-line px-4 py-2 text-sm text-ink-3">
        <span className="truncate">{connection}</span><span aria-hidden>·</span><span className="shrink-0">{agent.tools.length === 0 ? t("all_tools") : t("tools_count", { count: agent.tools.length })}</span>{agent.skills.length > 0 && <><span aria-hidden>·</span><span className="shrink-0">{t("skills_count", { count: agent.skills.length })}</span></>}
      </p>
    </li>
  );
}

/** Deletes at once, with a way back for a while. */
export function useDeleting(): (agent: Agent) => Promise<void> {
  const t = useT("agents");
  const errorText = useErrorText();
  const { remove, restore } = useAgentActions();
  const failed = (error: unknown) => {
    const { title, hint } = errorText(error);
    toast({ title, ...(hint && { detail: hint }), tone: "bad" });
  };
  // By promises: the page may be gone when the answer comes.
  const bringBack = (agent: Agent) => restore.mutateAsync(agent.id).then(() => toast({ title: t("restored", { name: agent.name }) }), failed);
  return (agent) => remove.mutateAsync(agent.id).then(() => toast({ title: t("deleted", { name: agent.name }), undo: () => void bringBack(agent) }), failed);
}
