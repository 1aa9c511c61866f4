import { useNavigate } from "@tanstack/react-router";
import { type FormEvent, useState } from "react";
import { ApiError } from "@/api/client";
import { useAccountActions } from "@/api/hooks";
import { charactersOf, lengthOf, limits } from "@/api/limits";
import type { SecondFactorRequired } from "@/api/types";
import { PasswordInput } from "@/auth/form";
import { Gate } from "@/auth/gate";
import { SecondStep } from "@/auth/second-step";
import { useT } from "@/i18n";
import { Button, ButtonLink, ErrorState, Field, Input } from "@/ui";

const LENGTH = lengthOf(limits.AcceptedInvitation.password);

/** Somebody invited chooses a password. */
export default function InvitationPage() {
  const t = useT("auth");
  const navigate = useNavigate();
  const { acceptInvitation } = useAccountActions();
  // The token stays out of the server's logs and of the history.
  const [link] = useState(() => {
    const found = new URLSearchParams(location.hash.replace(/^#/, ""));
    if (location.hash) history.replaceState(history.state, "", location.pathname);
    return { token: found.get("token") ?? "", email: found.get("email") ?? "" };
  });
  const [asked, setAsked] = useState<SecondFactorRequired | null>(null);
  const [form, setForm] = useState({ name: "", password: "" });
  const enter = () => void navigate({ to: "/chat", replace: true });
  const set = (name: keyof typeof form) => (event: React.ChangeEvent<HTMLInputElement>) => setForm({ ...form, [name]: event.target.value });
  const short = form.password.length > 0 && charactersOf(form.password) < LENGTH.least;
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (short) return;
    const name = form.name.trim();
    acceptInvitation.mutate({ token: link.token, password: form.password, ...(name && { name }) }, { onSuccess: (answer) => ("challenge" in answer ? setAsked(answer) : enter()) });
  };
  const { error } = acceptInvitation;
  if (!link.token) return <Gate title={t("invitation.noToken")} lead={t("invitation.noTokenHint")}><ButtonLink to="/login" variant="primary">{t("signIn")}</ButtonLink></Gate>;
  if (error instanceof ApiError && error.code === "invitation") {
    return <Gate title={t("invitation.over")} lead={t("invitation.overHint")}><ButtonLink to="/login" variant="primary">{t("signIn")}</ButtonLink></Gate>;
  }
  if (asked) return <Gate title={t("signIn")}><SecondStep asked={asked} onDone={enter} onBack={() => void navigate({ to: "/login" })} /></Gate>;
  return (
    <Gate title={t("invitation")} lead={t("invitation.lead")}>
      <form onSubmit={submit} className="flex flex-col gap-4">
        {/* For the browser's password store; the server goes by the token alone. */}
        {link.email && <Field label={t("email")}>{(p) => <Input {...p} type="email" name="email" readOnly autoComplete="username" value={link.email} />}</Field>}
        <Field label={t("name")} hint={t("invitation.nameHint")}>{(p) => <Input {...p} name="name" autoComplete="name" maxLength={100} value={form.name} onChange={set("name")} />}</Field>
        <Field label={t("password")} hint={t("setup.passwordHint", LENGTH)} error={short ? t("setup.short", LENGTH) : null}>{(p) => <PasswordInput {...p} name="password" required autoFocus autoComplete="new-password" value={form.password} onChange={set("password")} />}</Field>
        {error && <ErrorState inline error={error} />}
        <Button type="submit" variant="primary" loading={acceptInvitation.isPending}>{t("invitation.accept")}</Button>
      </form>
    </Gate>
  );
}
