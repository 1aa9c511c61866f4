// Sending a message: as a new run, to a running one, as an answer, or later.
import { useNavigate } from "@tanstack/react-router";
import { useRef, useState, useSyncExternalStore } from "react";
import { ApiError, api, newKey } from "@/api/client";
import { useConversationActions, useDecide } from "@/api/hooks";
import type { Mode } from "@/api/types";
import { type Attached, editDraft, readQueue, setQueue } from "./stored";

/** Runs started in this tab that the conversation's own list may not have yet. */
const started = new Map<string, { id: string; title: string }[]>();
const listeners = new Set<() => void>();
const NONE: { id: string; title: string }[] = [];
export const useStarted = (conversation: string | undefined) =>
  useSyncExternalStore((listener) => (listeners.add(listener), () => listeners.delete(listener)), () => (conversation ? (started.get(conversation) ?? NONE) : NONE));
function addStarted(conversation: string, run: { id: string; title: string }): void {
  started.set(conversation, [...(started.get(conversation) ?? []), run]);
  for (const listener of listeners) listener();
}

export type Message = { text: string; attachments: Attached[]; mode: Mode; connection: string | null };

/** For what has no field for files: their paths in words. */
const withPaths = (message: Pick<Message, "text" | "attachments">) => [message.text, ...message.attachments.map((file) => `[${file.path ?? file.name}]`)].join("\n");

export function useSending(conversation: string | undefined, agent: string | undefined) {
  const navigate = useNavigate();
  const { send } = useConversationActions();
  const decide = useDecide();
  const [pending, setPending] = useState<Message | null>(null);
  const [error, setError] = useState<unknown>(null);
  const [busy, setBusy] = useState(false);
  // The same message tried again carries the same key: it is never run twice.
  const last = useRef({ of: "", key: "" });
  const draft = conversation ?? "new";

  /** Empties the draft, unless it has changed since it was sent. */
  const sent = (message: Pick<Message, "text">) => editDraft(draft, (now) => (now.text.trim() === message.text ? { text: "", attachments: [] } : now));

  const attempt = async (work: () => Promise<void>) => {
    setBusy(true);
    setError(null);
    try {
      await work();
      return true;
    } catch (problem) {
      setError(problem);
      return false;
    } finally {
      setBusy(false);
    }
  };

  return {
    pending, error, busy,
    forget: () => setError(null),
    /** Starts a run. `key`: of a queued message. */
    async start(message: Message, key?: string): Promise<boolean> {
      if (!agent) return false;
      const of = JSON.stringify([conversation, message]);
      if (last.current.of !== of) last.current = { of, key: newKey() };
      setPending(message);
      const done = await attempt(async () => {
        try {
          const run = await send.mutateAsync({
            agent_id: agent, message: message.text, mode: message.mode, key: key ?? last.current.key,
            ...(conversation && { conversation_id: conversation }), ...(message.connection && { connection_id: message.connection }),
            attachments: message.attachments.flatMap((file) => file.path ?? []),
            documents: message.attachments.flatMap((file) => file.document ?? []),
          });
          last.current = { of: "", key: "" };
          const id = run.conversation_id ?? conversation;
          if (!key) sent(message);
          if (id) addStarted(id, { id: run.run_id, title: message.text });
          if (id && id !== conversation) await navigate({ to: "/chat/$conversationId", params: { conversationId: id } });
        } catch (problem) {
          // Another tab was faster: this one waits for its turn.
          if (problem instanceof ApiError && problem.code === "conversation_busy" && conversation && !key) return this.later(message);
          throw problem;
        }
      });
      setPending(null);
      return done;
    },
    steer: (run: string, message: Message) => attempt(async () => {
      await api.post(`/api/runs/${run}/steer`, { body: { text: withPaths(message) } });
      sent(message);
    }),
    answer: (approval: string, message: Message) => attempt(async () => {
      await decide.mutateAsync({ id: approval, answer: { decision: "feedback", text: withPaths(message) } });
      sent(message);
    }),
    later(message: Message): void {
      setQueue(draft, [...readQueue(draft), { id: newKey(), ...message }]);
      sent(message);
    },
  };
}
