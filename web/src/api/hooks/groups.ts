import { useMutation, useQuery } from "@tanstack/react-query";
import { api } from "../client";
import type { Group, GroupInput, GroupPatch, Page, User } from "../types";
import { useFresh, usePaged } from "./core";

export const useGroups = (filter: { search?: string } = {}, enabled = true) => usePaged<Group>(["groups"], "/api/groups", filter, { enabled });
export const useGroup = (id: string) => useQuery({ queryKey: ["group", id], queryFn: ({ signal }) => api.get<Group>(`/api/groups/${id}`, { signal }) });
/** By email. */
export const useGroupMembers = (id: string) => usePaged<User>(["group", id, "members"], `/api/groups/${id}/members`);
export const useGroupsOfUser = (user: string) => useQuery({ queryKey: ["groups-of-user", user], queryFn: ({ signal }) => api.get<Group[]>(`/api/users/${user}/groups`, { signal }) });
/** A few users whose email or name holds the text; for administrators. */
export const useUserNames = (text: string, enabled: boolean) => usePaged<User>(["users", "names"], "/api/users", { search: text }, { enabled, limit: 10 });

/** `null`: nobody has this email. */
async function userByEmail(email: string): Promise<User | null> {
  const wanted = email.trim().toLowerCase();
  const found = await api.get<Page<User>>("/api/users", { query: { search: wanted, limit: 100 } });
  return found.items.find((user) => user.email === wanted) ?? null;
}

type Membership = { group: string; user: string };

export function useGroupActions() {
  const fresh = useFresh();
  const after = () => fresh("groups", "group", "groups-of-user");
  const moved = () => fresh("groups", "group", "groups-of-user", "held-grants");
  const put = ({ group, user }: Membership) => api.put<void>(`/api/groups/${group}/members/${user}`);
  return {
    create: useMutation({ mutationFn: (body: GroupInput) => api.post<Group>("/api/groups", { body }), onSuccess: after }),
    update: useMutation({ mutationFn: ({ id, ...body }: GroupPatch & { id: string }) => api.patch<Group>(`/api/groups/${id}`, { body }), onSuccess: after }),
    remove: useMutation({ mutationFn: (id: string) => api.delete(`/api/groups/${id}`), onSuccess: () => fresh("groups", "groups-of-user", "access", "held-grants") }),
    /** Puts in whoever has this email; `null`: nobody has. */
    addByEmail: useMutation({
      mutationFn: async ({ group, email }: { group: string; email: string }) => {
        const user = await userByEmail(email);
        if (user) await put({ group, user: user.id });
        return user;
      },
      onSuccess: moved,
    }),
    add: useMutation({ mutationFn: put, onSuccess: moved }),
    take: useMutation({ mutationFn: ({ group, user }: Membership) => api.delete(`/api/groups/${group}/members/${user}`), onSuccess: moved }),
  };
}
