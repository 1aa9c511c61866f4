import { Link } from "@tanstack/react-router";
import { Check, ChevronRight, TriangleAlert, Undo2 } from "lucide-react";
import { useId, useState } from "react";
import { useMcpActions } from "@/api/hooks";
import type { Agent, McpServer, McpTool, Skill } from "@/api/types";
import { useT } from "@/i18n";
import { Badge, Button, CopyButton, cx, DiffView, ErrorState, formatExact, JsonView, toast, type Tone } from "@/ui";
import { hides, isAccepted, toolState, type ToolState, visible } from "./state";

const tones: Record<ToolState, Tone> = { accepted: "ok", changed: "warn", new: "warn", withdrawn: "neutral", gone: "neutral" };
type Props = { server: McpServer; tool: McpTool; operator: boolean; owners: { skill: Skill; agents: Agent[] } | null };

/** A tool: what the server says of it, what changed, and who has it. */
export function ToolRow({ server, tool, operator, owners }: Props) {
  const t = useT("mcp");
  const id = useId();
  const { accept, withdraw } = useMcpActions();
  const state = toolState(tool);
  const [open, setOpen] = useState(state === "changed");
  const words = visible(tool.description);
  const schema = visible(JSON.stringify(tool.parameters, null, 2));
  const agree = () => (withdraw.reset(), accept.mutate({ id: server.id, tool: tool.name, hash: tool.hash }, { onSuccess: () => toast({ title: t("accepted", { tool: tool.name }) }) }));
  // Accepting it again is one press: what was shown is what is accepted, and nothing runs meanwhile.
  const takeBack = () => (accept.reset(), withdraw.mutate({ id: server.id, tool: tool.name }, { onSuccess: () => toast({ title: t("withdrawn", { tool: tool.name }) }) }));
  return (
    <li>
      <h3>
        <button type="button" aria-expanded={open} aria-controls={id} onClick={() => setOpen(!open)} className="flex w-full items-start gap-2.5 px-4 py-2.5 text-left hover:bg-hover focus-visible:outline-offset-[-2px]">
          <ChevronRight aria-hidden className={cx("mt-1 size-3.5 shrink-0 text-ink-3 transition-transform", open && "rotate-90")} />
          <span className="min-w-0 flex-1">
            <span className="flex flex-wrap items-center gap-2"><code className="font-mono text-sm font-medium wrap-anywhere">{visible(tool.name)}</code><Badge tone={tones[state]}>{t(`tool_${state}`)}</Badge>{tool.read_only && <Badge title={t("read_only_hint")}>{t("read_only")}</Badge>}</span>
            {!open && <span className="block truncate text-sm text-ink-3">{words.split("\n")[0]}</span>}
          </span>
        </button>
      </h3>
      <div id={id} hidden={!open} className="flex flex-col gap-3 px-4 pt-1 pb-4 pl-10 max-md:pl-4">
        {open && (
          <>
            {hides(tool) && <p className="flex items-start gap-2 text-sm text-bad"><TriangleAlert aria-hidden className="mt-0.5 size-4 shrink-0" />{t("hidden_text")}</p>}
            {tool.unusable && <p className="flex items-start gap-2 text-sm text-bad"><TriangleAlert aria-hidden className="mt-0.5 size-4 shrink-0" />{t("unusable_text", { why: visible(tool.unusable) })}</p>}
            {state === "changed" && <p className="text-base">{t("changed_text", { at: tool.accepted_at ? formatExact(tool.accepted_at) : "–", by: tool.accepted_by ?? "–" })}</p>}
            {state === "gone" && <p className="text-base text-ink-2">{t("gone_tool_text")}</p>}
            {state === "changed" && tool.diff && <section aria-label={t("difference", { tool: tool.name })}><DiffView diff={visible(tool.diff)} /></section>}
            {state !== "changed" && <p className="text-base whitespace-pre-wrap wrap-anywhere">{words || t("no_description")}</p>}
            {state === "changed" ? (
              <details><summary className="cursor-pointer text-sm text-ink-2">{t("as_now")}</summary><p className="my-2 text-base whitespace-pre-wrap wrap-anywhere">{words}</p><JsonView value={schema} /></details>
            ) : (
              <section aria-label={t("schema_of", { tool: tool.name })} className="flex flex-col gap-1"><h4 className="text-sm font-medium">{t("schema")}</h4><JsonView value={schema} /></section>
            )}
            <p className="flex flex-wrap items-center gap-x-2 text-xs text-ink-3">{t("fingerprint")} <code className="font-mono wrap-anywhere">{tool.hash}</code><CopyButton text={tool.hash} label={t("copy_fingerprint")} /></p>
            {state === "accepted" && tool.accepted_at != null && <p className="text-sm text-ink-3">{t("accepted_by", { by: tool.accepted_by ?? "–", at: formatExact(tool.accepted_at) })}</p>}
            {owners && <p className="text-sm text-ink-2">{t("stands_for")} <Link to="/skills/$skillId" params={{ skillId: owners.skill.id }} className="font-mono text-accent-ink underline underline-offset-2">{owners.skill.name}</Link>{owners.agents.length > 0 && <> · {t("had_by", { agents: owners.agents.map((agent) => agent.name).join(", ") })}</>}</p>}
            {(accept.error ?? withdraw.error) && <ErrorState inline error={accept.error ?? withdraw.error} />}
            {operator && (
              <div className="flex flex-wrap gap-2 empty:hidden">
                {!tool.unusable && (state === "new" || state === "withdrawn" || state === "changed") && <Button variant={state === "withdrawn" ? "default" : "primary"} icon={<Check aria-hidden className="size-4" />} loading={accept.isPending} onClick={agree}>{t(state === "changed" ? "accept_change" : "accept")}</Button>}
                {isAccepted(tool) && <Button title={t("withdraw_hint")} icon={<Undo2 aria-hidden className="size-4" />} loading={withdraw.isPending} onClick={takeBack}>{t("withdraw")}</Button>}
              </div>
            )}
          </>
        )}
      </div>
    </li>
  );
}
