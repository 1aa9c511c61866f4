import { useMutation } from "@tanstack/react-query";
import { api } from "../client";
import type { DeletedTenant, NewTenant, Tenant, TenantInput, TenantPatch } from "../types";
import { useFresh, usePaged } from "./core";

export const useTenants = () => usePaged<Tenant>(["tenants"], "/api/tenants");

export function useTenantActions() {
  const fresh = useFresh();
  const after = () => fresh("tenants", "auth-status");
  return {
    create: useMutation({ mutationFn: (body: TenantInput) => api.post<NewTenant>("/api/tenants", { body }), onSuccess: after }),
    update: useMutation({ mutationFn: ({ id, ...body }: TenantPatch & { id: string }) => api.patch<Tenant>(`/api/tenants/${id}`, { body }), onSuccess: after }),
    remove: useMutation({ mutationFn: ({ id, slug }: { id: string; slug: string }) => api.delete<DeletedTenant>(`/api/tenants/${id}`, { body: { slug } }), onSuccess: after }),
  };
}
