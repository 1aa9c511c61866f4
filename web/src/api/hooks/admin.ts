import { useQuery, useQueryClient } from "@tanstack/react-query";
import { api } from "../client";
import type { Config, Dashboard, DashboardPeriod, HealthReport, RestartHint } from "../types";

export const useConfig = (enabled: boolean) => useQuery({ queryKey: ["config"], queryFn: ({ signal }) => api.get<Config>("/api/admin/config", { signal }), enabled });
export const useRestartHint = (enabled: boolean) => useQuery({ queryKey: ["restart-hint"], queryFn: ({ signal }) => api.get<RestartHint>("/api/admin/restart-hint", { signal }), enabled });
/** Some checks start programs, so it is asked when somebody looks, not by itself. */
export const useHealth = (enabled: boolean) => useQuery({ queryKey: ["health"], queryFn: ({ signal }) => api.get<HealthReport>("/api/admin/health", { signal }), enabled, staleTime: Infinity, retry: false });

/** Saves settings. No mutation, since the cache of those would keep a secret. */
export function useConfigWriter() {
  const client = useQueryClient();
  return async (values: Record<string, string | null>): Promise<Config> => {
    const config = await api.put<Config>("/api/admin/config", { body: { values } });
    client.setQueryData(["config"], config);
    await client.invalidateQueries({ queryKey: ["restart-hint"] });
    return config;
  };
}

export const useDashboard = (period: DashboardPeriod) =>
  useQuery({ queryKey: ["dashboard", period], queryFn: ({ signal }) => api.get<Dashboard>("/api/dashboard", { query: { period }, signal }), placeholderData: (previous) => previous, refetchInterval: 60_000 });
