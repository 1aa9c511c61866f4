import { type Key, useT } from "@/i18n";
import { Badge, cx, Facts, formatDuration, formatMoney, formatNumber, formatTime, JsonView } from "@/ui";
import { Part, Text } from "../parts/Fold";
import { useWord } from "../parts/Labels";
import { Attempts } from "./Attempts";
import { cachedShare, type ModelNode } from "./nodes";
import type { Message, ToolCall } from "./types";

const roles: Record<Message["role"], string> = { system: "border-l-ink-3", user: "border-l-accent", assistant: "border-l-ok", tool: "border-l-warn-line" };

/** A call as the model made it: how it was found and how sure that is. */
function Wanted({ call }: { call: ToolCall }) {
  const t = useT("runs");
  const word = useWord();
  return (
    <div className="flex flex-col gap-1.5">
      <p className="flex flex-wrap items-center gap-2 text-sm">
        <code className="font-mono font-medium">{call.name}</code>
        <Badge>{word("source_", call.source)}</Badge>
        <span className="text-xs text-ink-3">{t("confidence")} {Math.round(call.confidence * 100)} %</span>
      </p>
      <JsonView value={call.arguments} />
    </div>
  );
}

function Sent({ messages }: { messages: Message[] }) {
  const word = useWord();
  return (
    <ol className="flex flex-col gap-2">
      {messages.map((message, index) => (
        <li key={index} className={cx("border-l-2 pl-3", roles[message.role])}>
          <p className="mb-1 flex items-center gap-2 text-xs text-ink-3">
            <span className="font-medium text-ink-2">{word("role_", message.role)}</span>
            {message.tool_call_id && <code className="font-mono">{message.tool_call_id}</code>}
          </p>
          {message.text && <Text text={message.text} />}
          {message.tool_calls?.map((call) => <JsonView key={call.id} className="mt-1.5" value={{ [call.name]: call.arguments }} />)}
        </li>
      ))}
    </ol>
  );
}

function UsageBar({ node }: { node: ModelNode }) {
  const t = useT("runs");
  const { usage } = node;
  if (!usage) return null;
  const share = cachedShare(usage) ?? 0;
  const total = Math.max(1, usage.prompt_tokens + usage.completion_tokens);
  const parts = [
    { name: t("fact_cached"), tokens: usage.cached_tokens, fill: "bg-ok" },
    { name: t("new_prompt"), tokens: usage.prompt_tokens - usage.cached_tokens, fill: "bg-accent" },
    { name: t("written"), tokens: usage.completion_tokens, fill: "bg-warn-line" },
  ];
  return (
    <div className="flex flex-col gap-1.5">
      <div aria-hidden className="flex h-2 max-w-xl gap-px overflow-hidden rounded-full bg-active">
        {parts.map((part) => <div key={part.name} className={part.fill} style={{ width: `${(part.tokens / total) * 100}%` }} />)}
      </div>
      <ul className="flex flex-wrap gap-x-4 gap-y-0.5 text-xs text-ink-2 tabular">
        {parts.map((part) => (
          <li key={part.name} className="flex items-center gap-1.5">
            <span aria-hidden className={cx("size-2 rounded-full", part.fill)} />
            {part.name} {formatNumber(part.tokens)}
            {part.fill === "bg-ok" && ` (${Math.round(share * 100)} %)`}
          </li>
        ))}
        {usage.cost_micros > 0 && <li>{formatMoney(usage.cost_micros)}</li>}
      </ul>
    </div>
  );
}

/** What was seen in the reply beside calls that can be made. */
function Noticing({ node }: { node: ModelNode }) {
  const t = useT("runs");
  const { claim, broken = [], guessed = [] } = node.noticed;
  const lines = [
    ...(claim ? [t("noticed_claim", { words: claim })] : []),
    ...broken.map((about) => t("noticed_broken", { text: about.text })),
    ...guessed.map((about) => t("noticed_guessed", { text: about.text })),
  ];
  if (lines.length === 0) return null;
  return <Part title={t("sec_noticed")}><ul className="flex flex-col gap-1 rounded-md bg-sunken px-3 py-2 text-sm">{lines.map((line, index) => <li key={index} className="wrap-anywhere">{line}</li>)}</ul></Part>;
}

export function ModelDetail({ node }: { node: ModelNode }) {
  const t = useT("runs");
  const m = useT("models");
  const writing = node.end === null;
  return (
    <>
      {node.error && (
        <Part title={t("sec_error")}>
          <div className="rounded-md bg-bad-soft px-3 py-2 text-base">
            <p className="font-medium wrap-anywhere">{node.error.message}</p>
            {"hint" in node.error && <p className="text-sm text-ink-2">{String(node.error.hint)}</p>}
            <p className="text-sm text-ink-3">{node.retryAt ? t("model_retry", { when: formatTime(node.retryAt) }) : t("model_no_retry")}</p>
            {"detail" in node.error && node.error.detail ? <pre className="mt-1.5 font-mono text-sm whitespace-pre-wrap wrap-anywhere text-ink-2">{String(node.error.detail)}</pre> : null}
          </div>
        </Part>
      )}
      {(node.answered || node.attempts.length > 0) && (
        <Part title={t("sec_answered")}>
          {node.answered && <p className="mb-1 flex flex-wrap items-center gap-x-2 text-base"><span className="font-medium">{node.answered.name}</span><code className="font-mono text-xs text-ink-2 wrap-anywhere">{node.answered.model}</code><Badge>{m(`strategy_${node.answered.strategy}` as Key<"models">)}</Badge></p>}
          {(node.attempts.length > 1 || !node.answered) && <Attempts attempts={node.attempts} />}
        </Part>
      )}
      {node.usage && <Part title={t("sec_usage")}><UsageBar node={node} /></Part>}
      {node.reasoning && <Part title={t("sec_reasoning")} copy={node.reasoning}><Text plain className="text-ink-2" text={node.reasoning} /></Part>}
      {!node.error && (
        <Part title={t("sec_output")} copy={node.text}>
          {node.text ? <Text plain text={node.text} /> : <p className="text-sm text-ink-3">{writing ? t("model_running") : t("empty_output")}</p>}
        </Part>
      )}
      {node.diagnostics.length > 0 && (
        <Part title={t("sec_diagnostics")}>
          <ul className="flex flex-col gap-1 rounded-md bg-warn-soft px-3 py-2 text-sm">
            {node.diagnostics.map((line, index) => <li key={index} className="wrap-anywhere">{line}</li>)}
          </ul>
        </Part>
      )}
      <Noticing node={node} />
      {node.calls.length > 0 && <Part title={t("sec_calls")}><div className="flex flex-col gap-3">{node.calls.map((call) => <Wanted key={call.id} call={call} />)}</div></Part>}
      {node.raw && <Part title={t("sec_raw")} copy={node.raw} closed><Text text={node.raw} /></Part>}
      <Part title={t("sec_prompt")} note={t("sec_messages", { count: node.prompt.length })} closed copy={JSON.stringify(node.prompt, null, 2)}><Sent messages={node.prompt} /></Part>
      <Part title={t("sec_technical")} closed>
        <Facts
          className="text-sm"
          items={[
            [t("fact_model"), <code key="m" className="font-mono">{node.model}</code>],
            [t("finish_reason"), node.finish ?? "–"],
            [t("reserved"), formatNumber(node.reserved)],
            ...(node.firstAt ? [[t("first_piece"), formatDuration(node.firstAt - node.at)] as [string, string]] : []),
            [t("prompt_hash"), <code key="h" className="font-mono">{node.promptHash}</code>],
          ]}
        />
      </Part>
    </>
  );
}
