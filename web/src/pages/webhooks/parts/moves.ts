import { useHookActions } from "@/api/hooks";
import type { Hook } from "@/api/types";
import { useT } from "@/i18n";
import { toast, useErrorText } from "@/ui";

/** What can be done to a webhook at once, with what is said of it. */
export function useMoves() {
  const t = useT("webhooks");
  const errorText = useErrorText();
  const { remove, restore, resume } = useHookActions();
  const failed = (error: unknown) => {
    const { title, hint } = errorText(error);
    toast({ title, ...(hint && { detail: hint }), tone: "bad" });
  };
  // By promises: the page may be gone when the answer comes.
  const bringBack = (hook: Hook) => restore.mutateAsync(hook.id).then(() => toast({ title: t("restored", { name: hook.name }), about: hook.id }), failed);
  return {
    /** Others can't bring one back: they are asked before. */
    remove: (hook: Hook) => remove.mutateAsync(hook.id).then(() => toast({ title: t("deleted", { name: hook.name }), about: hook.id, ...(hook.may_change && { undo: () => void bringBack(hook) }) }), failed),
    bringBack,
    resume: (hook: Hook) => resume.mutateAsync(hook.id).then(() => toast({ title: t("resumed", { name: hook.name }), about: hook.id }), failed),
    failed,
    busy: resume.isPending || restore.isPending,
  };
}
