import { useState } from "react";
import { useSignOnWriter } from "@/api/hooks";
import { limits } from "@/api/limits";
import type { DirectorySettings } from "@/api/types";
import { useT } from "@/i18n";
import { Button, Checkbox, Dialog, ErrorState, Field, Input, Textarea, toast } from "@/ui";
import { AdmissionFields, cleaned, rolesOf, rolesText, USUAL } from "./AdmissionFields";
import { Trial } from "./Trial";

const EMPTY: DirectorySettings = {
  label: "", enabled: true, url: "ldaps://", start_tls: false, ca: null, base: "", bind_dn: null, user_template: null,
  filter: "(&(objectClass=person)(|(mail={login})(uid={login})(sAMAccountName={login})(userPrincipalName={login})))",
  id_attribute: "entryUUID", email_attribute: "mail", name_attribute: "cn", groups_attribute: "memberOf", nested_groups: false, admission: USUAL,
};

/** The directory: one an installation. */
export function DirectoryDialog({ before, onClose }: { before: DirectorySettings | null; onClose: () => void }) {
  const t = useT("settings");
  const writer = useSignOnWriter();
  const [settings, setSettings] = useState<DirectorySettings>(before ?? EMPTY);
  const [password, setPassword] = useState("");
  const [roles, setRoles] = useState(rolesText((before ?? EMPTY).admission.roles));
  const [tried, setTried] = useState(false);
  const patch = (next: Partial<DirectorySettings>) => setSettings((old) => ({ ...old, ...next }));
  const given = (text: string | null | undefined) => text?.trim() || null;
  const whole = (mapped: DirectorySettings["admission"]["roles"]) => ({ ...settings, ca: given(settings.ca), bind_dn: given(settings.bind_dn), user_template: given(settings.user_template), admission: cleaned(settings.admission, mapped) });
  const save = async () => {
    setTried(true);
    const mapped = rolesOf(roles);
    if (mapped === null || !settings.label.trim() || !settings.base.trim()) return;
    if (await writer.saveDirectory(whole(mapped), password)) (toast({ title: t("sso_saved", { name: settings.label }) }), onClose());
  };
  type Text = "label" | "url" | "base" | "filter" | "bind_dn" | "user_template" | "id_attribute" | "email_attribute" | "name_attribute" | "groups_attribute";
  const text = (key: Text, label: string, hint?: string, required = false) => (
    <Field label={label} hint={hint} error={tried && required && !settings[key]?.trim() ? t("sso_missing") : undefined}>{(p) => <Input {...p} spellCheck={false} maxLength={limits.DirectorySettings[key].maxLength} value={settings[key] ?? ""} onChange={(event) => patch({ [key]: event.target.value })} />}</Field>
  );
  return (
    <Dialog open wide onOpenChange={onClose} title={before ? t("sso_edit", { name: before.label }) : t("sso_add_directory")} description={t("ldap_text")} footer={<><Button onClick={onClose}>{t("cancel")}</Button><Button variant="primary" loading={writer.busy} onClick={() => void save()}>{t("sso_save")}</Button></>}>
      <form className="flex flex-col gap-5 pb-1" onSubmit={(event) => (event.preventDefault(), void save())}>
        {writer.error !== null && <ErrorState inline error={writer.error} />}
        {text("label", t("ldap_label"), undefined, true)}
        {text("url", t("ldap_url"), t("ldap_url_hint"), true)}
        <Checkbox checked={settings.start_tls ?? false} onChange={(start_tls) => patch({ start_tls })} label={t("ldap_start_tls")} />
        <Field label={t("ldap_ca")} hint={t("ldap_ca_hint")}>{(p) => <Textarea {...p} rows={2} spellCheck={false} value={settings.ca ?? ""} onChange={(event) => patch({ ca: event.target.value })} />}</Field>
        {text("base", t("ldap_base"), t("ldap_base_hint"), true)}
        {text("bind_dn", t("ldap_bind"), t("ldap_bind_hint"))}
        <Field label={t("ldap_password")} hint={before?.bind_dn ? t("sso_secret_kept") : undefined}>{(p) => <Input {...p} type="password" autoComplete="off" value={password} onChange={(event) => setPassword(event.target.value)} />}</Field>
        <Trial run={(trial) => trial.directory(whole(rolesOf(roles) ?? []), password)} />
        {text("user_template", t("ldap_template"), t("ldap_template_hint", { login: "{login}" }))}
        {text("filter", t("ldap_filter"), t("ldap_filter_hint", { login: "{login}" }), true)}
        <div className="grid gap-4 sm:grid-cols-2">
          {text("id_attribute", t("ldap_id"), t("ldap_id_hint"), true)}
          {text("email_attribute", t("ldap_email"), undefined, true)}
          {text("name_attribute", t("ldap_name"), undefined, true)}
          {text("groups_attribute", t("ldap_groups"), undefined, true)}
        </div>
        <Checkbox checked={settings.nested_groups ?? false} onChange={(nested_groups) => patch({ nested_groups })} label={t("ldap_nested")} hint={t("ldap_nested_hint")} />
        <AdmissionFields value={settings.admission} onChange={(admission) => patch({ admission })} roles={roles} onRoles={setRoles} tried={tried} />
        <Checkbox checked={settings.enabled ?? true} onChange={(enabled) => patch({ enabled })} label={t("sso_enabled")} />
        <button type="submit" hidden tabIndex={-1} aria-hidden />
      </form>
    </Dialog>
  );
}
