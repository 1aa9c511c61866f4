import { ChevronRight, Eye, EyeOff } from "lucide-react";
import { useState } from "react";
import type { ConnectionAuth, Provider } from "@/api/types";
import { useT } from "@/i18n";
import { CopyButton, Field, IconButton, Input, Select } from "@/ui";
import { type AuthKind, authOf, ENVIRONMENT, type Problems, SEALED } from "./form";

type Props = { auth: ConnectionAuth; provider: Provider; url: string; kept: boolean; problem: (name: keyof Problems) => string | undefined; onChange: (auth: ConnectionAuth) => void };
const PLAIN = { className: "font-mono text-sm", autoComplete: "off", spellCheck: false } as const;

/** How the connection proves who it is: a key that is typed in, or where it is found. */
export function AuthFields({ auth, provider, url, kept, problem, onChange }: Props) {
  const t = useT("connections");
  const option = (kind: AuthKind) => <option key={kind} value={kind}>{t(`auth_${kind}`)}</option>;
  const hint = kept ? t("key_kept") : t("key_hint");
  return (
    <>
      <Field label={t("auth")}>
        {(p) => (
          <Select {...p} value={auth.kind} onChange={(event) => onChange(authOf(event.target.value as AuthKind, auth, provider, url))}>
            {option("none")}
            <optgroup label={t("auth_sealed")}>{SEALED.map(option)}</optgroup>
            <optgroup label={t("auth_environment")}>{ENVIRONMENT.map(option)}</optgroup>
          </Select>
        )}
      </Field>
      {"user" in auth && <Field label={t("user")} error={problem("user")}>{(p) => <Input {...p} {...PLAIN} value={auth.user} onChange={(event) => onChange({ ...auth, user: event.target.value })} />}</Field>}
      {"header" in auth && <Field label={t("header")} error={problem("header")}>{(p) => <Input {...p} {...PLAIN} placeholder="x-api-key" value={auth.header} onChange={(event) => onChange({ ...auth, header: event.target.value })} />}</Field>}
      {"region" in auth && <Field label={t("region")} error={problem("region")}>{(p) => <Input {...p} {...PLAIN} placeholder="eu-central-1" value={auth.region} onChange={(event) => onChange({ ...auth, region: event.target.value.trim() })} />}</Field>}
      {auth.kind === "aws" ? (
        <>
          <KeyField label={t("access_key_id")} error={problem("access_key_id")} value={auth.access_key_id ?? ""} onChange={(access_key_id) => onChange({ ...auth, access_key_id: access_key_id || null })} />
          <KeyField label={t("secret_access_key")} hint={hint} error={problem("key")} value={auth.secret_access_key ?? ""} onChange={(secret_access_key) => onChange({ ...auth, secret_access_key: secret_access_key || null })} />
          <KeyField label={t("session_token")} hint={t("session_token_hint")} value={auth.session_token ?? ""} onChange={(session_token) => onChange({ ...auth, session_token: session_token || null })} />
        </>
      ) : auth.kind === "bearer" || auth.kind === "api_key" || auth.kind === "basic" || auth.kind === "header" ? (
        <KeyField label={t(auth.kind === "basic" ? "password" : "key")} hint={hint} error={problem("key")} value={auth.key ?? ""} onChange={(key) => onChange({ ...auth, key: key || null })} />
      ) : "variable" in auth ? (
        <Field label={t("variable")} hint={t("variable_hint")} error={problem("variable")}>{(p) => <Input {...p} {...PLAIN} placeholder="OPENAI_API_KEY" value={auth.variable} onChange={(event) => onChange({ ...auth, variable: event.target.value.trim() })} />}</Field>
      ) : null}
    </>
  );
}

/** A secret that is hidden until one asks to see what was typed; it never comes back from the server. */
function KeyField({ label, hint, error, value, onChange }: { label: string; hint?: string; error?: string | undefined; value: string; onChange: (value: string) => void }) {
  const t = useT("connections");
  const [shown, setShown] = useState(false);
  return (
    <Field label={label} hint={hint} error={error}>
      {(p) => (
        <span className="relative block">
          <Input {...p} {...PLAIN} type={shown ? "text" : "password"} autoComplete="new-password" autoCorrect="off" autoCapitalize="off" className="pr-10 font-mono text-sm" value={value} onChange={(event) => onChange(event.target.value.trim())} />
          <span className="absolute top-1/2 right-1 -translate-y-1/2"><IconButton size="sm" label={t(shown ? "key_hide" : "key_show", { field: label })} aria-pressed={shown} onClick={() => setShown(!shown)}>{shown ? <EyeOff /> : <Eye />}</IconButton></span>
        </span>
      )}
    </Field>
  );
}

/** What to do where the variable is not set yet. */
export function VariableHelp({ auth }: { auth: ConnectionAuth }) {
  const t = useT("connections");
  if (!("variable" in auth) || !auth.variable) return null;
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
