import { useState } from "react";
import { useHookActions, useHookWriter } from "@/api/hooks";
import type { Hook, HookWithSecret } from "@/api/types";
import { useT } from "@/i18n";
import { Button, Dialog, ErrorState } from "@/ui";
import { SecretField } from "../../credentials/parts/SecretField";
import { SECRET, secretSaid } from "./form";
import { makesSecret } from "./senders";
import { Address, Copied, Steps } from "./Setup";

/** A webhook that was just made: its address, its secret this once, and what is to be done at the sender. `own`: the secret came from the sender. */
export function Made({ made, own, onDone }: { made: HookWithSecret; own: boolean; onDone: () => void }) {
  const t = useT("webhooks");
  const { hook, secret } = made;
  const { kind } = hook.signing;
  const shown = !own && !makesSecret(kind);
  return (
    <Dialog open locked wide onOpenChange={onDone} title={t("made_title", { name: hook.name })} description={t(shown ? "made_text" : "made_text_own")} footer={<Button variant="primary" onClick={onDone}>{t("done")}</Button>}>
      <div className="flex flex-col gap-5 pb-1">
        <Address path={hook.path} />
        {own ? <p className="text-base text-ink-2">{t("secret_is_yours")}</p> : makesSecret(kind) ? <FromSender hook={hook} /> : <Secret secret={secret} />}
        <section>
          <h3 className="mb-1.5 text-sm font-medium">{t("setup")}</h3>
          <Steps signing={hook.signing} path={hook.path} />
        </section>
      </div>
    </Dialog>
  );
}

/** This once. `null`: it was answered before, to somebody who didn't get it. */
function Secret({ secret }: { secret: string | null }) {
  const t = useT("webhooks");
  if (secret === null) return <p className="text-base text-ink-2">{t("secret_lost")}</p>;
  return <Copied label={t("secret")} value={secret} copy={t("secret_copy")} mark="data-secret" />;
}

/** Another secret of a webhook, this once. */
export function NewSecret({ made, onDone }: { made: HookWithSecret; onDone: () => void }) {
  const t = useT("webhooks");
  return (
    <Dialog open locked onOpenChange={onDone} title={t("secret_new_title", { name: made.hook.name })} description={t("secret_new_text")} footer={<Button variant="primary" onClick={onDone}>{t("done")}</Button>}>
      <Secret secret={made.secret} />
    </Dialog>
  );
}

/** Takes the secret that the sender made, in the place of the one that nobody can enter there. */
function FromSender({ hook }: { hook: Hook }) {
  const t = useT("webhooks");
  const writer = useHookWriter();
  const { removeSecret } = useHookActions();
  const [text, setText] = useState("");
  const [kept, setKept] = useState(false);
  const sender = t(`kind_${hook.signing.kind}`);
  const save = async () => {
    if (!(await writer.addSecret(hook.id, text.trim()))) return;
    setKept(true);
    setText("");
    for (const { id } of hook.secrets) removeSecret.mutate({ id: hook.id, secret: id });
  };
  const refused = secretSaid(writer.error);
  const error = writer.error ?? removeSecret.error;
  return (
    <form className="flex flex-col gap-2" onSubmit={(event) => (event.preventDefault(), void (text.trim() !== "" && save()))}>
      {error !== null && !refused && <ErrorState inline error={error} />}
      {kept ? <p role="status" className="text-base text-ink-2">{t("secret_kept", { sender })}</p> : (
        <div className="flex items-end gap-2 max-sm:flex-col max-sm:items-stretch">
          <div className="min-w-0 flex-1"><SecretField secret label={t("secret_from", { sender })} hint={t("secret_from_hint")} error={refused} value={text} onChange={(value) => (setText(value.slice(0, SECRET.most)), writer.reset())} /></div>
          <Button type="submit" className="sm:mb-6" loading={writer.busy} disabled={text.trim() === ""}>{t("secret_keep")}</Button>
        </div>
      )}
    </form>
  );
}
