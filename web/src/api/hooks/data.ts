import { keepPreviousData, useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { api } from "../client";
import type { ChangeInfo, ChangeInput, Choice, Datasource, DatasourceInput, DatasourceSchema, DomainAnswer, DomainInfo, DomainText, DomainTextKind, FoundDomain, InitTexts, InstructionInput, Page, RecordChangeState, SavedDomainText, StandingInstruction, TextCompletion, TextHover, TextReport, VerifiedInput, VerifiedQuestion, ViewInfo, WrittenText } from "../types";
import { allOf, useFresh, usePaged } from "./core";

const name = encodeURIComponent;
const itemsOf = async <T>(path: string, signal: AbortSignal) => (await api.get<Page<T>>(path, { signal })).items;

export const useDomains = () => useQuery({ queryKey: ["domains"], queryFn: ({ signal }) => itemsOf<DomainInfo>("/api/domains", signal), staleTime: 10_000 });
export const useDomain = (domain: string) => useQuery({ queryKey: ["domain", domain], queryFn: ({ signal }) => api.get<DomainInfo>(`/api/domains/${name(domain)}`, { signal }), staleTime: 10_000 });
export const useViews = () => useQuery({ queryKey: ["views"], queryFn: ({ signal }) => itemsOf<ViewInfo>("/api/views", signal), staleTime: 10_000 });
/** What a search among the domains finds; nothing is asked for no words. */
export const useDomainSearch = (query: string) =>
  useQuery({ queryKey: ["domain-search", query], queryFn: async ({ signal }) => (await api.post<Page<FoundDomain>>("/api/domains/search", { body: { query, limit: 10 }, signal })).items, enabled: query !== "", placeholderData: keepPreviousData });
/** Rows of a domain; `null` asks nothing. `every`: again after so many ms. */
export const useRows = (query: object | null, every?: number) =>
  useQuery({
    queryKey: ["rows", query],
    queryFn: ({ signal }) => api.post<DomainAnswer>("/api/domains/query", { body: { query }, signal }),
    enabled: query !== null,
    placeholderData: keepPreviousData,
    staleTime: 0,
    retry: false,
    ...(every && { refetchInterval: every }),
  });
export const useChoices = (domain: string, field: string, enabled: boolean) =>
  useQuery({ queryKey: ["choices", domain, field], queryFn: ({ signal }) => itemsOf<Choice>(`/api/domains/${name(domain)}/choices/${name(field)}`, signal), enabled, staleTime: 60_000 });

export const useRecordChanges = (state: RecordChangeState | "") => usePaged<ChangeInfo>(["record-changes"], "/api/record-changes", state ? { state } : {}, { unsettled: () => true });
export function useChangeActions() {
  const fresh = useFresh();
  const after = () => fresh("record-changes", "rows");
  const act = (verb: "confirm" | "discard" | "undo") => (id: string) => api.post<ChangeInfo>(`/api/record-changes/${id}/${verb}`);
  return {
    propose: useMutation({ mutationFn: (change: ChangeInput) => api.post<ChangeInfo>("/api/record-changes", { body: { change } }), onSuccess: () => fresh("record-changes") }),
    confirm: useMutation({ mutationFn: act("confirm"), onSettled: after }),
    discard: useMutation({ mutationFn: act("discard"), onSettled: after }),
    undo: useMutation({ mutationFn: act("undo"), onSettled: after }),
  };
}

export const useDatasources = (enabled = true) => useQuery({ queryKey: ["datasources"], queryFn: ({ signal }) => itemsOf<Datasource>("/api/datasources", signal), enabled });
/** Its tables as they were read last, without opening it anew. */
export const useDatasourceSchema = (id: string, enabled: boolean) =>
  useQuery({ queryKey: ["datasource-schema", id], queryFn: ({ signal }) => api.get<DatasourceSchema>(`/api/datasources/${id}/schema`, { signal }), enabled, retry: false });
export function useDatasourceActions() {
  const client = useQueryClient();
  const fresh = useFresh();
  const after = () => fresh("datasources", "agents");
  return {
    create: useMutation({ mutationFn: (body: DatasourceInput) => api.post<Datasource>("/api/datasources", { body }), onSuccess: after }),
    update: useMutation({ mutationFn: ({ id, ...body }: DatasourceInput & { id: string }) => api.put<Datasource>(`/api/datasources/${id}`, { body }), onSuccess: after }),
    remove: useMutation({ mutationFn: (id: string) => api.delete(`/api/datasources/${id}`), onSuccess: after }),
    check: useMutation({ mutationFn: (id: string) => api.post<DatasourceSchema>(`/api/datasources/${id}/check`), onSuccess: (schema, id) => client.setQueryData(["datasource-schema", id], schema) }),
    init: useMutation({ mutationFn: ({ id, ...body }: { id: string; tables: string[]; save: boolean }) => api.post<InitTexts>(`/api/datasources/${id}/init`, { body }), onSuccess: (made, { id }) => made.saved && fresh("domain-texts", "domains", "domain", "views").then(() => client.invalidateQueries({ queryKey: ["datasource-schema", id] })) }),
  };
}

export const useDomainTexts = () => useQuery({ queryKey: ["domain-texts"], queryFn: ({ signal }) => allOf<DomainText>("/api/domains/texts", {}, signal) });
export const useDomainTextVersions = (kind: DomainTextKind, of: string) =>
  useQuery({ queryKey: ["domain-text-versions", kind, of], queryFn: ({ signal }) => itemsOf<DomainText>(`/api/domains/texts/${kind}/${name(of)}/versions`, signal), staleTime: 0 });
export const readDomainText = (kind: DomainTextKind, of: string) => api.get<DomainText>(`/api/domains/texts/${kind}/${name(of)}`);
export function useDomainTextActions() {
  const fresh = useFresh();
  const after = () => fresh("domain-texts", "domain-text-versions", "domains", "domain", "views", "rows");
  return {
    save: useMutation({ mutationFn: (body: { text: string; version?: number }) => api.put<SavedDomainText[]>("/api/domains/texts", { body }), onSuccess: after }),
    remove: useMutation({ mutationFn: ({ kind, name: of }: { kind: DomainTextKind; name: string }) => api.delete(`/api/domains/texts/${kind}/${name(of)}`), onSuccess: after }),
  };
}

type Place = { text: string; offset: number };
/** What an editor asks of a text while it is written. */
export const textService = {
  check: (text: string) => api.post<TextReport>("/api/domains/check", { body: { text } }),
  complete: (place: Place, signal?: AbortSignal) => api.post<TextCompletion[]>("/api/domains/complete", { body: place, ...(signal && { signal }) }),
  hover: (place: Place) => api.post<TextHover>("/api/domains/hover", { body: place }),
  rename: (place: Place & { name: string }) => api.post<WrittenText>("/api/domains/rename", { body: place }),
  format: (text: string) => api.post<WrittenText>("/api/domains/format", { body: { text } }),
};

export const useStandingInstructions = () => useQuery({ queryKey: ["standing-instructions"], queryFn: ({ signal }) => allOf<StandingInstruction>("/api/standing-instructions", {}, signal) });
export function useInstructionActions() {
  const fresh = useFresh();
  const after = () => fresh("standing-instructions");
  return {
    save: useMutation({ mutationFn: ({ name: of, ...body }: InstructionInput & { name: string }) => api.put<StandingInstruction>(`/api/standing-instructions/${name(of)}`, { body }), onSettled: after }),
    remove: useMutation({ mutationFn: (of: string) => api.delete(`/api/standing-instructions/${name(of)}`), onSuccess: after }),
  };
}

export const useVerifiedQuestions = () => useQuery({ queryKey: ["verified-questions"], queryFn: ({ signal }) => allOf<VerifiedQuestion>("/api/verified-questions", {}, signal) });
export function useVerifiedActions() {
  const fresh = useFresh();
  const after = () => fresh("verified-questions");
  return {
    add: useMutation({ mutationFn: (body: VerifiedInput) => api.post<VerifiedQuestion>("/api/verified-questions", { body }), onSuccess: after }),
    remove: useMutation({ mutationFn: (id: string) => api.delete(`/api/verified-questions/${name(id)}`), onSuccess: after }),
  };
}
