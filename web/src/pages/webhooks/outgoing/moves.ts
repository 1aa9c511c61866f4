import { useSubscriptionActions } from "@/api/hooks/subscriptions";
import type { Subscription } from "@/api/types";
import { useT } from "@/i18n";
import { toast, useErrorText } from "@/ui";

/** What can be done to a subscription at once, with what is said of it. */
export function useMoves() {
  const t = useT("subscriptions");
  const errorText = useErrorText();
  const { remove, restore, resume } = useSubscriptionActions();
  const failed = (error: unknown) => {
    const { title, hint } = errorText(error);
    toast({ title, ...(hint && { detail: hint }), tone: "bad" });
  };
  // By promises: the page may be gone when the answer comes.
  const bringBack = (one: Subscription) => restore.mutateAsync(one.id).then(() => toast({ title: t("restored", { name: one.name }), about: one.id }), failed);
  return {
    /** Others can't bring one back: they are asked before. */
    remove: (one: Subscription) => remove.mutateAsync(one.id).then(() => toast({ title: t("deleted", { name: one.name }), about: one.id, ...(one.may_change && { undo: () => void bringBack(one) }) }), failed),
    bringBack,
    resume: (one: Subscription) => resume.mutateAsync(one.id).then(() => toast({ title: t("resumed", { name: one.name }), about: one.id }), failed),
    failed,
    busy: resume.isPending || restore.isPending,
  };
}
