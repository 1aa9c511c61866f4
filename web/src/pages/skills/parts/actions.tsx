import { type ReactNode } from "react";
import { useAgents, useSkill, useSkillActions } from "@/api/hooks";
import type { Skill } from "@/api/types";
import { useT } from "@/i18n";
import { ConfirmDialog, ErrorState, toast, useErrorText } from "@/ui";
import { inputOf } from "./form";

/** Says of a failure what it is. */
export function useFailed(): (error: unknown) => void {
  const errorText = useErrorText();
  return (error) => {
    const { title, hint } = errorText(error);
    toast({ title, ...(hint && { detail: hint }), tone: "bad" });
  };
}

/** Takes a skill in or out of use at once, with a way back. Null: it failed, and that was said. */
export function useSwitching(): (skill: Skill) => Promise<Skill | null> {
  const t = useT("skills");
  const failed = useFailed();
  const { update } = useSkillActions();
  const to = (skill: Skill, enabled: boolean) => update.mutateAsync({ id: skill.id, body: { ...inputOf(skill), enabled } });
  return async (skill) => {
    try {
      const next = await to(skill, !skill.enabled);
      toast({ title: t(next.enabled ? "enabled_toast" : "disabled_toast", { name: skill.name }), undo: () => void to(next, skill.enabled).then(() => toast({ title: t(skill.enabled ? "enabled_toast" : "disabled_toast", { name: skill.name }) }), failed) });
      return next;
    } catch (error) {
      failed(error);
      return null;
    }
  };
}

/** Asks before a skill is removed: agents lose it, and that can't be taken back. */
export function DeleteDialog({ skill, onClose, onDone }: { skill: Skill; onClose: () => void; onDone?: () => void }) {
  const t = useT("skills");
  const { remove } = useSkillActions();
  const detail = useSkill(skill.id);
  const agents = useAgents();
  const names = (detail.data?.agents ?? []).map((id) => agents.items.find((one) => one.id === id)?.name ?? id);
  // A promise, for this may be gone by then: what it shows is no longer there.
  const removed = () =>
    remove.mutateAsync(skill.id).then(
      () => (toast({ title: t("deleted", { name: skill.name }) }), onClose(), onDone?.()),
      () => undefined,
    );
  const about: ReactNode = names.length > 0 ? t("delete_used", { agents: names.join(", ") }) : t("delete_text");
  return (
    <ConfirmDialog open danger title={t("delete_title", { name: skill.name })} description={about} confirm={t("delete")} busy={remove.isPending} onOpenChange={onClose} onConfirm={() => void removed()}>
      {remove.error && <ErrorState inline error={remove.error} />}
    </ConfirmDialog>
  );
}
