import { Eye, EyeOff } from "lucide-react";
import { type FormEvent, useState } from "react";
import { ApiError, expectSession } from "@/api/client";
import { useAccountActions, useAuthStatus, useOfferedLogins } from "@/api/hooks";
import type { SecondFactorRequired } from "@/api/types";
import { useT } from "@/i18n";
import { Button, ErrorState, Field, IconButton, Input } from "@/ui";
import { SecondStep } from "./second-step";
import { rememberTenant, wantedTenant } from "./tenant";

/** A password with a button that shows it. */
export function PasswordInput(props: React.ComponentProps<"input">) {
  const t = useT("auth");
  const [shown, setShown] = useState(false);
  return (
    <span className="relative block">
      <Input {...props} type={shown ? "text" : "password"} className="pr-10" />
      <IconButton size="sm" label={t(shown ? "hidePassword" : "showPassword")} className="absolute top-1/2 right-1 -translate-y-1/2" onClick={() => setShown(!shown)}>{shown ? <EyeOff /> : <Eye />}</IconButton>
    </span>
  );
}

/** The field that is to be filled in first, once it is marked. */
export const focusWrong = (form: HTMLFormElement): void => void setTimeout(() => form.querySelector<HTMLElement>("[aria-invalid]")?.focus());

/** E-mail and password; the server says what an e-mail is, for the browser refuses some that it takes. `email`: whose session is renewed. */
export function LoginForm({ email: known = "", onDone }: { email?: string; onDone?: () => void }) {
  const t = useT("auth");
  const { login } = useAccountActions();
  const [tenant, setTenant] = useState(wantedTenant);
  // Asked once they have stopped typing.
  const [settled, settle] = useState(tenant);
  // While it is not known, the organisation of the last time is meant.
  const several = useAuthStatus().data?.several_tenants;
  const at = several === false ? "" : settled.trim();
  const offered = useOfferedLogins(at);
  const [asked, setAsked] = useState<SecondFactorRequired | null>(null);
  const [email, setEmail] = useState(known);
  const [password, setPassword] = useState("");
  const [tried, setTried] = useState(false);
  const needed = (value: string) => (tried && value === "" ? t("needed") : null);
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    setTried(true);
    if (email.trim() === "" || password === "") return focusWrong(event.currentTarget);
    const named = several === false ? "" : tenant.trim();
    login.mutate({ email: email.trim(), password, ...(named && { tenant: named }) }, { onSuccess: (answer) => (rememberTenant(named), "challenge" in answer ? setAsked(answer) : onDone?.()), onError: () => (setPassword(""), setTried(false)) });
  };
  const wrong = login.error instanceof ApiError && login.error.status === 401;
  if (asked) return <SecondStep asked={asked} onDone={onDone} onBack={() => (setAsked(null), setPassword(""), setTried(false))} />;
  // A directory knows people by other names too.
  const named = offered.data?.directory != null;
  return (
    <form noValidate onSubmit={submit} className="flex flex-col gap-4">
      {several && <Field label={t("tenant")} hint={t("tenantHint")}>{(p) => <Input {...p} name="tenant" autoComplete="organization" autoCapitalize="none" maxLength={40} value={tenant} onChange={(event) => setTenant(event.target.value)} onBlur={() => settle(tenant)} />}</Field>}
      <Field label={t(named ? "emailOrName" : "email")} hint={named ? t("directory", { name: offered.data?.directory ?? "" }) : undefined} error={needed(email.trim())}>{(p) => <Input {...p} inputMode={named ? "text" : "email"} name="email" autoComplete="username" autoCapitalize="none" spellCheck={false} required autoFocus={!known} value={email} onChange={(event) => setEmail(event.target.value)} />}</Field>
      <Field label={t("password")} error={needed(password) ?? (wrong ? t("wrong") : null)}>{(p) => <PasswordInput {...p} name="password" autoComplete="current-password" required autoFocus={!!known} value={password} onChange={(event) => setPassword(event.target.value)} />}</Field>
      {login.error && !wrong && <ErrorState inline error={login.error} />}
      <Button type="submit" variant="primary" loading={login.isPending}>{t("signIn")}</Button>
      <Providers tenant={at} />
    </form>
  );
}

/** A button for each provider. The browser goes there and comes back with a session. */
function Providers({ tenant }: { tenant: string }) {
  const t = useT("auth");
  const offered = useOfferedLogins(tenant);
  const providers = offered.data?.providers ?? [];
  if (providers.length === 0) return null;
  const wanted = new URLSearchParams(window.location.search).get("next") ?? (window.location.pathname === "/login" ? "/chat" : window.location.pathname);
  const go = (name: string) => {
    expectSession();
    rememberTenant(tenant);
    window.location.assign(`/api/auth/oidc/${encodeURIComponent(name)}/start?next=${encodeURIComponent(wanted)}${tenant && `&tenant=${encodeURIComponent(tenant)}`}`);
  };
  return (
    <div className="flex flex-col gap-2 border-t border-line pt-4">
      {providers.map(({ name, label }) => <Button key={name} onClick={() => go(name)}>{t("signInWith", { name: label })}</Button>)}
    </div>
  );
}
