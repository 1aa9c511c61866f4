import { type QueryClient, queryOptions, useMutation, useQuery } from "@tanstack/react-query";
import { api, setSession } from "../client";
import type { About, AuthStatus, LoginSessionView, Me, SecondFactorRequired, Session } from "../types";
import { useFresh, usePaged } from "./core";

const meQuery = queryOptions({ queryKey: ["me"], queryFn: ({ signal }) => api.get<Me>("/api/auth/me", { signal }), staleTime: 60_000 });
export const useMe = () => useQuery(meQuery);
/** For what a person may begin before the page knows who they are. */
export const fetchMe = (client: QueryClient): Promise<Me> => client.ensureQueryData(meQuery);
export const useAuthStatus = () => useQuery({ queryKey: ["auth-status"], queryFn: ({ signal }) => api.get<AuthStatus>("/api/auth/status", { signal }), staleTime: 60_000 });
export const useSessions = () => usePaged<LoginSessionView>(["sessions"], "/api/auth/sessions");
export const useAbout = () => useQuery({ queryKey: ["about"], queryFn: ({ signal }) => api.get<About>("/api/about", { signal }), refetchInterval: 15_000 });

export function useAccountActions() {
  const fresh = useFresh();
  return {
    /** With a second factor the answer is a challenge, and no session yet. */
    login: useMutation({ mutationFn: (body: { email: string; password: string; tenant?: string }) => api.post<Session | SecondFactorRequired>("/api/auth/login", { body }), onSuccess: (answer) => "access_token" in answer && setSession(answer) }),
    setup: useMutation({ mutationFn: (body: { token: string; email: string; password: string; name?: string }) => api.post<Session>("/api/auth/setup", { body }), onSuccess: (session) => setSession(session) }),
    acceptInvitation: useMutation({ mutationFn: (body: { token: string; password: string; name?: string }) => api.post<Session | SecondFactorRequired>("/api/auth/invitation", { body }), onSuccess: (answer) => "access_token" in answer && setSession(answer) }),
    logout: useMutation({ mutationFn: () => api.post<void>("/api/auth/logout", { headers: { "x-steward": "1" } }), onSettled: () => setSession(null) }),
    password: useMutation({ mutationFn: (body: { current: string; new: string }) => api.post<void>("/api/auth/password", { body }), onSuccess: () => fresh("sessions") }),
    endSession: useMutation({ mutationFn: (id: string) => api.delete(`/api/auth/sessions/${id}`), onSuccess: () => fresh("sessions") }),
    newApiKey: useMutation({ mutationFn: () => api.post<{ api_key: string }>("/api/auth/api-key") }),
    removeApiKey: useMutation({ mutationFn: () => api.delete("/api/auth/api-key") }),
  };
}
/** Whether this role may change agents and connections. */
export const isOperator = (me: Me | undefined) => me?.role === "admin" || me?.role === "operator";
/** Whether this role may manage users. */
/** Of the installation's own organisation, whose administrators look after all. */
export const isInstallationAdmin = (me: Me | undefined) => me?.role === "admin" && me.installation;
export const isAdmin = (me: Me | undefined) => me?.role === "admin";
/** Whether this role may chat and decide. */
export const mayWork = (me: Me | undefined) => me !== undefined && me.role !== "viewer";
