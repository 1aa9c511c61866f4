// Who names a credential, and who may find it by its kind.
import type { Namers } from "@/api/hooks/credentials";
import type { Agent, Credential, McpServer, Skill } from "@/api/types";

export type NamedBy = {
  /** Skills that name it. */
  skills: Skill[];
  /** Agents that name it, with the skills or kinds that they name it for. */
  agents: { agent: Agent; under: string[] }[];
  /** MCP servers that get it. */
  servers: McpServer[];
  /** Skills that ask for its kind only, and may so find it. */
  maySkills: Skill[];
  mayServers: McpServer[];
};

export function namedBy(credential: Credential, { skills, agents, servers }: Namers): NamedBy {
  const named = (wanted: Skill["credential"] | McpServer["credential"]) => wanted?.name === credential.name && (wanted.kind ?? credential.kind) === credential.kind;
  const byKind = (wanted: Skill["credential"] | McpServer["credential"]) => !!wanted && wanted.name == null && wanted.kind === credential.kind;
  const findable = credential.discoverable || credential.roles.length > 0;
  // The login of a person at a server is called after both.
  const login = (server: McpServer) => server.per_user && credential.name.startsWith(`mcp_${server.name}_`);
  return {
    skills: skills.filter((skill) => named(skill.credential)),
    agents: agents.flatMap((agent) => {
      const under = Object.entries(agent.credentials ?? {}).filter(([, id]) => id === credential.id).map(([name]) => name);
      return under.length > 0 ? [{ agent, under }] : [];
    }),
    servers: servers.filter((server) => named(server.credential) || login(server)),
    maySkills: findable ? skills.filter((skill) => byKind(skill.credential)) : [],
    mayServers: credential.discoverable ? servers.filter((server) => !server.per_user && byKind(server.credential)) : [],
  };
}

export const isNamed = (by: NamedBy): boolean => by.skills.length + by.agents.length + by.servers.length > 0;
