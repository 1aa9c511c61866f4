import { useMutation } from "@tanstack/react-query";
import { api } from "../client";
import type { InvitedUser, Role, User, UserInput, UserPatch, UserState } from "../types";
import { useFresh, usePaged } from "./core";

export const useUsers = (filter: { search?: string; role?: Role; state?: UserState }) => usePaged<User>(["users"], "/api/users", filter);

export function useUserActions() {
  const fresh = useFresh();
  const after = () => fresh("users");
  return {
    invite: useMutation({ mutationFn: (body: UserInput) => api.post<InvitedUser>("/api/users", { body }), onSuccess: after }),
    /** A new link, in the place of the one before. */
    renew: useMutation({ mutationFn: (id: string) => api.post<InvitedUser>(`/api/users/${id}/invitation`), onSuccess: after }),
    update: useMutation({ mutationFn: ({ id, ...body }: UserPatch & { id: string }) => api.patch<User>(`/api/users/${id}`, { body }), onSuccess: after }),
    endSessions: useMutation({ mutationFn: (id: string) => api.post<{ ended: number }>(`/api/users/${id}/sessions/end`) }),
    resetFactor: useMutation({ mutationFn: (id: string) => api.delete(`/api/users/${id}/second-factor`) }),
    remove: useMutation({ mutationFn: (id: string) => api.delete(`/api/users/${id}`), onSuccess: after }),
  };
}
