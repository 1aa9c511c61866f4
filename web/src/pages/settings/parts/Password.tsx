import { useState } from "react";
import { useAccountActions, useMe } from "@/api/hooks";
import { charactersOf, lengthOf, limits } from "@/api/limits";
import { useT } from "@/i18n";
import { Button, Card, ErrorState, Field, Input, toast } from "@/ui";

const LENGTH = lengthOf(limits.NewPassword.new);
const EMPTY = { current: "", next: "", repeat: "" };

export function Password() {
  const t = useT("settings");
  const me = useMe();
  const { password } = useAccountActions();
  const [form, setForm] = useState(EMPTY);
  const [tried, setTried] = useState(false);
  const problems = {
    current: form.current === "" ? t("password_missing") : undefined,
    next: charactersOf(form.next) < LENGTH.least ? t("password_short", LENGTH) : undefined,
    repeat: form.repeat !== form.next ? t("password_differs") : undefined,
  };
  const save = () => {
    setTried(true);
    if (problems.current || problems.next || problems.repeat) return;
    password.mutate({ current: form.current, new: form.next }, { onSuccess: () => (setForm(EMPTY), setTried(false), toast({ title: t("password_saved") })) });
  };
  const field = (name: keyof typeof EMPTY, label: string, complete: string, hint?: string) => (
    <Field label={label} hint={hint} error={tried ? problems[name] : undefined}>
      {(p) => <Input {...p} type="password" autoComplete={complete} value={form[name]} onChange={(event) => setForm((old) => ({ ...old, [name]: event.target.value }))} />}
    </Field>
  );
  return (
    <Card title={t("sec_password")}>
      <form className="flex max-w-sm flex-col gap-4" onSubmit={(event) => (event.preventDefault(), save())}>
        {/* For password managers. */}
        <input type="text" name="username" autoComplete="username" value={me.data?.email ?? ""} readOnly hidden />
        {field("current", t("password_current"), "current-password")}
        {field("next", t("password_new"), "new-password", t("password_hint", LENGTH))}
        {field("repeat", t("password_repeat"), "new-password")}
        {password.error && <ErrorState inline error={password.error} />}
        <Button type="submit" className="self-start" loading={password.isPending}>{t("password_save")}</Button>
      </form>
    </Card>
  );
}
