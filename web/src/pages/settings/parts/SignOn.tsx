import { Pencil, Plus, X } from "lucide-react";
import { useState } from "react";
import { isAdmin, useDirectory, useLoginSettings, useMe, useProviders, useReplaceLoginSettings, useSignOnWriter } from "@/api/hooks";
import type { IdentityProvider, LoginSettings, Role } from "@/api/types";
import { useT } from "@/i18n";
import { Badge, Button, Card, Checkbox, ConfirmDialog, ErrorState, IconButton, Skeleton, toast } from "@/ui";
import { DirectoryDialog } from "./DirectoryDialog";
import { ProviderDialog } from "./ProviderDialog";

const ROLES: readonly Role[] = ["admin", "operator", "developer", "viewer"];

/** Providers, the directory, and whose password is not enough; for administrators. */
export function SignOn() {
  const me = useMe();
  return isAdmin(me.data) ? <SignOnCard /> : null;
}

function SignOnCard() {
  const t = useT("settings");
  const providers = useProviders();
  const directory = useDirectory();
  const writer = useSignOnWriter();
  const [editing, setEditing] = useState<IdentityProvider | "new" | "directory" | null>(null);
  const [removing, setRemoving] = useState<string | null>(null);
  const error = providers.error ?? directory.error;
  const row = (key: string, label: string, detail: string, enabled: boolean, onEdit: () => void) => (
    <li key={key} className="flex items-center gap-3 px-4 py-3">
      <div className="min-w-0 flex-1">
        <p className="flex flex-wrap items-center gap-2 text-base font-medium"><span className="wrap-anywhere">{label}</span>{!enabled && <Badge>{t("sso_off")}</Badge>}</p>
        <p className="text-sm text-ink-2 wrap-anywhere">{detail}</p>
      </div>
      <IconButton size="sm" label={t("sso_edit", { name: label })} onClick={onEdit}><Pencil /></IconButton>
      <IconButton size="sm" label={t("sso_remove", { name: label })} onClick={() => setRemoving(key)}><X /></IconButton>
    </li>
  );
  const remove = async () => {
    if (removing === null) return;
    const done = await (removing === "/directory" ? writer.removeDirectory() : writer.removeProvider(removing));
    if (done) toast({ title: t("sso_removed") });
    setRemoving(null);
  };
  const saved = directory.data?.settings;
  return (
    <Card title={t("sec_sso")} actions={<><Button size="sm" icon={<Plus aria-hidden className="size-4" />} onClick={() => setEditing("new")}>{t("sso_add")}</Button>{directory.data && !saved && <Button size="sm" icon={<Plus aria-hidden className="size-4" />} onClick={() => setEditing("directory")}>{t("sso_add_directory")}</Button>}</>}>
      <div className="flex flex-col gap-4">
        <p className="max-w-prose text-base text-ink-2">{t("sso_text")}</p>
        {writer.error !== null && <ErrorState inline error={writer.error} />}
        {error ? <ErrorState inline error={error} onRetry={() => (providers.retry(), void directory.refetch())} /> : providers.isLoading || !directory.data ? <Skeleton rows={2} /> : providers.items.length === 0 && !saved ? <p className="text-base text-ink-3">{t("sso_none")}</p> : (
          <ul className="divide-y divide-line rounded-lg border border-line">
            {providers.items.map((one) => row(one.name, one.settings.label, one.settings.issuer, one.settings.enabled !== false, () => setEditing(one)))}
            {saved && row("/directory", saved.label, saved.url, saved.enabled !== false, () => setEditing("directory"))}
          </ul>
        )}
        <FactorRoles />
      </div>
      {editing === "directory" && <DirectoryDialog before={saved ?? null} onClose={() => setEditing(null)} />}
      {editing !== null && editing !== "directory" && <ProviderDialog before={editing === "new" ? null : editing} onClose={() => setEditing(null)} />}
      <ConfirmDialog open={removing !== null} onOpenChange={() => setRemoving(null)} title={t("sso_remove_title")} description={t("sso_remove_text")} confirm={t("sso_remove_confirm")} danger busy={writer.busy} onConfirm={() => void remove()} />
    </Card>
  );
}

/** Roles that need a second factor, when they log in with a password. */
function FactorRoles() {
  const t = useT("settings");
  const settings = useLoginSettings();
  const replace = useReplaceLoginSettings();
  if (!settings.data) return settings.error ? <ErrorState inline error={settings.error} onRetry={() => void settings.refetch()} /> : <Skeleton rows={1} />;
  const now: LoginSettings = settings.data;
  const set = (role: Role, on: boolean) => {
    const rest = now.second_factor_roles.filter((one) => one !== role);
    replace.mutate({ ...now, second_factor_roles: on ? [...rest, role] : rest });
  };
  return (
    <fieldset className="flex flex-col gap-2">
      <legend className="mb-1 text-sm font-medium">{t("sso_factor_roles")}</legend>
      {replace.error && <ErrorState inline error={replace.error} />}
      <div className="grid gap-2 sm:grid-cols-2">{ROLES.map((role) => <Checkbox key={role} checked={now.second_factor_roles.includes(role)} disabled={replace.isPending} onChange={(on) => set(role, on)} label={t(`rule_role_${role}`)} />)}</div>
    </fieldset>
  );
}
