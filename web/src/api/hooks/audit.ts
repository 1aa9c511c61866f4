import { useMutation, useQuery } from "@tanstack/react-query";
import { api, authorized, pathOf, problemFrom, problemOf } from "../client";
import type { AuditEntry, AuditProgress, AuditReport, AuditResult, AuditRetention } from "../types";
import { useFresh, usePaged } from "./core";

/** `from` and `to` in ms since 1970. */
export type AuditQuery = { actor?: string; action?: string; target?: string; result?: AuditResult; run?: string; from?: number; to?: number; text?: string };

export const useAudit = (query: AuditQuery, enabled: boolean) => usePaged<AuditEntry>(["audit"], "/api/audit", query, { enabled });
export const useAuditRetention = () => useQuery({ queryKey: ["audit-retention"], queryFn: ({ signal }) => api.get<AuditRetention>("/api/audit/retention", { signal }) });
export function useAuditActions() {
  const fresh = useFresh();
  return {
    retention: useMutation({ mutationFn: (days: number | null) => api.put<AuditRetention>("/api/audit/retention", { body: { days } }), onSuccess: () => fresh("audit", "audit-retention") }),
    export: useMutation({ mutationFn: exportAudit, onSuccess: () => fresh("audit") }),
    verify: useMutation({ mutationFn: verifyAudit, onSuccess: () => fresh("audit") }),
  };
}

/** The entries that fit, as a file for the user. */
async function exportAudit({ format, query }: { format: "jsonl" | "csv"; query: AuditQuery }): Promise<void> {
  const answer = await authorized(pathOf("/api/audit/export", { ...query, format }));
  if (!answer.ok) throw await problemOf(answer);
  const link = document.createElement("a");
  link.href = URL.createObjectURL(await answer.blob());
  link.download = `audit.${format}`;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}

/** Checks the whole chain; `onProgress` hears how far it is. */
async function verifyAudit(onProgress: (progress: AuditProgress) => void): Promise<AuditReport> {
  const response = await authorized("/api/audit/verify", { method: "POST", headers: { "content-type": "application/json" }, body: "{}" });
  if (!response.ok || !response.body) throw await problemOf(response);
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  for (;;) {
    const { done, value } = await reader.read();
    const lines = (rest + (value ?? "\n")).split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines.filter((line) => line !== "")) {
      const progress = JSON.parse(line) as AuditProgress;
      if (progress.report) return progress.report;
      onProgress(progress);
    }
    if (done) break;
  }
  throw problemFrom(502, { title: "The check broke off", hint: "The server ended it without a report; its log says why." });
}
