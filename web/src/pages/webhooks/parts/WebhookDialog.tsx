import { useState } from "react";
import { ApiError } from "@/api/client";
import { useAgents, useHookActions, useHookWriter } from "@/api/hooks";
import type { Hook, HookSigningKind, HookWithSecret } from "@/api/types";
import { useT } from "@/i18n";
import { Button, Dialog, ErrorState, Field, formatRange, Input, Select, toast } from "@/ui";
import { SecretField } from "../../credentials/parts/SecretField";
import { Advanced } from "./Advanced";
import { Filters } from "./Filters";
import { emptyForm, type Field as Place, fieldOf, type Form, formOf, inputOf, NAME, problemsOf, RANGES, saidOf, SECRET } from "./form";
import { RequestField } from "./RequestField";
import { KINDS } from "./senders";

type Props = {
  hook: Hook | null;
  onClose: () => void;
  /** `own`: the secret was typed. */
  onMade?: (made: HookWithSecret, own: boolean) => void;
};

/** Makes a webhook, or changes one. */
export function WebhookDialog({ hook, onClose, onMade }: Props) {
  const t = useT("webhooks");
  const agents = useAgents();
  const writer = useHookWriter();
  const { update } = useHookActions();
  const [form, setForm] = useState<Form>(() => (hook ? formOf(hook) : emptyForm()));
  const [tried, setTried] = useState(false);
  const agent = form.agent_id || (agents.items.length === 1 ? agents.items[0]!.id : "");
  const filled = { ...form, agent_id: agent };
  const error = writer.error ?? update.error;

  const problems = problemsOf(filled);
  const refused = error instanceof ApiError ? error.problems : [];
  const problem = (field: Place) => {
    const own = tried ? problems[field] : undefined;
    const range = field === "window" || field === "failures" ? formatRange(RANGES[field]) : undefined;
    const said = refused.find((one) => fieldOf(one.field) === field);
    return own ? t(own, range) : said && saidOf(said);
  };
  // A secret has no field where one changes a webhook.
  const placed = refused.length > 0 && refused.every((one) => fieldOf(one.field) !== null && !(hook && fieldOf(one.field) === "secret"));
  const patch = (change: Partial<Form>) => {
    setForm((old) => ({ ...old, ...change }));
    writer.reset();
    update.reset();
  };

  const showFirst = () => setTimeout(() => document.querySelector<HTMLElement>("[role=dialog] [aria-invalid]")?.focus());
  const save = async () => {
    setTried(true);
    if (Object.keys(problems).length > 0) return void showFirst();
    const { secret, ...input } = inputOf(filled);
    if (hook) return update.mutate({ id: hook.id, ...input }, { onSuccess: () => (toast({ title: t("saved") }), onClose()), onError: showFirst });
    const made = await writer.create({ ...input, secret });
    if (made) onMade?.(made, secret !== null);
    else showFirst();
  };
  const own = form.kind === "stripe" || form.kind === "slack" ? (`secret_own_${form.kind}` as const) : "secret_own_hint";

  return (
    <Dialog open wide onOpenChange={onClose} title={hook ? t("edit_title", { name: hook.name }) : t("new_title")} footer={<><Button onClick={onClose}>{t("cancel")}</Button><Button variant="primary" loading={writer.busy || update.isPending} onClick={() => void save()}>{t(hook ? "save" : "create")}</Button></>}>
      <form noValidate className="flex flex-col gap-5 pb-1" onSubmit={(event) => (event.preventDefault(), void save())}>
        {error !== null && !placed && <ErrorState inline error={error} />}
        <div className="grid gap-4 sm:grid-cols-2">
          <Field label={t("name")} error={problem("name")}>{(p) => <Input {...p} autoFocus={!hook} autoComplete="off" maxLength={NAME.most} value={form.name} onChange={(event) => patch({ name: event.target.value })} />}</Field>
          <Field label={t("agent")} hint={t("agent_hint")} error={problem("agent_id")}>
            {(p) => (
              <Select {...p} value={agent} onChange={(event) => patch({ agent_id: event.target.value })}>
                <option value="" disabled>{t("agent_choose")}</option>
                {hook && !agents.isLoading && !agents.items.some((one) => one.id === hook.agent_id) && <option value={hook.agent_id}>{hook.agent ?? t("agent_gone")}</option>}
                {agents.items.map((one) => <option key={one.id} value={one.id}>{one.name}</option>)}
              </Select>
            )}
          </Field>
          <Field label={t("signing")} hint={<>{t(`kind_${form.kind}_hint`)}{hook && hook.signing.kind !== form.kind && <> {t("secrets_stay")}</>}</>} error={problem("signing")}>
            {(p) => <Select {...p} value={form.kind} onChange={(event) => patch({ kind: event.target.value as HookSigningKind })}>{KINDS.map((kind) => <option key={kind} value={kind}>{t(`kind_${kind}`)}</option>)}</Select>}
          </Field>
          {form.kind === "token" && <Field label={t("header")} hint={t("header_hint")} error={problem("header")}>{(p) => <Input {...p} autoComplete="off" spellCheck={false} className="font-mono text-sm" value={form.header} onChange={(event) => patch({ header: event.target.value })} />}</Field>}
          {!hook && <SecretField secret label={t("secret_own")} hint={t(own)} error={problem("secret")} value={form.secret} onChange={(secret) => patch({ secret: secret.slice(0, SECRET.most) })} />}
        </div>
        <RequestField value={form.request} error={problem("request")} onChange={(request) => patch({ request })} />
        <Filters rows={form.filters} problem={problem} onChange={(filters) => patch({ filters })} />
        <Advanced form={form} problem={problem} onChange={patch} />
        <button type="submit" hidden tabIndex={-1} aria-hidden />
      </form>
    </Dialog>
  );
}
