import { useMutation, useQuery } from "@tanstack/react-query";
import { api, authorized, pathOf, problemOf } from "../client";
import type { CredentialKind, ImportedSkillPack, Page, PackageFileDiff, Skill, SkillDetail, SkillInput, SkillKindInfo, SkillPackage, SkillTest, SkillTested, SshHost } from "../types";
import { sendFile } from "../upload";
import { allOf, useFresh, usePaged } from "./core";

type Wanted = { kind?: string; text?: string; agent?: string; package?: string; category?: string };

export const useSkills = (wanted: Wanted = {}) => usePaged<Skill>(["skills"], "/api/skills", wanted);
/** Skills to choose from, all of them up to 500. */
export const useAllSkills = (enabled = true) => useQuery({ queryKey: ["skills", "all"], queryFn: ({ signal }) => allOf<Skill>("/api/skills", {}, signal, 5), enabled });
export const useSkill = (id: string | undefined) => useQuery({ queryKey: ["skill", id], queryFn: ({ signal }) => api.get<SkillDetail>(`/api/skills/${id}`, { signal }), enabled: !!id });
export const useSkillKinds = () => useQuery({ queryKey: ["skill-kinds"], queryFn: async ({ signal }) => (await api.get<Page<SkillKindInfo>>("/api/skills/kinds", { query: { limit: 100 }, signal })).items, staleTime: Number.POSITIVE_INFINITY });
/** Versions of a skill, the latest first. */
export const useSkillVersions = (id: string) => usePaged<Skill>(["skill", id, "versions"], `/api/skills/${id}/versions`);

type CredentialName = { id: string; name: string; kind: CredentialKind };
/** Names of credentials; for operators only. */
export const useCredentialNames = (enabled: boolean) => useQuery({ queryKey: ["credentials", "names"], queryFn: ({ signal }) => allOf<CredentialName>("/api/credentials", {}, signal), enabled });

export function useSkillActions() {
  const fresh = useFresh();
  const after = () => fresh("skills", "skill");
  // Whoever makes a skill may share it.
  const made = () => fresh("skills", "skill", "held-grants");
  const changed = () => fresh("skills", "skill", "agents", "agent");
  return {
    create: useMutation({ mutationFn: (body: SkillInput) => api.post<Skill>("/api/skills", { body }), onSuccess: made }),
    update: useMutation({ mutationFn: ({ id, body }: { id: string; body: SkillInput }) => api.put<Skill>(`/api/skills/${id}`, { body }), onSuccess: after }),
    remove: useMutation({ mutationFn: (id: string) => api.delete(`/api/skills/${id}`), onSuccess: changed }),
    rollback: useMutation({ mutationFn: ({ id, version }: { id: string; version: number }) => api.post<Skill>(`/api/skills/${id}/rollback`, { body: { version } }), onSuccess: after }),
    attach: useMutation({ mutationFn: ({ agent, skill }: { agent: string; skill: string }) => api.put<void>(`/api/agents/${agent}/skills/${skill}`), onSuccess: changed }),
    detach: useMutation({ mutationFn: ({ agent, skill }: { agent: string; skill: string }) => api.delete(`/api/agents/${agent}/skills/${skill}`), onSuccess: changed }),
    test: useMutation({ mutationFn: ({ id, body, signal }: { id: string; body: SkillTest; signal?: AbortSignal }) => api.post<SkillTested>(`/api/skills/${id}/test`, { body, ...(signal && { signal }) }) }),
  };
}

export const usePackages = () => usePaged<SkillPackage>(["packages"], "/api/skills/packages");
/** Revisions of a package, the latest first. */
export const usePackage = (name: string) => usePaged<SkillPackage>(["packages", name], `/api/skills/packages/${encodeURIComponent(name)}`);
/** Names of the packages that come with Steward. */
export const useReadyPackages = () => useQuery({ queryKey: ["ready-packages"], queryFn: ({ signal }) => api.get<string[]>("/api/skills/ready-packages", { signal }), staleTime: Number.POSITIVE_INFINITY });
/** File by file; `from` left out: against what is in use. */
export const usePackageDiff = (name: string, between: { from?: number; to: number }) =>
  useQuery({ queryKey: ["packages", name, "diff", between], queryFn: async ({ signal }) => (await api.get<{ files: PackageFileDiff[] }>(`/api/skills/packages/${encodeURIComponent(name)}/diff`, { query: between, signal })).files });

export type Import = { file: File | string; agent?: string; onProgress?: (share: number) => void; signal?: AbortSignal };
/** Sends a package, or names one that comes with Steward. With an agent its skills are given to it. */
async function importPackage({ file, agent, onProgress, signal }: Import): Promise<SkillPackage> {
  const path = agent ? `/api/universal-agents/${agent}/import-skill-pack` : "/api/skills/import-package";
  const taken =
    typeof file === "string"
      ? await api.post<SkillPackage | ImportedSkillPack>(path, { query: { ready: file, ...(!agent && { activate: true }) }, ...(signal && { signal }) })
      : await sendFile<SkillPackage | ImportedSkillPack>(path, file, onProgress ?? (() => {}), signal ?? new AbortController().signal);
  // An agent may be given several at once.
  return "packages" in taken ? (taken.packages[0] as SkillPackage) : taken;
}

/** A revision as a file. */
export async function exportPackage(name: string, revision: number): Promise<void> {
  const answer = await authorized(pathOf(`/api/skills/packages/${encodeURIComponent(name)}/export`, { revision }));
  if (!answer.ok) throw await problemOf(answer);
  const link = document.createElement("a");
  link.href = URL.createObjectURL(await answer.blob());
  link.download = `${name}.skill`;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}

type Accept = { name: string; hash: string; agent?: string | null; dangers?: boolean };
export function usePackageActions() {
  const fresh = useFresh();
  const after = () => fresh("packages", "skills", "skill", "agents", "agent", "documents", "collections");
  return {
    import: useMutation({ mutationFn: importPackage, onSuccess: after }),
    accept: useMutation({ mutationFn: ({ name, ...body }: Accept) => api.post<SkillPackage>(`/api/skills/packages/${encodeURIComponent(name)}/accept`, { body }), onSuccess: after }),
    remove: useMutation({ mutationFn: (name: string) => api.delete(`/api/skills/packages/${encodeURIComponent(name)}`), onSuccess: after }),
  };
}

export const useSshHosts = () => useQuery({ queryKey: ["ssh-hosts"], queryFn: ({ signal }) => api.get<SshHost[]>("/api/skills/hosts", { signal }) });
export function useHostActions() {
  const fresh = useFresh();
  const after = () => fresh("ssh-hosts");
  return {
    trust: useMutation({ mutationFn: (body: SshHost) => api.post<SshHost>("/api/skills/hosts", { body }), onSuccess: after }),
    forget: useMutation({ mutationFn: ({ host, port }: SshHost) => api.delete(`/api/skills/hosts/${encodeURIComponent(host)}`, { query: { port } }), onSuccess: after }),
  };
}
