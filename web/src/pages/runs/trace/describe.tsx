// What a step is called and how it looks, in one line.
import { Flag, Hand, ListChecks, ListFilter, ListOrdered, Play, Sparkles, Wrench } from "lucide-react";
import type { ReactNode } from "react";
import { useT } from "@/i18n";
import { doneOf, statesOf } from "@/run/deep";
import { formatMoney, formatNumber, type Tone } from "@/ui";
import { useWord } from "../parts/Labels";
import { cachedShare, callStatus, type CallNode, type Node } from "./nodes";
import { NOTES } from "./notes";

export type Line = {
  icon: ReactNode;
  title: string;
  /** Shown in fixed width: a name of a tool. */
  mono: boolean;
  /** One line of what it is about. */
  about: string;
  badge: { text: string; tone: Tone } | null;
  busy: boolean;
};

const callTone: Record<ReturnType<typeof callStatus>, Tone> = { proposed: "neutral", waiting: "warn", running: "accent", ok: "ok", error: "bad", dry: "neutral", rejected: "warn", denied: "bad", uncertain: "warn", undone: "neutral" };

/** The arguments of a call in one line. */
export function brief(args: unknown): string {
  if (args === null || args === undefined) return "";
  if (typeof args !== "object") return String(args);
  return Object.entries(args)
    .map(([name, value]) => `${name}: ${typeof value === "string" ? value.replace(/\s+/g, " ") : JSON.stringify(value)}`)
    .join("  ")
    .slice(0, 160);
}

export function useDescribe(): (node: Node) => Line {
  const t = useT("runs");
  const word = useWord();
  const plain = (icon: ReactNode, title: string, about = "", badge: Line["badge"] = null): Line => ({ icon, title, mono: false, about: about.slice(0, 200), badge, busy: false });
  const callLine = (node: CallNode): Line => {
    const status = callStatus(node);
    return { ...plain(<Wrench />, node.tool, brief(node.arguments), { text: t(`call_${status}`), tone: callTone[status] }), mono: true, busy: status === "running" };
  };
  return (node) => {
    switch (node.kind) {
      case "start":
        return plain(<Play />, t("step_start"), node.setup.input);
      case "filter":
        return plain(<ListFilter />, t("step_filter"), t("offered", { kept: node.kept.length, offered: node.offered }));
      case "model": {
        const busy = node.end === null;
        const share = node.usage && cachedShare(node.usage);
        const about = node.error
          ? node.error.message
          : node.usage
            ? [node.answered?.name ?? "", node.attempts.length > 1 ? t("asked_before", { count: node.attempts.length - 1 }) : "", t("tokens_in", { n: formatNumber(node.usage.prompt_tokens) }), t("tokens_out", { n: formatNumber(node.usage.completion_tokens) }), share ? t("cached", { share: `${Math.round(share * 100)} %` }) : "", node.usage.cost_micros > 0 ? formatMoney(node.usage.cost_micros) : ""].filter(Boolean).join(" · ")
            : (node.text || node.reasoning).slice(-160);
        const badge: Line["badge"] = node.error ? { text: t("model_failed"), tone: "bad" } : busy ? { text: t("model_running"), tone: "accent" } : node.stopped ? { text: t("model_stopped"), tone: "neutral" } : node.finish === null ? { text: t("model_cut"), tone: "warn" } : null;
        return { ...plain(<Sparkles />, `${t("step_model", { step: node.step })}: ${word("purpose_", node.purpose)}`, about, badge), busy };
      }
      case "plan":
        return plain(<ListChecks />, t("step_plan", { n: node.generation }), `${t("sec_candidates", { count: node.candidates.length })} · ${node.by === "intent" ? t("plan_by_intent") : t("plan_by_model")}`);
      case "deep": {
        const { version } = node;
        const at = [...statesOf(version, node.working)].find(([, state]) => state === "work")?.[0];
        const about = version.steps.length === 0 ? (version.reason === null ? t("deep_not_worth") : t("deep_without")) : [t("deep_done", { done: doneOf(version), of: version.steps.length }), version.reason ?? ""].filter(Boolean).join(" · ");
        return { ...plain(<ListOrdered />, t("step_deep", { n: node.n }), about, at ? { text: t("deep_at", { step: at }), tone: "accent" } : null), busy: at !== undefined };
      }
      case "call":
        return callLine(node);
      case "approval": {
        const { subject } = node;
        const title = subject.kind === "plan" ? t("ask_plan") : subject.kind === "question" ? t("ask_question") : subject.kind === "uncertain" ? t("ask_uncertain", { tool: subject.tool }) : t("ask_call", { tool: subject.tool });
        const about = subject.kind === "question" ? subject.text : subject.kind === "call" ? subject.preview.summary : "";
        const answer = node.answer?.decision;
        const tone: Tone = answer === "approve" || answer === "happened" || answer === "run_again" ? "ok" : answer === "deny" ? "bad" : "neutral";
        return plain(<Hand />, title, about, answer ? { text: t(`answer_${answer}`), tone } : { text: t("ask_open"), tone: "warn" });
      }
      case "note": {
        const Icon = node.note === "unknown" ? Flag : NOTES[node.note].icon;
        return plain(<Icon />, t(`note_${node.note}`), [node.text, node.by && t("by", { name: node.by })].filter(Boolean).join(" "), node.failed ? { text: t("call_error"), tone: "bad" } : null);
      }
      case "finish": {
        const { status } = node.outcome;
        return plain(<Flag />, t("step_finish"), node.answer.replace(/\s+/g, " "), { text: word("outcome_", status), tone: status === "completed" ? "ok" : status === "failed" ? "bad" : "neutral" });
      }
    }
  };
}
