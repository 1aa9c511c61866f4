import type { Subject } from "@/api/types";
import { useT } from "@/i18n";

/** What happens if the answer is no, in the user's language: by what is asked, as the server tells it to programs. */
export function useIfDenied(): (subject: Subject) => string {
  const t = useT("common");
  return (subject) => {
    switch (subject.kind) {
      case "call":
        return t(subject.call_id.startsWith("plan-") ? "denied.step" : "denied.call", { tool: subject.tool });
      case "uncertain":
        return t("denied.uncertain", { tool: subject.tool });
      default:
        return t(`denied.${subject.kind}`);
    }
  };
}
