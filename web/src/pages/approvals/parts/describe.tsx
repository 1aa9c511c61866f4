// What is asked, in words.
import { CircleHelp, ListChecks, MessageCircleQuestion, Wrench } from "lucide-react";
import type { Risk, Subject } from "@/api/types";
import { useT } from "@/i18n";

/** The greatest risk in what is asked; a question has none. */
export function riskOf(subject: Subject): Risk | null {
  const order: Risk[] = ["read", "write", "external", "destructive"];
  switch (subject.kind) {
    case "call":
      return subject.risk;
    case "plan":
      return subject.previews.reduce<Risk>((worst, step) => (order.indexOf(step.risk) > order.indexOf(worst) ? step.risk : worst), "read");
    case "uncertain":
      return "write";
    case "question":
      return null;
  }
}

export const SubjectIcon = ({ subject }: { subject: Subject }) => {
  const Icon = { call: Wrench, plan: ListChecks, uncertain: CircleHelp, question: MessageCircleQuestion }[subject.kind];
  return <Icon aria-hidden />;
};

export function useAsked(): (subject: Subject) => { title: string; about: string } {
  const t = useT("approvals");
  return (subject) => {
    switch (subject.kind) {
      case "call":
        return { title: t("ask_call", { tool: subject.tool }), about: subject.preview.summary };
      case "plan":
        return { title: t("ask_plan", { count: subject.previews.length }), about: subject.previews.map((step) => step.preview.summary).join("; ") };
      case "uncertain":
        return { title: t("ask_uncertain", { tool: subject.tool }), about: JSON.stringify(subject.arguments) };
      case "question":
        return { title: t("ask_question"), about: subject.text };
    }
  };
}
