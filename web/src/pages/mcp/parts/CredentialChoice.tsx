import { Link } from "@tanstack/react-router";
import type { Credential } from "@/api/types";
import { useT } from "@/i18n";
import { Field, Select } from "@/ui";
import { type Form, KINDS } from "./form";

/** Which credential a server gets: one by its name, or the only one of a kind that may be found. */
export function CredentialChoice({ form, credentials, onChange }: { form: Form; credentials: Credential[]; onChange: (choice: string) => void }) {
  const t = useT("mcp");
  const c = useT("credentials");
  const kinds = KINDS[form.kind];
  const fitting = credentials.filter((one) => kinds.includes(one.kind));
  // What it has may be gone, or of another kind; it stays to be seen.
  const unknown = form.credential.startsWith("name:") && !fitting.some((one) => form.credential === `name:${one.name}`);
  return (
    <Field label={t("credential")} hint={<>{t(`credential_${form.kind}_hint`)} <Link to="/credentials" className="text-accent-ink underline underline-offset-2">{t("credential_add")}</Link></>}>
      {(p) => (
        <Select {...p} value={form.credential} onChange={(event) => onChange(event.target.value)}>
          <option value="">{t("credential_none")}</option>
          {unknown && <option value={form.credential}>{form.credential.slice("name:".length)}</option>}
          {fitting.length > 0 && <optgroup label={t("credential_named")}>{fitting.map((one) => <option key={one.id} value={`name:${one.name}`}>{`${one.name} · ${c(`kind_${one.kind}`)}`}</option>)}</optgroup>}
          <optgroup label={t("credential_found")}>{kinds.map((kind) => <option key={kind} value={`kind:${kind}`}>{c(`kind_${kind}`)}</option>)}</optgroup>
        </Select>
      )}
    </Field>
  );
}
