import { Plus, X } from "lucide-react";
import type { Credential, CredentialField } from "@/api/types";
import { type Key, useT } from "@/i18n";
import { Button, Checkbox, Field, IconButton, Input } from "@/ui";
import { fieldsOf, type Form, MULTILINE } from "./form";
import { SecretField } from "./SecretField";

/** Name of a field, for a person. */
export function useFieldName(): (name: string) => string {
  const t = useT("credentials");
  return (name) => {
    const key = `field_${name}` as Key<"credentials">;
    const text = t(key);
    return text === key ? name.replaceAll("_", " ") : text;
  };
}

type Props = { form: Form; fields: readonly CredentialField[]; before: Credential | null; problem: (name: string) => string | undefined; onChange: (change: Partial<Form>) => void };

/** What a credential holds. Of one that is there, secret values are not shown: an empty field keeps what is kept. */
export function Values({ form, fields, before, problem, onChange }: Props) {
  const t = useT("credentials");
  const nameOf = useFieldName();
  const set = (name: string, value: string) => onChange({ values: { ...form.values, [name]: value } });
  const hintOf = (name: string) => {
    const key = `field_${form.kind}_${name}_hint` as Key<"credentials">;
    const text = t(key);
    return text === key ? undefined : text;
  };
  const further = (at: number, change: Partial<Form["further"][number]>) => onChange({ further: form.further.map((one, index) => (index === at ? { ...one, ...change } : one)) });
  return (
    <div className="flex flex-col gap-4">
      {fieldsOf(fields, before).map(({ name, secret, required }) => {
        const kept = secret && !!before?.secret.includes(name);
        const gone = form.dropped.includes(name);
        const label = required ? nameOf(name) : t("optional", { field: nameOf(name) });
        return (
          <div key={name} className="flex flex-col gap-1.5">
            {!gone && <SecretField label={label} hint={hintOf(name)} error={problem(`field:${name}`)} secret={secret} multiline={MULTILINE.includes(name)} placeholder={kept ? t("kept") : ""} value={form.values[name] ?? ""} onChange={(value) => set(name, value)} />}
            {kept && !required && <Checkbox checked={gone} onChange={(on) => onChange({ dropped: on ? [...form.dropped, name] : form.dropped.filter((other) => other !== name), values: { ...form.values, [name]: "" } })} label={t("drop_field", { field: nameOf(name) })} />}
          </div>
        );
      })}
      {form.further.map((one, at) => (
        <div key={at} className="flex items-start gap-2">
          <div className="grid min-w-0 flex-1 gap-2 sm:grid-cols-2">
            <Field label={t("further_name")} error={problem(`further:${at}`)}>{(p) => <Input {...p} autoComplete="off" spellCheck={false} className="font-mono text-sm" placeholder="account_id" value={one.name} onChange={(event) => further(at, { name: event.target.value.trim() })} />}</Field>
            <SecretField label={t("further_value")} secret value={one.value} onChange={(value) => further(at, { value })} />
          </div>
          <IconButton label={t("further_remove")} className="mt-6" onClick={() => onChange({ further: form.further.filter((_, index) => index !== at) })}><X /></IconButton>
        </div>
      ))}
      <Button size="sm" variant="quiet" className="self-start" icon={<Plus aria-hidden className="size-3.5" />} onClick={() => onChange({ further: [...form.further, { name: "", value: "" }] })}>{t("further_add")}</Button>
    </div>
  );
}
