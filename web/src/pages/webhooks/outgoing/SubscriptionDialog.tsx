import { useState } from "react";
import { ApiError } from "@/api/client";
import { isAdmin, isOperator, useMe } from "@/api/hooks";
import { useSubscriptionActions, useSubscriptionWriter } from "@/api/hooks/subscriptions";
import type { MessageForm, Subscription, SubscriptionWithSecret } from "@/api/types";
import { useLanguage, useT } from "@/i18n";
import { Button, Checkbox, Dialog, ErrorState, Field, Input, Select, toast } from "@/ui";
import { SecretField } from "../../credentials/parts/SecretField";
import { saidOf } from "../parts/form";
import { ADDRESS, emptyForm, type Field as Place, fieldOf, type Form, formOf, inputOf, LINK_BASE, NAME, problemsOf, staysAs, TOKEN } from "./form";
import { KindsField } from "./KindsField";
import { FORMS, needsToken, takesToken } from "./services";

type Props = {
  /** `null`: one is made. */
  subscription: Subscription | null;
  onClose: () => void;
  /** With a secret that is to be shown, if it has a new one. */
  onMade?: (made: SubscriptionWithSecret) => void;
};

/** Makes a subscription, or changes one. */
export function SubscriptionDialog({ subscription: before, onClose, onMade }: Props) {
  const t = useT("subscriptions");
  const { data: me } = useMe();
  const language = useLanguage();
  const writer = useSubscriptionWriter();
  const { removeSecret } = useSubscriptionActions();
  const [form, setForm] = useState<Form>(() => (before ? formOf(before) : emptyForm(language, window.location.origin)));
  const [tried, setTried] = useState(false);
  const { error } = writer;

  const problems = problemsOf(form, before);
  const refused = error instanceof ApiError ? error.problems : [];
  const problem = (field: Place) => {
    const own = tried ? problems[field] : undefined;
    const said = refused.find((one) => fieldOf(one.field) === field);
    return own ? t(own) : said && saidOf(said);
  };
  const token = takesToken(form.form) ? form.form : null;
  // What is said of a token has no place where the service takes none.
  const placed = refused.length > 0 && refused.every((one) => fieldOf(one.field) !== null && (fieldOf(one.field) !== "token" || token !== null));
  const patch = (change: Partial<Form>) => {
    setForm((old) => ({ ...old, ...change }));
    writer.reset();
  };

  const showFirst = () => setTimeout(() => document.querySelector<HTMLElement>("[role=dialog] [aria-invalid]")?.focus());
  const save = async () => {
    setTried(true);
    if (Object.keys(problems).length > 0) return void showFirst();
    const input = inputOf(form, before);
    if (before === null) {
      const made = await writer.create(input);
      return made ? onMade?.(made) : void showFirst();
    }
    const changed = await writer.replace(before.id, input);
    if (!changed) return void showFirst();
    toast({ title: t("saved") });
    onClose();
    // The secret of one that begins to sign isn't in the answer: another one that is takes its place.
    if (before.secrets.length > 0 || changed.secrets.length === 0) return;
    const made = await writer.addSecret(before.id);
    if (!made) return;
    onMade?.(made);
    for (const { id } of changed.secrets) removeSecret.mutate({ id: before.id, secret: id });
  };
  const stays = staysAs(form, before);
  const addressHint = <>{t(`address_${form.form}`)}{stays && <> {t("address_stays")}</>}</>;
  const serviceHint = form.form === "standard" ? `${t("form_standard_hint")}${before === null || before.secrets.length > 0 ? "" : ` ${t("form_secret_hint")}`}` : t("form_text_hint");

  return (
    <Dialog open wide onOpenChange={onClose} title={before ? t("edit_title", { name: before.name }) : t("new")} footer={<><Button onClick={onClose}>{t("cancel")}</Button><Button variant="primary" loading={writer.busy} onClick={() => void save()}>{t(before ? "save" : "create")}</Button></>}>
      <form noValidate className="flex flex-col gap-5 pb-1" onSubmit={(event) => (event.preventDefault(), void save())}>
        {error !== null && !placed && <ErrorState inline error={error} />}
        <div className="grid gap-4 sm:grid-cols-2">
          <Field label={t("name")} error={problem("name")}>{(p) => <Input {...p} autoFocus={!before} autoComplete="off" maxLength={NAME.most} value={form.name} onChange={(event) => patch({ name: event.target.value })} />}</Field>
          <Field label={t("service")} hint={serviceHint} error={problem("form")}>
            {(p) => <Select {...p} value={form.form} onChange={(event) => patch({ form: event.target.value as MessageForm })}>{FORMS.map((one) => <option key={one} value={one}>{t(`form_${one}`)}</option>)}</Select>}
          </Field>
          <Field className="sm:col-span-2" label={t("address")} hint={addressHint} error={problem("address")}>
            {(p) => <Input {...p} inputMode="url" autoComplete="off" autoCapitalize="off" spellCheck={false} className="font-mono text-sm" maxLength={ADDRESS.most} placeholder={stays && before ? `${before.place}/…` : undefined} value={form.address} onChange={(event) => patch({ address: event.target.value })} />}
          </Field>
          {token && (
            <div className="flex flex-col gap-2 sm:col-span-2">
              <SecretField secret label={t("token")} hint={`${t(`token_${token}`)}${stays ? ` ${t("token_stays")}` : ""}`} error={problem("token")} value={form.token} onChange={(text) => patch({ token: text.slice(0, TOKEN.most) })} />
              {stays && !needsToken(token) && form.token === "" && <Checkbox checked={form.drop} onChange={(drop) => patch({ drop })} label={t("token_drop")} />}
            </div>
          )}
        </div>
        <KindsField kinds={form.kinds} admin={isAdmin(me)} error={problem("kinds")} onChange={(kinds) => patch({ kinds })} />
        {(isOperator(me) || form.all) && <Checkbox checked={form.all} onChange={(all) => patch({ all })} label={t("all")} hint={t("all_hint")} />}
        <div className="grid gap-4 sm:grid-cols-2">
          <Field label={t("language")} error={problem("language")}>
            {(p) => <Select {...p} value={form.language} onChange={(event) => patch({ language: event.target.value as Form["language"] })}>{(["en", "de"] as const).map((one) => <option key={one} value={one}>{t(`language_${one}`)}</option>)}</Select>}
          </Field>
          <Field label={t("link_base")} hint={t("link_base_hint")} error={problem("link_base")}>{(p) => <Input {...p} inputMode="url" autoComplete="off" autoCapitalize="off" spellCheck={false} className="font-mono text-sm" maxLength={LINK_BASE.most} value={form.link_base} onChange={(event) => patch({ link_base: event.target.value })} />}</Field>
        </div>
        <button type="submit" hidden tabIndex={-1} aria-hidden />
      </form>
    </Dialog>
  );
}
