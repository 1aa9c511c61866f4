import { useState } from "react";
import { useTenantActions } from "@/api/hooks";
import type { Tenant } from "@/api/types";
import { useT } from "@/i18n";
import { ConfirmDialog, ErrorState, Field, Input, toast } from "@/ui";

type Props = { tenant: Tenant; onClose: () => void };

/** Asks before everything of an organisation ends at once. */
export function Disabling({ tenant, onClose }: Props) {
  const t = useT("tenants");
  const { update } = useTenantActions();
  const run = () => update.mutate({ id: tenant.id, disabled: true }, { onSuccess: () => (toast({ title: t("disabled", { slug: tenant.slug }), about: tenant.id }), onClose()) });
  return (
    <ConfirmDialog open onOpenChange={onClose} title={t("disable_title", { slug: tenant.slug })} description={t("disable_text")} confirm={t("disable")} busy={update.isPending} onConfirm={run}>
      {update.error && <ErrorState inline error={update.error} />}
    </ConfirmDialog>
  );
}

/** Asks for the slug before an organisation goes for good. */
export function Deletion({ tenant, onClose }: Props) {
  const t = useT("tenants");
  const { remove } = useTenantActions();
  const [slug, setSlug] = useState("");
  const [tried, setTried] = useState(false);
  const problem = slug.trim() === tenant.slug ? null : t("delete_wrong");
  const run = () => {
    setTried(true);
    if (problem) return;
    remove.mutate({ id: tenant.id, slug: slug.trim() }, {
      onSuccess: (done) => {
        const rows = done.tables.reduce((sum, { rows }) => sum + rows, 0);
        toast({ title: t("deleted", { slug: tenant.slug }), detail: t("deleted_text", { rows, files: done.files }) });
        onClose();
      },
    });
  };
  return (
    <ConfirmDialog open onOpenChange={onClose} title={t("delete_title", { slug: tenant.slug })} description={t("delete_text")} confirm={t("delete_confirm")} danger busy={remove.isPending} onConfirm={run}>
      {remove.error && <ErrorState inline error={remove.error} />}
      <Field label={t("delete_label")} error={tried ? problem : null}>{(p) => <Input {...p} autoFocus autoComplete="off" autoCapitalize="none" value={slug} onChange={(event) => setSlug(event.target.value)} />}</Field>
    </ConfirmDialog>
  );
}
