import { Eye, EyeOff } from "lucide-react";
import { type FormEvent, useState } from "react";
import { ApiError } from "@/api/client";
import { useAccountActions } from "@/api/hooks";
import { useT } from "@/i18n";
import { Button, ErrorState, Field, IconButton, Input } from "@/ui";

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

/** E-mail and password. `email`: whose session is renewed. */
export function LoginForm({ email: known = "", onDone }: { email?: string; onDone?: () => void }) {
  const t = useT("auth");
  const { login } = useAccountActions();
  const [email, setEmail] = useState(known);
  const [password, setPassword] = useState("");
  const submit = (event: FormEvent) => {
    event.preventDefault();
    login.mutate({ email: email.trim(), password }, { onSuccess: () => onDone?.(), onError: () => setPassword("") });
  };
  const wrong = login.error instanceof ApiError && login.error.status === 401;
  return (
    <form onSubmit={submit} className="flex flex-col gap-4">
      <Field label={t("email")}>{(p) => <Input {...p} type="email" name="email" autoComplete="username" required autoFocus={!known} value={email} onChange={(event) => setEmail(event.target.value)} />}</Field>
      <Field label={t("password")} error={wrong ? t("wrong") : null}>{(p) => <PasswordInput {...p} name="password" autoComplete="current-password" required autoFocus={!!known} value={password} onChange={(event) => setPassword(event.target.value)} />}</Field>
      {login.error && !wrong && <ErrorState inline error={login.error} />}
      <Button type="submit" variant="primary" loading={login.isPending}>{t("signIn")}</Button>
    </form>
  );
}
