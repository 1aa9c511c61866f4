import { Plus, X } from "lucide-react";
import { useState } from "react";
import { useSubscriptionActions, useSubscriptionWriter } from "@/api/hooks/subscriptions";
import type { HookSecret, Subscription, SubscriptionWithSecret } from "@/api/types";
import { useT } from "@/i18n";
import { Button, Card, ConfirmDialog, Dialog, ErrorState, IconButton, Time, toast } from "@/ui";
import { Copied } from "../parts/Setup";

/** What signs messages: one while it is used, several while one takes the place of another. */
export function Secrets({ subscription }: { subscription: Subscription }) {
  const t = useT("subscriptions");
  const writer = useSubscriptionWriter();
  const { removeSecret } = useSubscriptionActions();
  const [made, setMade] = useState<SubscriptionWithSecret | null>(null);
  const [removing, setRemoving] = useState<HookSecret | null>(null);
  const { id, secrets } = subscription;
  const mine = subscription.may_change && subscription.deleted_at === null;
  const only = secrets.length === 1;
  const error = writer.error ?? removeSecret.error;
  const add = async () => {
    removeSecret.reset();
    setMade(await writer.addSecret(id));
  };
  const remove = () => removing && (writer.reset(), removeSecret.mutate({ id, secret: removing.id }, { onSuccess: () => toast({ title: t("secret_removed") }), onSettled: () => setRemoving(null) }));
  return (
    <Card title={t("secrets")} actions={mine && <Button size="sm" loading={writer.busy} icon={<Plus aria-hidden className="size-4" />} onClick={() => void add()}>{t("secret_add")}</Button>}>
      <div className="flex flex-col gap-3">
        <p className="max-w-prose text-base text-ink-2">{t("secrets_text")}</p>
        {error !== null && <ErrorState inline error={error} />}
        <ul aria-label={t("secrets")} className="divide-y divide-line rounded-lg border border-line">
          {secrets.map((one) => (
            <li key={one.id} className="flex min-h-11 items-center gap-3 px-4 py-1.5">
              <p className="min-w-0 flex-1 text-base wrap-anywhere">{t("secret_ends", { hint: one.hint })} <span className="text-sm text-ink-3">· {t("secret_since")} <Time at={one.created_at} /></span></p>
              {mine && !only && <IconButton size="sm" label={t("secret_remove", { hint: one.hint })} onClick={() => setRemoving(one)}><X /></IconButton>}
            </li>
          ))}
        </ul>
        {mine && only && <p className="text-sm text-ink-3">{t("secret_only")}</p>}
      </div>
      {made && <NewSecret made={made} title={t("secret_new_title", { name: made.subscription.name })} text={t("secret_new_text")} onDone={() => setMade(null)} />}
      <ConfirmDialog open={removing !== null} onOpenChange={() => setRemoving(null)} title={t("secret_remove_title", { hint: removing?.hint ?? "" })} description={t("secret_remove_text")} confirm={t("remove")} danger busy={removeSecret.isPending} onConfirm={remove} />
    </Card>
  );
}

type NewProps = { made: SubscriptionWithSecret; title: string; text: string; onDone: () => void };

/** A secret, this once. */
export function NewSecret({ made, title, text, onDone }: NewProps) {
  const t = useT("subscriptions");
  return (
    <Dialog open locked onOpenChange={onDone} title={title} description={text} footer={<Button variant="primary" onClick={onDone}>{t("done")}</Button>}>
      <div className="flex flex-col gap-3 pb-1">
        {made.secret === null ? <p className="text-base text-ink-2">{t("secret_lost")}</p> : <Copied label={t("secret")} value={made.secret} copy={t("secret_copy")} mark="data-secret" />}
        <p className="text-sm text-ink-3">{t("made_how")}</p>
      </div>
    </Dialog>
  );
}
