import { CalendarX } from "lucide-react";
import { useState } from "react";
import { useAuditActions, useAuditRetention } from "@/api/hooks";
import { limits, numbersOf, within } from "@/api/limits";
import { useT } from "@/i18n";
import { Button, Dialog, ErrorState, Field, formatRange, Input, toast } from "@/ui";

const DAYS = numbersOf(limits.AuditRetention.days);

/** How long entries are kept. */
export function Retention() {
  const t = useT("audit");
  const { data, error } = useAuditRetention();
  const { retention } = useAuditActions();
  const [open, setOpen] = useState(false);
  const [typed, setTyped] = useState("");
  const days = typed.trim() === "" ? null : Number(typed);
  const bad = days !== null && !(Number.isInteger(days) && within(days, DAYS));
  const show = () => {
    setTyped(data?.days ? String(data.days) : "");
    retention.reset();
    setOpen(true);
  };
  const save = () => !bad && retention.mutate(days, { onSuccess: () => (setOpen(false), toast({ title: t("retention_saved"), tone: "ok" })) });
  return (
    <>
      <Button size="sm" variant="quiet" disabled={!data} icon={<CalendarX aria-hidden className="size-3.5" />} onClick={show}>{data?.days ? t("kept_days", { count: data.days }) : t("kept_all")}</Button>
      {error && <ErrorState inline error={error} />}
      <Dialog
        open={open}
        onOpenChange={setOpen}
        title={t("retention")}
        description={t("retention_text")}
        footer={
          <>
            <Button onClick={() => setOpen(false)}>{t("cancel")}</Button>
            <Button variant="primary" loading={retention.isPending} disabled={bad} onClick={save}>{t("save")}</Button>
          </>
        }
      >
        <Field label={t("retention_days")} hint={t("retention_hint")} error={bad ? t("retention_bad", formatRange(DAYS)) : null}>
          {(props) => <Input {...props} inputMode="numeric" value={typed} onChange={(event) => setTyped(event.target.value)} onKeyDown={(event) => event.key === "Enter" && save()} />}
        </Field>
        {retention.error && <ErrorState inline error={retention.error} className="mt-3" />}
      </Dialog>
    </>
  );
}
