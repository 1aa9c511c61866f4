import { useMutation, useQuery } from "@tanstack/react-query";
import { api } from "../client";
import { reaches } from "../reach";
import type { AccessDefaults, AccessExplanation, GrantInput, HeldGrant, ResourceAccess, ResourceKind } from "../types";
import { isOperator, mayWork, useMe } from "./account";
import { useFresh } from "./core";

const pathOf = (kind: ResourceKind, id: string) => `/api/access/${kind}/${id}`;

/** Who may use it; for those who may share it. */
export const useResourceAccess = (kind: ResourceKind, id: string) => useQuery({ queryKey: ["access", kind, id], queryFn: ({ signal }) => api.get<ResourceAccess>(pathOf(kind, id), { signal }) });
/** What somebody may do with it, and why; `user` left out: whoever is logged in. */
export const useAccessExplanation = (kind: ResourceKind, id: string, user?: string) =>
  useQuery({ queryKey: ["access", kind, id, "explain", user ?? null], queryFn: ({ signal }) => api.get<AccessExplanation>(`${pathOf(kind, id)}/explain`, { query: { user }, signal }), retry: false });
/** All grants of somebody and of their groups: one's own, or for administrators anybody's. */
export const useHeldGrants = (user: string | undefined) => useQuery({ queryKey: ["held-grants", user], queryFn: ({ signal }) => api.get<HeldGrant[]>(`/api/users/${user}/access`, { signal }), enabled: !!user });

/** Whether whoever is logged in may change or share something. `null`: that is not known yet. */
export function useReach(kind: ResourceKind, id: string | undefined, wanted: "edit" | "share"): boolean | null {
  const { data: me } = useMe();
  const asks = id !== undefined && mayWork(me) && !isOperator(me);
  const held = useHeldGrants(asks ? me?.id : undefined);
  if (!me || (asks && held.isLoading)) return null;
  return id !== undefined && reaches(me, held.data, kind, id, wanted);
}

export function useAccessActions(kind: ResourceKind, id: string) {
  const fresh = useFresh();
  const after = () => fresh("access", "held-grants");
  return {
    restrict: useMutation({ mutationFn: (restricted: boolean) => api.put<ResourceAccess>(pathOf(kind, id), { body: { restricted } }), onSuccess: after }),
    give: useMutation({ mutationFn: (body: GrantInput) => api.post<ResourceAccess>(`${pathOf(kind, id)}/grants`, { body }), onSuccess: after }),
    take: useMutation({ mutationFn: (grantee: string) => api.delete(`${pathOf(kind, id)}/grants/${grantee}`), onSuccess: after }),
  };
}

/** How new agents, skills and connections begin. */
export const useAccessDefaults = () => useQuery({ queryKey: ["access-defaults"], queryFn: ({ signal }) => api.get<AccessDefaults>("/api/access/defaults", { signal }) });
export function useSetAccessDefaults() {
  const fresh = useFresh();
  return useMutation({ mutationFn: (body: AccessDefaults) => api.put<AccessDefaults>("/api/access/defaults", { body }), onSuccess: () => fresh("access-defaults") });
}
