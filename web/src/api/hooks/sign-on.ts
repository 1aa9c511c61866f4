import { useMutation, useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { api, setSession } from "../client";
import type { DirectorySettings, FinishedLogin, IdentityDirectory, IdentityProvider, LoginSettings, NewScimToken, NewSecondFactor, OfferedLogins, OidcSettings, ScimSettings, ScimToken, SecondFactorView, TriedLogin } from "../types";
import { useFresh, usePaged } from "./core";

/** Ways to log in, beside a password of Steward. */
export const useOfferedLogins = (tenant = "") => useQuery({ queryKey: ["offered-logins", tenant], queryFn: ({ signal }) => api.get<OfferedLogins>(`/api/auth/oidc${tenant && `?tenant=${encodeURIComponent(tenant)}`}`, { signal }), staleTime: 60_000 });

export const useSecondFactor = () => useQuery({ queryKey: ["second-factor"], queryFn: ({ signal }) => api.get<SecondFactorView>("/api/auth/totp", { signal }) });

/** What is secret stays out of the query cache. `null`: it failed, see `error`. */
function useWriter(...stale: string[]) {
  const fresh = useFresh();
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>(null);
  const write = async <R>(send: () => Promise<R>): Promise<R | null> => {
    setBusy(true);
    setError(null);
    try {
      return await send();
    } catch (problem) {
      setError(problem);
      return null;
    } finally {
      setBusy(false);
      void fresh(...stale);
    }
  };
  return { busy, error, write };
}

export function useSecondFactorActions() {
  const { busy, error, write } = useWriter("second-factor");
  type Codes = { recovery_codes: string[] };
  return {
    busy,
    error,
    begin: () => write(() => api.post<NewSecondFactor>("/api/auth/totp")),
    confirm: (code: string) => write(() => api.post<Codes>("/api/auth/totp/confirm", { body: { code } })),
    renewCodes: (code: string) => write(() => api.post<Codes>("/api/auth/totp/recovery-codes", { body: { code } })),
    end: (code: string) => write(async () => (await api.delete("/api/auth/totp", { body: { code } }), true)),
  };
}

/** The second step of a login. The session is taken in by `enter`, after the recovery codes were seen. */
export function useSecondStep() {
  const { busy, error, write } = useWriter("me");
  return {
    busy,
    error,
    enrol: (challenge: string) => write(() => api.post<NewSecondFactor>("/api/auth/second-factor/enrol", { body: { challenge } })),
    show: (challenge: string, code: string) => write(() => api.post<FinishedLogin>("/api/auth/second-factor", { body: { challenge, code } })),
    enter: (done: FinishedLogin) => setSession(done),
  };
}

export const useLoginSettings = () => useQuery({ queryKey: ["login-settings"], queryFn: ({ signal }) => api.get<LoginSettings>("/api/identity/settings", { signal }) });
export function useReplaceLoginSettings() {
  const fresh = useFresh();
  return useMutation({ mutationFn: (body: LoginSettings) => api.put<LoginSettings>("/api/identity/settings", { body }), onSettled: () => fresh("login-settings") });
}

export const useProviders = () => usePaged<IdentityProvider>(["providers"], "/api/identity/providers");
export const useDirectory = () => useQuery({ queryKey: ["directory"], queryFn: ({ signal }) => api.get<IdentityDirectory>("/api/identity/directory", { signal }) });

/** `secret`: empty leaves the one before. */
export function useSignOnWriter() {
  const { busy, error, write } = useWriter("providers", "directory", "offered-logins");
  return {
    busy,
    error,
    saveProvider: (name: string, settings: OidcSettings, secret: string) => write(() => api.put<IdentityProvider>(`/api/identity/providers/${name}`, { body: { settings, ...(secret && { client_secret: secret }) } })),
    removeProvider: (name: string) => write(async () => (await api.delete(`/api/identity/providers/${name}`), true)),
    saveDirectory: (settings: DirectorySettings, secret: string) => write(() => api.put<IdentityDirectory>("/api/identity/directory", { body: { settings, ...(secret && { password: secret }) } })),
    removeDirectory: () => write(async () => (await api.delete("/api/identity/directory"), true)),
  };
}

/** Tries settings that may not be saved; nothing is kept. */
export function useTrial() {
  const { busy, error, write } = useWriter();
  return {
    busy,
    error,
    provider: (settings: OidcSettings) => write(() => api.post<TriedLogin>("/api/identity/try/provider", { body: { settings } })),
    directory: (settings: DirectorySettings, secret: string) => write(() => api.post<TriedLogin>("/api/identity/try/directory", { body: { settings, ...(secret && { password: secret }) } })),
  };
}

export const useScimTokens = () => usePaged<ScimToken>(["scim-tokens"], "/api/identity/scim/tokens");
export const useScimSettings = () => useQuery({ queryKey: ["scim-settings"], queryFn: ({ signal }) => api.get<ScimSettings>("/api/identity/scim", { signal }) });
export function useReplaceScimSettings() {
  const fresh = useFresh();
  return useMutation({ mutationFn: (body: ScimSettings) => api.put<ScimSettings>("/api/identity/scim", { body }), onSettled: () => fresh("scim-settings", "users") });
}

export function useScimTokenWriter() {
  const { busy, error, write } = useWriter("scim-tokens");
  return {
    busy,
    error,
    make: (name: string) => write(() => api.post<NewScimToken>("/api/identity/scim/tokens", { body: { name } })),
    revoke: (id: string) => write(async () => (await api.delete(`/api/identity/scim/tokens/${id}`), true)),
  };
}
