import { type ReactNode, useState } from "react";
import { useT } from "@/i18n";
import { ConfirmDialog } from "@/ui";

/** Asks before what was typed is thrown away. `leave(dirty, go)` goes at once where nothing was typed; `question` is to be shown. */
export function useLeaving(): { leave: (dirty: boolean, go: () => void) => void; question: ReactNode } {
  const t = useT("data");
  const [go, setGo] = useState<(() => void) | null>(null);
  const question = go && (
    <ConfirmDialog open danger onOpenChange={() => setGo(null)} title={t("leave_title")} description={t("leave_unsaved")} confirm={t("discard")} onConfirm={() => (setGo(null), go())} />
  );
  return { leave: (dirty, next) => (dirty ? setGo(() => next) : next()), question };
}
