// Taking an approval back: what it let through is undone, once its run has ended.
import { ApiError, api } from "@/api/client";
import type { Page, Undone } from "@/api/types";
import { translate } from "@/i18n";
import { toast } from "@/ui";

/** How often it is tried while the run is still at work, and how long between, ms. */
const TRIES = 15;
const PAUSE = 1000;

export async function undoApproved(run: string, call: string, toRun: () => void): Promise<void> {
  for (let left = TRIES; ; left -= 1) {
    try {
      const { items } = await api.post<Page<Undone>>(`/api/runs/${run}/undo`, { body: { call_id: call } });
      for (const one of items) toast({ title: translate("approvals", one.undone ? "undo_done" : "undo_not"), detail: one.detail, tone: one.undone ? "ok" : "bad" });
      return;
    } catch (error) {
      const open = error instanceof ApiError && error.code === "run_open";
      if (!open || left === 0) {
        toast({ tone: "bad", title: translate("approvals", open ? "undo_open" : "undo_not"), ...(error instanceof ApiError && !open && { detail: error.message }), action: { label: translate("approvals", "open_run"), run: toRun } });
        return;
      }
      if (left === TRIES) toast({ title: translate("approvals", "undo_soon") });
      await new Promise((wake) => setTimeout(wake, PAUSE));
    }
  }
}
