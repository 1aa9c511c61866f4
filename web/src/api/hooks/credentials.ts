import { useMutation, useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { api, newKey } from "../client";
import type { Agent, Credential, CredentialInput, CredentialKindInfo, CredentialPatch, CredentialUse, McpServer, Page, Skill } from "../types";
import { allOf, useFresh, usePaged } from "./core";

export const useCredentials = (enabled = true) => usePaged<Credential>(["credentials"], "/api/credentials", {}, { limit: 100, enabled });
export const useCredential = (id: string) => useQuery({ queryKey: ["credential", id], queryFn: ({ signal }) => api.get<Credential>(`/api/credentials/${id}`, { signal }) });
/** The kinds of credentials and what each takes. */
export const useCredentialKinds = () =>
  useQuery({ queryKey: ["credential-kinds"], queryFn: async ({ signal }) => (await api.get<Page<CredentialKindInfo>>("/api/credentials/kinds", { query: { limit: 100 }, signal })).items, staleTime: Infinity });
export const useCredentialUses = (id: string, enabled: boolean) => usePaged<CredentialUse>(["credential-uses", id], `/api/credentials/${id}/uses`, {}, { enabled });

/** What may name credentials: skills, agents and MCP servers. */
export type Namers = { skills: Skill[]; agents: Agent[]; servers: McpServer[] };
export const useCredentialNamers = () =>
  useQuery({
    queryKey: ["credential-namers"],
    queryFn: async ({ signal }): Promise<Namers> => {
      const [skills, agents, servers] = await Promise.all([allOf<Skill>("/api/skills", {}, signal), allOf<Agent>("/api/agents", {}, signal), allOf<McpServer>("/api/mcp/servers", {}, signal)]);
      return { skills, agents, servers };
    },
    staleTime: 0,
  });

/** Keeps and changes credentials. No mutations: the query cache would hold on to the secrets that they were given. `null`: it failed, see `error`. */
export function useCredentialWriter() {
  const fresh = useFresh();
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>(null);
  const write = async (send: (idempotencyKey: string) => Promise<Credential>): Promise<Credential | null> => {
    setBusy(true);
    setError(null);
    try {
      const credential = await send(newKey());
      void fresh("credentials", "credential");
      return credential;
    } catch (problem) {
      setError(problem);
      return null;
    } finally {
      setBusy(false);
    }
  };
  return {
    busy,
    error,
    create: (body: CredentialInput) => write((idempotencyKey) => api.post<Credential>("/api/credentials", { body, idempotencyKey })),
    change: (id: string, body: CredentialPatch) => write((idempotencyKey) => api.patch<Credential>(`/api/credentials/${id}`, { body, idempotencyKey })),
  };
}

export function useCredentialActions() {
  const fresh = useFresh();
  return {
    remove: useMutation({ mutationFn: (id: string) => api.delete(`/api/credentials/${id}`), onSuccess: () => fresh("credentials") }),
    /** Seals all with a new key. */
    rotate: useMutation({ mutationFn: () => api.post<{ resealed: number }>("/api/credentials/rotate"), onSuccess: () => fresh("credentials") }),
  };
}
