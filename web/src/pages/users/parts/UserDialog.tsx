import { useState } from "react";
import { useUserActions } from "@/api/hooks";
import { limits } from "@/api/limits";
import type { InvitedUser, Role, User } from "@/api/types";
import { useT } from "@/i18n";
import { Button, Dialog, ErrorState, Field, Input, Select, toast } from "@/ui";
import { ROLES } from "./link";

type Props = { user: User | null; mine: boolean; onClose: () => void; onInvited: (invited: InvitedUser) => void };

/** Invites somebody, or changes name and role. */
export function UserDialog({ user, mine, onClose, onInvited }: Props) {
  const t = useT("users");
  const { invite, update } = useUserActions();
  const [email, setEmail] = useState("");
  const [name, setName] = useState(user?.name ?? "");
  const [role, setRole] = useState<Role>(user?.role ?? "developer");
  const [tried, setTried] = useState(false);
  const emailProblem = !user && !/^[^\s@]+@[^\s@]+$/.test(email.trim()) ? t("email_bad") : null;
  const nameProblem = user && name.trim() === "" ? t("name_missing") : null;
  const error = invite.error ?? update.error;
  const save = () => {
    setTried(true);
    if (emailProblem || nameProblem) return void setTimeout(() => document.querySelector<HTMLElement>("[role=dialog] [aria-invalid]")?.focus());
    if (user) return update.mutate({ id: user.id, name: name.trim(), ...(role !== user.role && { role }) }, { onSuccess: () => (toast({ title: t("saved") }), onClose()) });
    invite.mutate({ email: email.trim(), role, ...(name.trim() && { name: name.trim() }) }, { onSuccess: (invited) => (onClose(), onInvited(invited)) });
  };
  return (
    <Dialog open onOpenChange={onClose} title={user ? t("edit_title", { email: user.email }) : t("invite_title")} description={user ? undefined : t("invite_text")} footer={<><Button onClick={onClose}>{t("cancel")}</Button><Button variant="primary" loading={invite.isPending || update.isPending} onClick={save}>{t(user ? "save" : "make_link")}</Button></>}>
      <form noValidate className="flex flex-col gap-4 pb-1" onSubmit={(event) => (event.preventDefault(), save())}>
        {error && <ErrorState inline error={error} />}
        {!user && <Field label={t("email")} error={tried ? emailProblem : null}>{(p) => <Input {...p} type="email" autoFocus autoComplete="off" maxLength={limits.UserInput.email.maxLength} value={email} onChange={(event) => setEmail(event.target.value)} />}</Field>}
        <Field label={t("name")} hint={user ? undefined : t("name_hint")} error={tried ? nameProblem : null}>{(p) => <Input {...p} autoComplete="off" maxLength={limits.UserInput.name.maxLength} value={name} onChange={(event) => setName(event.target.value)} />}</Field>
        <Field label={t("role")} hint={mine ? t("role_own") : t(`may_${role}`)}>{(p) => <Select {...p} disabled={mine} value={role} onChange={(event) => setRole(event.target.value as Role)}>{ROLES.map((one) => <option key={one} value={one}>{t(`role_${one}`)}</option>)}</Select>}</Field>
        <button type="submit" hidden tabIndex={-1} aria-hidden />
      </form>
    </Dialog>
  );
}
