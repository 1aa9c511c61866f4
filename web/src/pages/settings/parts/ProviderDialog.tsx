import { useState } from "react";
import { useSignOnWriter } from "@/api/hooks";
import { limits } from "@/api/limits";
import type { IdentityProvider, OidcSettings } from "@/api/types";
import { useT } from "@/i18n";
import { Button, Checkbox, CopyButton, Dialog, ErrorState, Field, Input, toast } from "@/ui";
import { AdmissionFields, cleaned, rolesOf, rolesText, USUAL } from "./AdmissionFields";
import { Trial } from "./Trial";

const EMPTY: OidcSettings = { label: "", enabled: true, issuer: "", client_id: "", scopes: ["openid", "email", "profile"], groups_claim: "groups", trust_emails: false, private_hosts: [], admission: USUAL, programs: null };

const words = (text: string) => text.split(/[\s,]+/).filter(Boolean);

/** One provider of OpenID Connect. Its name can't be changed, since the provider knows the address with it. */
export function ProviderDialog({ before, onClose }: { before: IdentityProvider | null; onClose: () => void }) {
  const t = useT("settings");
  const writer = useSignOnWriter();
  const [name, setName] = useState(before?.name ?? "");
  const [settings, setSettings] = useState<OidcSettings>(before?.settings ?? EMPTY);
  const [secret, setSecret] = useState("");
  const [scopes, setScopes] = useState((before?.settings ?? EMPTY).scopes?.join(" ") ?? "");
  const [hosts, setHosts] = useState((before?.settings ?? EMPTY).private_hosts?.join(" ") ?? "");
  const [roles, setRoles] = useState(rolesText(before?.settings.admission.roles ?? []));
  const [tried, setTried] = useState(false);
  const patch = (next: Partial<OidcSettings>) => setSettings((old) => ({ ...old, ...next }));
  const badName = !/^[a-z0-9-]{1,40}$/.test(name);
  const save = async () => {
    setTried(true);
    const mapped = rolesOf(roles);
    if (badName || mapped === null || !settings.label.trim() || !settings.issuer.trim() || !settings.client_id.trim()) return;
    const whole = { ...settings, scopes: words(scopes), private_hosts: words(hosts), admission: cleaned(settings.admission, mapped) };
    if (await writer.saveProvider(name, whole, secret)) (toast({ title: t("sso_saved", { name: settings.label }) }), onClose());
  };
  const text = (key: "label" | "issuer" | "client_id" | "groups_claim", label: string, hint?: string) => (
    <Field label={label} hint={hint} error={tried && key !== "groups_claim" && !settings[key]?.trim() ? t("sso_missing") : undefined}>{(p) => <Input {...p} spellCheck={false} maxLength={limits.OidcSettings[key].maxLength} value={settings[key] ?? ""} onChange={(event) => patch({ [key]: event.target.value })} />}</Field>
  );
  const back = `${window.location.origin}/api/auth/oidc/${badName ? "NAME" : name}/callback`;
  return (
    <Dialog open wide onOpenChange={onClose} title={before ? t("sso_edit", { name: before.settings.label }) : t("sso_add")} description={t("sso_add_text")} footer={<><Button onClick={onClose}>{t("cancel")}</Button><Button variant="primary" loading={writer.busy} onClick={() => void save()}>{t("sso_save")}</Button></>}>
      <form className="flex flex-col gap-5 pb-1" onSubmit={(event) => (event.preventDefault(), void save())}>
        {writer.error !== null && <ErrorState inline error={writer.error} />}
        {!before && <Field label={t("sso_name")} hint={t("sso_name_hint")} error={tried && badName ? t("sso_name_wrong") : undefined}>{(p) => <Input {...p} spellCheck={false} maxLength={40} value={name} onChange={(event) => setName(event.target.value)} />}</Field>}
        <div>
          <p className="text-sm font-medium">{t("sso_back")}</p>
          <p className="flex items-center gap-2 font-mono text-sm wrap-anywhere">{back}<CopyButton text={back} label={t("sso_back_copy")} /></p>
        </div>
        {text("label", t("sso_label"), t("sso_label_hint"))}
        {text("issuer", t("sso_issuer"), t("sso_issuer_hint"))}
        {text("client_id", t("sso_client"))}
        <Field label={t("sso_secret")} hint={before?.has_secret ? t("sso_secret_kept") : undefined}>{(p) => <Input {...p} type="password" autoComplete="off" value={secret} onChange={(event) => setSecret(event.target.value)} />}</Field>
        <Trial run={(trial) => trial.provider({ ...settings, scopes: words(scopes), private_hosts: words(hosts), admission: cleaned(settings.admission, rolesOf(roles) ?? []) })} />
        <Field label={t("sso_scopes")}>{(p) => <Input {...p} spellCheck={false} value={scopes} onChange={(event) => setScopes(event.target.value)} />}</Field>
        {text("groups_claim", t("sso_groups"))}
        <AdmissionFields value={settings.admission} onChange={(admission) => patch({ admission })} roles={roles} onRoles={setRoles} tried={tried} />
        <Checkbox checked={settings.trust_emails ?? false} onChange={(trust_emails) => patch({ trust_emails })} label={t("sso_trust")} hint={t("sso_trust_hint")} />
        <Field label={t("sso_hosts")} hint={t("sso_hosts_hint")}>{(p) => <Input {...p} spellCheck={false} value={hosts} onChange={(event) => setHosts(event.target.value)} />}</Field>
        <Checkbox checked={settings.enabled ?? true} onChange={(enabled) => patch({ enabled })} label={t("sso_enabled")} />
        <button type="submit" hidden tabIndex={-1} aria-hidden />
      </form>
    </Dialog>
  );
}
