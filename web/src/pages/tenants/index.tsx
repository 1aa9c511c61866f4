import { Building2, Plus } from "lucide-react";
import { useState } from "react";
import { isInstallationAdmin, useMe, useTenantActions, useTenants } from "@/api/hooks";
import type { InvitedUser, Tenant } from "@/api/types";
import { useT } from "@/i18n";
import { Button, EmptyState, Page, PagedList, Skeleton, toast, useErrorText } from "@/ui";
import { InvitationLink } from "../users/parts/InvitationLink";
import { Deletion, Disabling } from "./parts/Confirm";
import { TenantDialog } from "./parts/TenantDialog";
import { TenantRow } from "./parts/TenantRow";

/** The organisations of the installation, for its administrators. */
export default function TenantsPage() {
  const t = useT("tenants");
  const { data: me } = useMe();
  if (me && isInstallationAdmin(me)) return <Listed />;
  return <Page title={t("title")} width="text">{me ? <EmptyState icon={<Building2 />} title={t("not_allowed")}>{t("not_allowed_text")}</EmptyState> : <Skeleton rows={4} />}</Page>;
}

function Listed() {
  const t = useT("tenants");
  const list = useTenants();
  const { update } = useTenantActions();
  const [editing, setEditing] = useState<Tenant | "new" | null>(null);
  const [disabling, setDisabling] = useState<Tenant | null>(null);
  const [deleting, setDeleting] = useState<Tenant | null>(null);
  const [invited, setInvited] = useState<InvitedUser | null>(null);
  const errorText = useErrorText();
  const enable = ({ id, slug }: Tenant) =>
    update.mutate({ id, disabled: false }, {
      onSuccess: () => toast({ title: t("enabled", { slug }), about: id }),
      onError: (error: unknown) => {
        const { title, hint } = errorText(error);
        toast({ title, ...(hint && { detail: hint }), tone: "bad" });
      },
    });
  const alone = !list.hasMore && list.items.every((tenant) => tenant.default);
  return (
    <Page title={t("title")} lead={t("lead")} width="text" actions={<Button size="sm" variant="primary" icon={<Plus aria-hidden className="size-4" />} onClick={() => setEditing("new")}>{t("add")}</Button>}>
      <PagedList list={list} empty={<EmptyState icon={<Building2 />} title={t("empty_title")} />}>
        <ul aria-label={t("title")} className="divide-y divide-line rounded-lg border border-line bg-surface">
          {list.items.map((tenant) => <TenantRow key={tenant.id} tenant={tenant} onEdit={() => setEditing(tenant)} onDisable={() => setDisabling(tenant)} onEnable={() => enable(tenant)} onDelete={() => setDeleting(tenant)} />)}
        </ul>
        {alone && !list.isLoading && <EmptyState icon={<Building2 />} title={t("empty_title")}>{t("empty_text")}</EmptyState>}
      </PagedList>
      {editing && <TenantDialog tenant={editing === "new" ? null : editing} onClose={() => setEditing(null)} onInvited={setInvited} />}
      {disabling && <Disabling tenant={disabling} onClose={() => setDisabling(null)} />}
      {deleting && <Deletion tenant={deleting} onClose={() => setDeleting(null)} />}
      {invited && <InvitationLink invited={invited} onDone={() => setInvited(null)} />}
    </Page>
  );
}
