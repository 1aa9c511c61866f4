import { useState } from "react";
import { useTenantActions } from "@/api/hooks";
import { limits } from "@/api/limits";
import type { InvitedUser, Tenant } from "@/api/types";
import { useT } from "@/i18n";
import { Button, Dialog, ErrorState, Field, Input, toast } from "@/ui";

type Props = { tenant: Tenant | null; onClose: () => void; onInvited: (invited: InvitedUser) => void };

/** Makes an organisation with its first administrator, or gives one another name. */
export function TenantDialog({ tenant, onClose, onInvited }: Props) {
  const t = useT("tenants");
  const { create, update } = useTenantActions();
  const [slug, setSlug] = useState("");
  const [name, setName] = useState(tenant?.name ?? "");
  const [email, setEmail] = useState("");
  const [tried, setTried] = useState(false);
  const slugProblem = !tenant && !/^[a-z0-9][a-z0-9-]{0,38}[a-z0-9]$/.test(slug) ? t("slug_bad") : null;
  const emailProblem = !tenant && !/^[^\s@]+@[^\s@]+$/.test(email.trim()) ? t("email_bad") : null;
  const nameProblem = tenant && name.trim() === "" ? t("name_missing") : null;
  const error = create.error ?? update.error;
  const save = () => {
    setTried(true);
    if (slugProblem || emailProblem || nameProblem) return void setTimeout(() => document.querySelector<HTMLElement>("[role=dialog] [aria-invalid]")?.focus());
    if (tenant) return update.mutate({ id: tenant.id, name: name.trim() }, { onSuccess: () => (toast({ title: t("saved") }), onClose()) });
    create.mutate({ slug, administrator: email.trim(), ...(name.trim() && { name: name.trim() }) }, { onSuccess: (made) => (onClose(), onInvited({ user: made.administrator, invitation: made.invitation })) });
  };
  return (
    <Dialog open onOpenChange={onClose} title={tenant ? t("rename_title", { slug: tenant.slug }) : t("add_title")} description={tenant ? undefined : t("add_text")} footer={<><Button onClick={onClose}>{t("cancel")}</Button><Button variant="primary" loading={create.isPending || update.isPending} onClick={save}>{t(tenant ? "save" : "make")}</Button></>}>
      <form noValidate className="flex flex-col gap-4 pb-1" onSubmit={(event) => (event.preventDefault(), save())}>
        {error && <ErrorState inline error={error} />}
        {!tenant && <Field label={t("slug")} hint={t("slug_hint")} error={tried ? slugProblem : null}>{(p) => <Input {...p} autoFocus autoComplete="off" autoCapitalize="none" maxLength={limits.TenantInput.slug.maxLength} value={slug} onChange={(event) => setSlug(event.target.value)} />}</Field>}
        <Field label={t("name")} hint={tenant ? undefined : t("name_hint")} error={tried ? nameProblem : null}>{(p) => <Input {...p} autoComplete="off" maxLength={limits.TenantInput.name.maxLength} value={name} onChange={(event) => setName(event.target.value)} />}</Field>
        {!tenant && <Field label={t("administrator")} hint={t("administrator_hint")} error={tried ? emailProblem : null}>{(p) => <Input {...p} type="email" autoComplete="off" maxLength={limits.TenantInput.administrator.maxLength} value={email} onChange={(event) => setEmail(event.target.value)} />}</Field>}
        <button type="submit" hidden tabIndex={-1} aria-hidden />
      </form>
    </Dialog>
  );
}
