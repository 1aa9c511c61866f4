import { useMutation } from "@tanstack/react-query";
import { api } from "../client";
import type { Connection, ConnectionInput, ConnectionTest } from "../types";
import { useFresh, usePaged } from "./core";

export const useConnections = () => usePaged<Connection>(["connections"], "/api/connections", {}, { limit: 100 });
export function useConnectionActions() {
  const fresh = useFresh();
  const after = () => fresh("connections");
  return {
    create: useMutation({ mutationFn: (body: ConnectionInput) => api.post<Connection>("/api/connections", { body }), onSuccess: after }),
    update: useMutation({ mutationFn: ({ id, ...body }: ConnectionInput & { id: string }) => api.put<Connection>(`/api/connections/${id}`, { body }), onSuccess: after }),
    remove: useMutation({ mutationFn: (id: string) => api.delete(`/api/connections/${id}`), onSuccess: after }),
    makeDefault: useMutation({ mutationFn: (id: string) => api.post<void>(`/api/connections/${id}/default`), onSuccess: after }),
    test: useMutation({ mutationFn: (id: string) => api.post<ConnectionTest>(`/api/connections/${id}/test`) }),
  };
}
