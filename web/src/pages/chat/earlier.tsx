import { Suspense } from "react";
import type { ConversationDetail } from "@/api/types";
import { useT } from "@/i18n";
import { Markdown } from "@/run/lazy";
import { useRunStream } from "@/run/stream";
import { Said } from "./exchange";

type Said = { role: string; text: string };

function Messages({ messages }: { messages: Said[] }) {
  const t = useT("chat");
  if (messages.length === 0) return null;
  return (
    <>
      {messages.map((message, index) => message.role === "user"
        ? <Said key={index} text={message.text} />
        : message.role === "assistant" && message.text ? <Suspense key={index} fallback={<div className="prose whitespace-pre-wrap">{message.text}</div>}><Markdown text={message.text} /></Suspense> : null)}
      <p className="flex items-center gap-3 text-xs text-ink-3 before:h-px before:flex-1 before:bg-line after:h-px after:flex-1 after:bg-line">{t("earlier")}</p>
    </>
  );
}

function Before({ run }: { run: string }) {
  const { view } = useRunStream(run);
  return <Messages messages={view.history.filter((message) => message.role === "user" || message.role === "assistant")} />;
}

/** What was said before the first run that is shown: in the conversation this one branched off. */
export function Earlier({ detail, first }: { detail: ConversationDetail; first: string | undefined }) {
  if (first) return detail.forked_from || detail.runs.length >= 100 ? <Before run={first} /> : null;
  return <Messages messages={detail.messages} />;
}
