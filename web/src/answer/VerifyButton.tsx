import { BadgeCheck } from "lucide-react";
import { useState } from "react";
import { isOperator, useMe, useVerifiedActions } from "@/api/hooks";
import { limits } from "@/api/limits";
import { useT } from "@/i18n";
import { Button, Dialog, ErrorState, Field, Textarea, toast } from "@/ui";
import type { Answer } from "./answer";

/** Keeps the question that an answer is right for: an example for models, and the answer to whoever asks the same. */
export function VerifyButton({ answer }: { answer: Answer }) {
  const t = useT("data");
  const { data: me } = useMe();
  const [open, setOpen] = useState(false);
  if (!isOperator(me) || answer.query === null) return null;
  return (
    <>
      <Button size="sm" variant="quiet" icon={<BadgeCheck aria-hidden className="size-3.5" />} onClick={() => setOpen(true)}>{t("verify")}</Button>
      {open && <VerifyDialog query={answer.query as object} onClose={() => setOpen(false)} />}
    </>
  );
}

function VerifyDialog({ query, onClose }: { query: object; onClose: () => void }) {
  const t = useT("data");
  const { add } = useVerifiedActions();
  const [text, setText] = useState("");
  const [tried, setTried] = useState(false);
  const missing = text.trim() === "";
  const send = () => {
    setTried(true);
    if (!missing) add.mutate({ text: text.trim(), query }, { onSuccess: () => (toast({ title: t("verified_kept") }), onClose()) });
  };
  return (
    <Dialog open onOpenChange={onClose} title={t("verify_title")} description={t("verify_text")} footer={<><Button onClick={onClose}>{t("cancel")}</Button><Button variant="primary" loading={add.isPending} onClick={send}>{t("save")}</Button></>}>
      <form className="flex flex-col gap-4 pb-1" onSubmit={(event) => (event.preventDefault(), send())}>
        {add.error ? <ErrorState inline error={add.error} /> : null}
        <Field label={t("verified_question")} error={tried && missing ? t("verified_missing") : undefined}>{(p) => <Textarea {...p} maxLength={limits.VerifiedInput.text.maxLength} maxRows={6} value={text} onChange={(event) => setText(event.target.value)} />}</Field>
        <button type="submit" hidden tabIndex={-1} aria-hidden />
      </form>
    </Dialog>
  );
}
