import { useMutation, useQuery } from "@tanstack/react-query";
import { api } from "../client";
import type { ChatStarted, Conversation, ConversationDetail, Mode } from "../types";
import { useFresh, usePaged } from "./core";

export const useConversations = (query: { q?: string; agent_id?: string } = {}) => usePaged<Conversation>(["conversations"], "/api/conversations", query);
export const useConversation = (id: string | undefined) =>
  useQuery({ queryKey: ["conversation", id], queryFn: ({ signal }) => api.get<ConversationDetail>(`/api/conversations/${id}`, { signal }), enabled: !!id });

export type ChatRequest = { agent_id: string; message: string; conversation_id?: string; mode: Mode; connection_id?: string; attachments?: string[]; documents?: string[]; key: string };
export function useConversationActions() {
  const fresh = useFresh();
  const after = () => fresh("conversations", "conversation", "runs");
  return {
    send: useMutation({
      mutationFn: ({ agent_id, key, ...body }: ChatRequest) => api.post<ChatStarted>(`/api/chat/${agent_id}`, { body, idempotencyKey: key }),
      onSuccess: after,
    }),
    rename: useMutation({ mutationFn: ({ id, title }: { id: string; title: string }) => api.patch<Conversation>(`/api/conversations/${id}`, { body: { title } }), onSuccess: after }),
    remove: useMutation({ mutationFn: (id: string) => api.delete(`/api/conversations/${id}`), onSuccess: after }),
    restore: useMutation({ mutationFn: (id: string) => api.post<Conversation>(`/api/conversations/${id}/restore`), onSuccess: after }),
    fork: useMutation({ mutationFn: ({ id, before_run }: { id: string; before_run?: string }) => api.post<Conversation>(`/api/conversations/${id}/fork`, { body: before_run ? { before_run } : {} }), onSuccess: after }),
  };
}
