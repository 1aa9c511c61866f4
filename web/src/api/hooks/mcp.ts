import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { api } from "../client";
import type { Agent, McpServer, McpServerInput, Skill } from "../types";
import { allOf, useFresh, usePaged } from "./core";

export const useMcpServers = () => usePaged<McpServer>(["mcp-servers"], "/api/mcp/servers", {}, { limit: 100 });
export const useMcpServer = (id: string) => useQuery({ queryKey: ["mcp-server", id], queryFn: ({ signal }) => api.get<McpServer>(`/api/mcp/servers/${id}`, { signal }) });

/** A login that was begun: the person goes on at `url`; `login` names it. */
type Begun = { url: string; login?: string };
type LoginState = { status: "waiting" | "done" | "failed"; error: string | null };
/** How a login goes; asked until it has ended. */
export const useMcpLogin = (login: string | undefined) =>
  useQuery({
    queryKey: ["mcp-login", login],
    queryFn: ({ signal }) => api.get<LoginState>(`/api/mcp/logins/${login}`, { signal }),
    enabled: !!login,
    refetchInterval: ({ state }) => (state.error || (state.data && state.data.status !== "waiting") ? false : 1_500),
    // The person is in another tab meanwhile.
    refetchIntervalInBackground: true,
  });

/** Skills that stand for tools of MCP servers, and all agents: who has which tool. */
export const useMcpSkills = () =>
  useQuery({
    queryKey: ["skills", "of-mcp"],
    queryFn: async ({ signal }): Promise<{ skills: Skill[]; agents: Agent[] }> => {
      const [skills, agents] = await Promise.all([allOf<Skill>("/api/skills", { kind: "mcp" }, signal), allOf<Agent>("/api/agents", {}, signal)]);
      return { skills, agents };
    },
    staleTime: 0,
  });

export function useMcpActions() {
  const client = useQueryClient();
  const fresh = useFresh();
  /** Shows at once what the answer holds. */
  const seen = (server: McpServer) => {
    client.setQueryData(["mcp-server", server.id], server);
    void fresh("mcp-servers");
  };
  // Somebody else may have judged the tool meanwhile, or the server have changed it.
  const again = () => fresh("mcp-server");
  return {
    create: useMutation({ mutationFn: (body: McpServerInput) => api.post<McpServer>("/api/mcp/servers", { body }), onSuccess: seen }),
    update: useMutation({ mutationFn: ({ id, ...body }: McpServerInput & { id: string }) => api.put<McpServer>(`/api/mcp/servers/${id}`, { body }), onSuccess: seen }),
    remove: useMutation({ mutationFn: (id: string) => api.delete(`/api/mcp/servers/${id}`), onSuccess: () => fresh("mcp-servers") }),
    check: useMutation({ mutationFn: (id: string) => api.post<McpServer>(`/api/mcp/servers/${id}/check`), onSuccess: seen }),
    accept: useMutation({ mutationFn: ({ id, ...body }: { id: string; tool: string; hash: string }) => api.post<McpServer>(`/api/mcp/servers/${id}/accept`, { body }), onSuccess: seen, onError: again }),
    withdraw: useMutation({ mutationFn: ({ id, ...body }: { id: string; tool: string }) => api.post<McpServer>(`/api/mcp/servers/${id}/withdraw`, { body }), onSuccess: seen, onError: again }),
    attach: useMutation({ mutationFn: ({ id, ...body }: { id: string; agent: string | null; tools: string[] }) => api.post<Skill[]>(`/api/mcp/servers/${id}/attach`, { body }), onSuccess: () => fresh("skills", "agents", "agent") }),
    /** Begins a login. */
    login: useMutation({ mutationFn: (id: string) => api.post<Begun>(`/api/mcp/servers/${id}/login`) }),
  };
}
