import { useState } from "react";
import { useSecondFactor, useSecondFactorActions } from "@/api/hooks";
import type { NewSecondFactor } from "@/api/types";
import { AppSecret, RecoveryCodes } from "@/auth/codes";
import { useT } from "@/i18n";
import { Badge, Button, Card, Dialog, ErrorState, Field, Input, Skeleton, toast } from "@/ui";

type Doing = "set up" | "renew" | "end";

/** An app that shows codes, and what is there for the day that it is lost. */
export function SecondFactor() {
  const t = useT("settings");
  const factor = useSecondFactor();
  const [doing, setDoing] = useState<Doing | null>(null);
  return (
    <Card title={t("sec_factor")}>
      {factor.error ? <ErrorState inline error={factor.error} onRetry={() => void factor.refetch()} /> : !factor.data ? <Skeleton rows={2} /> : (
        <div className="flex flex-col gap-4">
          <p className="max-w-prose text-base text-ink-2">{t("factor_text")}</p>
          {factor.data.enabled ? (
            <>
              <p className="flex flex-wrap items-center gap-2 text-base"><Badge tone="ok">{t("factor_on")}</Badge>{t("factor_codes", { count: factor.data.recovery_codes_left })}</p>
              <div className="flex flex-wrap gap-2">
                <Button onClick={() => setDoing("renew")}>{t("factor_renew")}</Button>
                {!factor.data.required && <Button variant="quiet" onClick={() => setDoing("end")}>{t("factor_end")}</Button>}
              </div>
            </>
          ) : <Button className="self-start" onClick={() => setDoing("set up")}>{t("factor_set_up")}</Button>}
        </div>
      )}
      {doing && <FactorDialog doing={doing} onClose={() => setDoing(null)} />}
    </Card>
  );
}

function FactorDialog({ doing, onClose }: { doing: Doing; onClose: () => void }) {
  const t = useT("settings");
  const actions = useSecondFactorActions();
  const [made, setMade] = useState<NewSecondFactor | null>(null);
  const [codes, setCodes] = useState<string[] | null>(null);
  const [code, setCode] = useState("");
  const title = t(doing === "set up" ? "factor_set_up" : doing === "renew" ? "factor_renew" : "factor_end");
  const send = async () => {
    if (doing === "end") {
      if (await actions.end(code)) (toast({ title: t("factor_ended") }), onClose());
      return;
    }
    const done = await (doing === "renew" ? actions.renewCodes(code) : actions.confirm(code));
    setCode("");
    if (done) setCodes(done.recovery_codes);
  };
  if (codes) {
    return <Dialog open locked onOpenChange={onClose} title={title} footer={<Button variant="primary" onClick={onClose}>{t("factor_kept")}</Button>}><RecoveryCodes codes={codes} /></Dialog>;
  }
  const first = doing === "set up" && !made;
  return (
    <Dialog
      open
      onOpenChange={onClose}
      title={title}
      footer={<><Button onClick={onClose}>{t("cancel")}</Button>{first ? <Button variant="primary" loading={actions.busy} onClick={async () => setMade(await actions.begin())}>{t("factor_begin")}</Button> : <Button variant="primary" loading={actions.busy} disabled={code === ""} onClick={() => void send()}>{title}</Button>}</>}
    >
      <form className="flex flex-col gap-4 pb-1" onSubmit={(event) => (event.preventDefault(), void send())}>
        {actions.error !== null && <ErrorState inline error={actions.error} />}
        {first && <p className="text-base text-ink-2">{t("factor_begin_text")}</p>}
        {made && <AppSecret made={made} />}
        {!first && <Field label={t("factor_code")} hint={made ? undefined : t("factor_code_hint")}>{(p) => <Input {...p} autoComplete="one-time-code" maxLength={100} value={code} onChange={(event) => setCode(event.target.value)} />}</Field>}
      </form>
    </Dialog>
  );
}
