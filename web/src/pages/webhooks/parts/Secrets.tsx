import { Plus, X } from "lucide-react";
import { useState } from "react";
import { useHookActions, useHookWriter } from "@/api/hooks";
import type { Hook, HookSecret, HookWithSecret } from "@/api/types";
import { useT } from "@/i18n";
import { Button, Card, ConfirmDialog, Dialog, ErrorState, IconButton, Time, toast } from "@/ui";
import { SecretField } from "../../credentials/parts/SecretField";
import { SECRET, secretSaid } from "./form";
import { NewSecret } from "./Made";

/** What opens a webhook: one while it is used, several while one takes the place of another. */
export function Secrets({ hook }: { hook: Hook }) {
  const t = useT("webhooks");
  const { removeSecret } = useHookActions();
  const [adding, setAdding] = useState(false);
  const [made, setMade] = useState<HookWithSecret | null>(null);
  const [removing, setRemoving] = useState<HookSecret | null>(null);
  const mine = hook.may_change && hook.deleted_at === null;
  const only = hook.secrets.length === 1;
  const hint = (one: HookSecret) => one.hint || t("secret_no_hint");
  const remove = () => removing && removeSecret.mutate({ id: hook.id, secret: removing.id }, { onSuccess: () => toast({ title: t("secret_removed") }), onSettled: () => setRemoving(null) });
  const added = (answer: HookWithSecret, own: boolean) => {
    setAdding(false);
    if (own) toast({ title: t("secret_added") });
    else setMade(answer);
  };
  return (
    <Card title={t("secrets")} actions={mine && <Button size="sm" icon={<Plus aria-hidden className="size-4" />} onClick={() => setAdding(true)}>{t("secret_add")}</Button>}>
      <div className="flex flex-col gap-3">
        <p className="max-w-prose text-base text-ink-2">{t("secrets_text")}</p>
        {removeSecret.error && <ErrorState inline error={removeSecret.error} />}
        <ul aria-label={t("secrets")} className="divide-y divide-line rounded-lg border border-line">
          {hook.secrets.map((one) => (
            <li key={one.id} className="flex min-h-11 items-center gap-3 px-4 py-1.5">
              <p className="min-w-0 flex-1 text-base wrap-anywhere">{one.hint ? t("secret_ends", { hint: one.hint }) : t("secret_no_hint")} <span className="text-sm text-ink-3">· {t("secret_since")} <Time at={one.created_at} /></span></p>
              {mine && !only && <IconButton size="sm" label={t("secret_remove", { hint: hint(one) })} onClick={() => setRemoving(one)}><X /></IconButton>}
            </li>
          ))}
        </ul>
        {mine && only && <p className="text-sm text-ink-3">{t("secret_only")}</p>}
      </div>
      {adding && <AddDialog hook={hook} onClose={() => setAdding(false)} onAdded={added} />}
      {made && <NewSecret made={made} onDone={() => setMade(null)} />}
      <ConfirmDialog open={removing !== null} onOpenChange={() => setRemoving(null)} title={t("secret_remove_title", { hint: removing ? hint(removing) : "" })} description={t("secret_remove_text")} confirm={t("remove")} danger busy={removeSecret.isPending} onConfirm={remove} />
    </Card>
  );
}

function AddDialog({ hook, onClose, onAdded }: { hook: Hook; onClose: () => void; onAdded: (made: HookWithSecret, own: boolean) => void }) {
  const t = useT("webhooks");
  const writer = useHookWriter();
  const [text, setText] = useState("");
  const save = async () => {
    const own = text.trim();
    const made = await writer.addSecret(hook.id, own || null);
    if (made) onAdded(made, own !== "");
  };
  const refused = secretSaid(writer.error);
  return (
    <Dialog open onOpenChange={onClose} title={t("secret_add")} description={t("secret_add_text")} footer={<><Button onClick={onClose}>{t("cancel")}</Button><Button variant="primary" loading={writer.busy} onClick={() => void save()}>{t("add")}</Button></>}>
      <form className="flex flex-col gap-4 pb-1" onSubmit={(event) => (event.preventDefault(), void save())}>
        {writer.error !== null && !refused && <ErrorState inline error={writer.error} />}
        <SecretField secret label={t("secret_own")} hint={t("secret_own_hint")} error={refused} value={text} onChange={(value) => (setText(value.slice(0, SECRET.most)), writer.reset())} />
      </form>
    </Dialog>
  );
}
