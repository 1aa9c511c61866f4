import { type FormEvent, useState } from "react";
import { ApiError } from "@/api/client";
import { useSecondStep } from "@/api/hooks";
import type { FinishedLogin, NewSecondFactor, SecondFactorRequired } from "@/api/types";
import { useT } from "@/i18n";
import { Button, ErrorState, Field, Input } from "@/ui";
import { AppSecret, RecoveryCodes } from "./codes";

/** After a right password: a code of the app; who must have an app and has none sets it up here. */
export function SecondStep({ asked, onDone, onBack }: { asked: SecondFactorRequired; onDone?: (() => void) | undefined; onBack: () => void }) {
  const t = useT("auth");
  const step = useSecondStep();
  const [made, setMade] = useState<NewSecondFactor | null>(null);
  const [done, setDone] = useState<FinishedLogin | null>(null);
  const [code, setCode] = useState("");
  const enter = (finished: FinishedLogin) => {
    step.enter(finished);
    onDone?.();
  };
  const submit = async (event: FormEvent) => {
    event.preventDefault();
    const finished = await step.show(asked.challenge, code);
    setCode("");
    if (finished && finished.recovery_codes.length > 0) setDone(finished);
    else if (finished) enter(finished);
  };
  if (done) {
    return (
      <div className="flex flex-col gap-4">
        <RecoveryCodes codes={done.recovery_codes} />
        <Button variant="primary" onClick={() => enter(done)}>{t("codes.seen")}</Button>
      </div>
    );
  }
  if (asked.enrol && !made) {
    return (
      <div className="flex flex-col gap-4">
        <p className="text-base text-ink-2">{t("factor.must")}</p>
        {step.error !== null && <ErrorState inline error={step.error} />}
        <Button variant="primary" loading={step.busy} onClick={async () => setMade(await step.enrol(asked.challenge))}>{t("factor.setUp")}</Button>
        <Button variant="quiet" onClick={onBack}>{t("factor.back")}</Button>
      </div>
    );
  }
  const wrong = step.error instanceof ApiError && step.error.code === "wrong_code";
  return (
    <form onSubmit={(event) => void submit(event)} className="flex flex-col gap-4">
      {made && <AppSecret made={made} />}
      <Field label={t("code")} hint={made ? undefined : t("codeHint")} error={wrong ? t("codeWrong") : null}>{(p) => <Input {...p} name="code" inputMode={made ? "numeric" : "text"} autoComplete="one-time-code" required autoFocus maxLength={100} value={code} onChange={(event) => setCode(event.target.value)} />}</Field>
      {step.error !== null && !wrong && <ErrorState inline error={step.error} />}
      <Button type="submit" variant="primary" loading={step.busy}>{t("signIn")}</Button>
      <Button variant="quiet" onClick={onBack}>{t("factor.back")}</Button>
    </form>
  );
}
