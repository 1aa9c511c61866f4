import { Suspense } from "react";
import type { Cited, ConversationDetail, GivenDocument } from "@/api/types";
import { useT } from "@/i18n";
import { CitedSources, Passages } from "@/run/cited";
import { Markdown } from "@/run/lazy";
import { useRunStream } from "@/run/stream";
import { Said } from "./exchange";

type Said = { role: string; text: string; citations?: Cited[]; documents?: GivenDocument[] };
const NONE: Cited[] = [];

function Messages({ messages }: { messages: Said[] }) {
  const t = useT("chat");
  if (messages.length === 0) return null;
  return (
    <>
      {messages.map((message, index) => message.role === "user"
        ? <Said key={index} text={message.text} documents={message.documents} />
        : message.role === "assistant" && message.text ? <Answered key={index} text={message.text} citations={message.citations ?? NONE} /> : null)}
      <p className="flex items-center gap-3 text-xs text-ink-3 before:h-px before:flex-1 before:bg-line after:h-px after:flex-1 after:bg-line">{t("earlier")}</p>
    </>
  );
}

function Answered({ text, citations }: { text: string; citations: Cited[] }) {
  return (
    <div className="flex flex-col gap-3">
      <Passages value={citations}><Suspense fallback={<div className="prose whitespace-pre-wrap">{text}</div>}><Markdown text={text} /></Suspense></Passages>
      <CitedSources text={text} passages={citations} />
    </div>
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
