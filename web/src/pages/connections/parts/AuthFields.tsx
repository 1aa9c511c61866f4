import { ChevronRight } from "lucide-react";
import type { ConnectionAuth, Provider } from "@/api/types";
import { useT } from "@/i18n";
import { CopyButton, Field, Input, Select } from "@/ui";
import { authOf, AUTHS, type Problems } from "./form";

type Props = { auth: ConnectionAuth; provider: Provider; problem: (name: keyof Problems) => string | undefined; onChange: (auth: ConnectionAuth) => void };

/** Where the key is found: its name only, for the key itself never goes through the browser. */
export function AuthFields({ auth, provider, problem, onChange }: Props) {
  const t = useT("connections");
  const mono = { className: "font-mono text-sm", autoComplete: "off", spellCheck: false } as const;
  return (
    <>
      <Field label={t("auth")}>{(p) => <Select {...p} value={auth.kind} onChange={(event) => onChange(authOf(event.target.value as ConnectionAuth["kind"], auth, provider))}>{AUTHS.map((kind) => <option key={kind} value={kind}>{t(`auth_${kind}`)}</option>)}</Select>}</Field>
      {auth.kind === "basic_env" && <Field label={t("user")} error={problem("user")}>{(p) => <Input {...p} {...mono} value={auth.user} onChange={(event) => onChange({ ...auth, user: event.target.value })} />}</Field>}
      {auth.kind === "header_env" && <Field label={t("header")} error={problem("header")}>{(p) => <Input {...p} {...mono} placeholder="x-api-key" value={auth.header} onChange={(event) => onChange({ ...auth, header: event.target.value })} />}</Field>}
      {auth.kind !== "none" && <Field label={t("variable")} hint={t("variable_hint")} error={problem("variable")}>{(p) => <Input {...p} {...mono} placeholder="OPENAI_API_KEY" value={auth.variable} onChange={(event) => onChange({ ...auth, variable: event.target.value.trim() })} />}</Field>}
    </>
  );
}

/** What to do where the variable is not set yet. */
export function VariableHelp({ auth }: { auth: ConnectionAuth }) {
  const t = useT("connections");
  if (auth.kind === "none" || !auth.variable) return null;
  const line = `export ${auth.variable}='…'`;
  return (
    <details className="group/help rounded-lg bg-sunken px-3 py-2 text-sm text-ink-2">
      <summary className="flex cursor-pointer items-center gap-1.5 font-medium text-ink"><ChevronRight aria-hidden className="size-3.5 shrink-0 text-ink-3 transition-transform group-open/help:rotate-90" />{t("not_set_title", { variable: auth.variable })}</summary>
      <p className="mt-1.5">{t("not_set_text")}</p>
      <p className="mt-1 flex items-center gap-2"><code className="min-w-0 flex-1 rounded-sm bg-surface px-2 py-1 font-mono text-xs wrap-anywhere">{line}</code><CopyButton text={line} /></p>
      <p className="mt-1.5">{t("not_set_restart")}</p>
    </details>
  );
}
