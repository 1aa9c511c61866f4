import type { Admission, Role } from "@/api/types";
import { useT } from "@/i18n";
import { Checkbox, Field, Input, Select, Textarea } from "@/ui";

const ROLES: readonly Role[] = ["admin", "operator", "developer", "viewer"];

export const USUAL: Admission = { roles: [], default_role: "viewer", email_domains: [], provision: true, link_by_email: false };

/** One group a line: `operator = ops`. The first `=` parts them, since names of groups may have more. */
export const rolesText = (roles: Admission["roles"]) => roles.map(({ group, role }) => `${role} = ${group}`).join("\n");

/** `null`: a line is not of that form. */
export function rolesOf(text: string): Admission["roles"] | null {
  const found: Admission["roles"] = [];
  for (const line of text.split("\n").map((one) => one.trim()).filter(Boolean)) {
    const at = line.indexOf("=");
    const role = ROLES.find((one) => one === line.slice(0, at).trim());
    const group = line.slice(at + 1).trim();
    if (at < 0 || !role || group === "") return null;
    found.push({ group, role });
  }
  return found;
}

/** Who enters, and as what. `roles` is text until it is saved. */
export function AdmissionFields({ value, onChange, roles, onRoles, tried }: { value: Admission; onChange: (next: Admission) => void; roles: string; onRoles: (next: string) => void; tried: boolean }) {
  const t = useT("settings");
  const patch = (next: Partial<Admission>) => onChange({ ...value, ...next });
  return (
    <>
      <Field label={t("sso_roles")} hint={t("sso_roles_hint")} error={tried && rolesOf(roles) === null ? t("sso_roles_wrong") : undefined}>{(p) => <Textarea {...p} rows={3} spellCheck={false} value={roles} onChange={(event) => onRoles(event.target.value)} />}</Field>
      <Field label={t("sso_default_role")}>{(p) => (
        <Select {...p} value={value.default_role ?? ""} onChange={({ target }) => patch({ default_role: (target.value || null) as Role | null })}>
          <option value="">{t("sso_no_role")}</option>
          {ROLES.map((role) => <option key={role} value={role}>{t(`rule_role_${role}`)}</option>)}
        </Select>
      )}</Field>
      <Field label={t("sso_domains")} hint={t("sso_domains_hint")}>{(p) => <Input {...p} spellCheck={false} value={value.email_domains.join(", ")} onChange={(event) => patch({ email_domains: event.target.value.split(/[\s,]+/).filter((part, index, all) => part || index === all.length - 1) })} />}</Field>
      <Checkbox checked={value.provision} onChange={(provision) => patch({ provision })} label={t("sso_provision")} />
      <Checkbox checked={value.link_by_email} onChange={(link_by_email) => patch({ link_by_email })} label={t("sso_link")} hint={t("sso_link_hint")} />
    </>
  );
}

/** Without what is being typed. */
export const cleaned = (value: Admission, roles: Admission["roles"]): Admission => ({ ...value, roles, email_domains: value.email_domains.filter(Boolean) });
