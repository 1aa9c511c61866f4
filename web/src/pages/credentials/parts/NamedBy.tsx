import { Link } from "@tanstack/react-router";
import { Bot, Plug, Puzzle } from "lucide-react";
import type { ReactNode } from "react";
import { useT } from "@/i18n";
import type { NamedBy as By } from "./namers";

/** Skills, agents and MCP servers that use a credential. */
export function NamedBy({ by }: { by: By }) {
  const t = useT("credentials");
  const entry = (key: string, icon: ReactNode, link: ReactNode, more: string) => <li key={key} className="flex items-start gap-2 text-base [&>svg]:mt-0.5 [&>svg]:size-4 [&>svg]:shrink-0 [&>svg]:text-ink-3">{icon}<span className="min-w-0 wrap-anywhere">{link} <span className="text-sm text-ink-3">{more}</span></span></li>;
  const skill = (id: string, name: string) => <Link to="/skills/$skillId" params={{ skillId: id }} className="text-accent-ink underline underline-offset-2">{name}</Link>;
  const server = (id: string, name: string) => <Link to="/mcp-servers/$serverId" params={{ serverId: id }} className="text-accent-ink underline underline-offset-2">{name}</Link>;
  return (
    <ul className="flex flex-col gap-1.5">
      {by.skills.map((one) => entry(`s${one.id}`, <Puzzle aria-hidden />, skill(one.id, one.name), t("by_skill")))}
      {by.agents.map(({ agent, under }) => entry(`a${agent.id}`, <Bot aria-hidden />, <Link to="/agents/$agentId" params={{ agentId: agent.id }} className="text-accent-ink underline underline-offset-2">{agent.name}</Link>, t("by_agent", { names: under.join(", ") })))}
      {by.servers.map((one) => entry(`m${one.id}`, <Plug aria-hidden />, server(one.id, one.name), t("by_server")))}
      {by.maySkills.map((one) => entry(`f${one.id}`, <Puzzle aria-hidden />, skill(one.id, one.name), t("by_skill_may")))}
      {by.mayServers.map((one) => entry(`n${one.id}`, <Plug aria-hidden />, server(one.id, one.name), t("by_server_may")))}
    </ul>
  );
}
