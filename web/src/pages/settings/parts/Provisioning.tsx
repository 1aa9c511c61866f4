import { Plus, X } from "lucide-react";
import { type FormEvent, useState } from "react";
import { isAdmin, useMe, useReplaceScimSettings, useScimSettings, useScimTokens, useScimTokenWriter } from "@/api/hooks";
import { limits } from "@/api/limits";
import type { Role, ScimSettings, ScimToken } from "@/api/types";
import { useT } from "@/i18n";
import { Button, Card, ConfirmDialog, CopyButton, Dialog, ErrorState, Field, IconButton, Input, Select, Skeleton, Textarea, Time, toast } from "@/ui";
import { rolesOf, rolesText } from "./AdmissionFields";
import { Shown } from "./ApiKey";

const ROLES: readonly Role[] = ["admin", "operator", "developer", "viewer"];

/** Users and groups that a provider keeps here by SCIM; for administrators. */
export function Provisioning() {
  const me = useMe();
  return isAdmin(me.data) ? <ProvisioningCard /> : null;
}

function ProvisioningCard() {
  const t = useT("settings");
  const tokens = useScimTokens();
  const writer = useScimTokenWriter();
  const [naming, setNaming] = useState(false);
  const [secret, setSecret] = useState<string | null>(null);
  const [revoking, setRevoking] = useState<ScimToken | null>(null);
  const base = `${window.location.origin}/scim/v2`;
  const make = async (name: string) => {
    const made = await writer.make(name);
    if (!made) return;
    setNaming(false);
    setSecret(made.secret);
  };
  const revoke = async () => {
    if (revoking && (await writer.revoke(revoking.id))) toast({ title: t("scim_revoked") });
    setRevoking(null);
  };
  return (
    <Card title={t("sec_scim")} actions={<Button size="sm" icon={<Plus aria-hidden className="size-4" />} onClick={() => setNaming(true)}>{t("scim_make")}</Button>}>
      <div className="flex flex-col gap-4">
        <p className="max-w-prose text-base text-ink-2">{t("scim_text")}</p>
        <div>
          <h3 className="text-sm font-medium">{t("scim_base")}</h3>
          <p className="flex items-center gap-2"><code className="min-w-0 font-mono text-sm wrap-anywhere">{base}</code><CopyButton text={base} label={t("scim_base_copy")} /></p>
        </div>
        {writer.error !== null && !naming && <ErrorState inline error={writer.error} />}
        {tokens.error ? <ErrorState inline error={tokens.error} onRetry={tokens.retry} /> : tokens.isLoading ? <Skeleton rows={1} /> : tokens.items.length === 0 ? <p className="text-base text-ink-3">{t("scim_none")}</p> : (
          <ul className="divide-y divide-line rounded-lg border border-line">
            {tokens.items.map((token) => (
              <li key={token.id} className="flex items-center gap-3 px-4 py-3">
                <div className="min-w-0 flex-1">
                  <p className="text-base font-medium wrap-anywhere">{token.name}</p>
                  <p className="text-sm text-ink-2 wrap-anywhere"><code className="font-mono">{token.prefix}…</code> · {t("scim_by", { name: token.created_by })} · {token.last_used_at === null ? t("scim_unused") : <>{t("scim_used")} <Time at={token.last_used_at} /></>}</p>
                </div>
                <IconButton size="sm" label={t("scim_revoke_name", { name: token.name })} onClick={() => setRevoking(token)}><X /></IconButton>
              </li>
            ))}
          </ul>
        )}
        <Roles />
      </div>
      {naming && <NameDialog busy={writer.busy} error={writer.error} onMake={(name) => void make(name)} onClose={() => setNaming(false)} />}
      {secret && <Shown value={secret} onDone={() => setSecret(null)} />}
      <ConfirmDialog open={revoking !== null} onOpenChange={() => setRevoking(null)} title={t("scim_revoke_title")} description={t("scim_revoke_text")} confirm={t("scim_revoke")} danger busy={writer.busy} onConfirm={() => void revoke()} />
    </Card>
  );
}

function NameDialog({ busy, error, onMake, onClose }: { busy: boolean; error: unknown; onMake: (name: string) => void; onClose: () => void }) {
  const t = useT("settings");
  const [name, setName] = useState("");
  const send = (event: FormEvent) => {
    event.preventDefault();
    if (name.trim() !== "") onMake(name.trim());
  };
  return (
    <Dialog open onOpenChange={onClose} title={t("scim_make")} description={t("scim_make_text")} footer={<><Button onClick={onClose}>{t("cancel")}</Button><Button variant="primary" type="submit" form="scim-token" loading={busy} disabled={name.trim() === ""}>{t("scim_make")}</Button></>}>
      <form id="scim-token" onSubmit={send} className="flex flex-col gap-3">
        {error !== null && <ErrorState inline error={error} />}
        <Field label={t("scim_name")} hint={t("scim_name_hint")}>{(p) => <Input {...p} autoFocus maxLength={limits.ScimTokenInput.name.maxLength} value={name} onChange={(event) => setName(event.target.value)} />}</Field>
      </form>
    </Dialog>
  );
}

function Roles() {
  const settings = useScimSettings();
  if (!settings.data) return settings.error ? <ErrorState inline error={settings.error} onRetry={() => void settings.refetch()} /> : <Skeleton rows={2} />;
  return <RolesForm key={JSON.stringify(settings.data)} before={settings.data} />;
}

/** What those may do who come by SCIM. */
function RolesForm({ before }: { before: ScimSettings }) {
  const t = useT("settings");
  const replace = useReplaceScimSettings();
  const [roles, setRoles] = useState(rolesText(before.roles));
  const [usual, setUsual] = useState(before.default_role);
  const wanted = rolesOf(roles);
  const changed = roles !== rolesText(before.roles) || usual !== before.default_role;
  const save = (event: FormEvent) => {
    event.preventDefault();
    if (wanted) replace.mutate({ roles: wanted, default_role: usual }, { onSuccess: () => toast({ title: t("scim_saved") }) });
  };
  return (
    <form onSubmit={save} className="flex flex-col gap-3">
      {replace.error && <ErrorState inline error={replace.error} />}
      <Field label={t("sso_roles")} hint={t("scim_roles_hint")} error={wanted === null ? t("sso_roles_wrong") : undefined}>{(p) => <Textarea {...p} rows={3} spellCheck={false} value={roles} onChange={(event) => setRoles(event.target.value)} />}</Field>
      <Field label={t("scim_usual")}>{(p) => (
        <Select {...p} value={usual} onChange={({ target }) => setUsual(target.value as Role)}>
          {ROLES.map((role) => <option key={role} value={role}>{t(`rule_role_${role}`)}</option>)}
        </Select>
      )}</Field>
      <div><Button type="submit" loading={replace.isPending} disabled={!changed || wanted === null}>{t("sso_save")}</Button></div>
    </form>
  );
}
