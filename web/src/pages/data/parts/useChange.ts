import { useState } from "react";
import { useChangeActions } from "@/api/hooks";
import type { ChangeInfo, ChangeInput } from "@/api/types";

/** One change from its proposal to its outcome. */
export function useChange(onDone?: (info: ChangeInfo) => void) {
  const actions = useChangeActions();
  const [info, setInfo] = useState<ChangeInfo | null>(null);
  const take = (next: ChangeInfo) => {
    setInfo(next);
    if (next.change.state === "done" || next.change.state === "undone") onDone?.(next);
  };
  const run = (act: typeof actions.confirm) => info && act.mutate(info.change.id, { onSuccess: take });
  return {
    info,
    propose: (change: ChangeInput) => actions.propose.mutate(change, { onSuccess: setInfo }),
    proposing: actions.propose.isPending,
    proposeError: actions.propose.error,
    forgetError: () => actions.propose.reset(),
    confirm: () => run(actions.confirm),
    undo: () => run(actions.undo),
    discard: () => info && actions.discard.mutate(info.change.id, { onSuccess: () => setInfo(null) }),
    busy: actions.confirm.isPending ? ("confirm" as const) : actions.discard.isPending ? ("discard" as const) : actions.undo.isPending ? ("undo" as const) : null,
    error: actions.confirm.error ?? actions.discard.error ?? actions.undo.error,
    close: () => {
      for (const one of [actions.confirm, actions.discard, actions.undo]) one.reset();
      setInfo(null);
    },
  };
}
export type Changing = ReturnType<typeof useChange>;
