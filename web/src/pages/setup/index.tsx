import { useNavigate } from "@tanstack/react-router";
import { type FormEvent, useState } from "react";
import { useAccountActions, useAuthStatus } from "@/api/hooks";
import { charactersOf, lengthOf, limits } from "@/api/limits";
import { focusWrong, PasswordInput } from "@/auth/form";
import { Gate } from "@/auth/gate";
import { useT } from "@/i18n";
import { Button, ButtonLink, ErrorState, Field, Input } from "@/ui";

const tokenOf = (hash: string) => new URLSearchParams(hash.replace(/^#/, "")).get("token") ?? "";

const LENGTH = lengthOf(limits.SetUp.password);

export default function SetupPage() {
  const t = useT("auth");
  const navigate = useNavigate();
  const status = useAuthStatus();
  const { setup } = useAccountActions();
  // The token stays out of the server's logs and of the history.
  const [token] = useState(() => {
    const found = tokenOf(location.hash);
    if (found) history.replaceState(history.state, "", location.pathname);
    return found;
  });
  const [form, setForm] = useState({ email: "", name: "", password: "" });
  const set = (name: keyof typeof form) => (event: React.ChangeEvent<HTMLInputElement>) => setForm({ ...form, [name]: event.target.value });
  const short = form.password.length > 0 && charactersOf(form.password) < LENGTH.least;
  const [tried, setTried] = useState(false);
  const needed = (value: string) => (tried && value === "" ? t("needed") : null);
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    setTried(true);
    if (form.email.trim() === "" || form.password === "" || short) return focusWrong(event.currentTarget);
    const { name, ...rest } = form;
    setup.mutate({ token, ...rest, email: rest.email.trim(), ...(name.trim() && { name: name.trim() }) }, { onSuccess: () => void navigate({ to: "/chat", replace: true }) });
  };
  if (status.data && !status.data.needs_setup && !setup.isSuccess) {
    return <Gate title={t("setup")} lead={t("setup.done")}><ButtonLink to="/login" variant="primary">{t("signIn")}</ButtonLink></Gate>;
  }
  if (!token) return <Gate title={t("setup.noToken")} lead={t("setup.noTokenHint")}><span /></Gate>;
  return (
    <Gate title={t("setup")} lead={t("setup.lead")}>
      <form noValidate onSubmit={submit} className="flex flex-col gap-4">
        <Field label={t("email")} error={needed(form.email.trim())}>{(p) => <Input {...p} inputMode="email" name="email" required autoFocus autoComplete="username" autoCapitalize="none" spellCheck={false} value={form.email} onChange={set("email")} />}</Field>
        <Field label={t("name")} hint={t("nameHint")}>{(p) => <Input {...p} name="name" autoComplete="name" value={form.name} onChange={set("name")} />}</Field>
        <Field label={t("password")} hint={t("setup.passwordHint", LENGTH)} error={short ? t("setup.short", LENGTH) : needed(form.password)}>{(p) => <PasswordInput {...p} name="password" required autoComplete="new-password" value={form.password} onChange={set("password")} />}</Field>
        {setup.error && <ErrorState inline error={setup.error} />}
        <Button type="submit" variant="primary" loading={setup.isPending}>{t("setup.create")}</Button>
      </form>
    </Gate>
  );
}
