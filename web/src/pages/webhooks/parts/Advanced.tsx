import { ChevronRight } from "lucide-react";
import { useId, useState } from "react";
import { useT } from "@/i18n";
import { Button, cx, Field, Input, Select } from "@/ui";
import type { Field as Place, Form } from "./form";
import { signsTime } from "./senders";

type Props = { form: Form; problem: (field: Place) => string | undefined; onChange: (change: Partial<Form>) => void };
const PLACES: readonly Place[] = ["window", "event_id", "failures"];

/** What is right for most as it is. Opens where something in it is wrong. */
export function Advanced({ form, problem, onChange }: Props) {
  const t = useT("webhooks");
  const id = useId();
  const [open, setOpen] = useState(false);
  const shown = open || PLACES.some((place) => problem(place));
  const number = (name: "window" | "failures") => (
    <Field label={t(name)} hint={t(`${name}_hint`)} error={problem(name)}>{(p) => <Input {...p} inputMode="numeric" value={form[name]} onChange={(event) => onChange({ [name]: event.target.value })} />}</Field>
  );
  return (
    <div className="flex flex-col gap-4">
      <Button size="sm" variant="quiet" className="self-start" aria-expanded={shown} aria-controls={id} icon={<ChevronRight aria-hidden className={cx("size-3.5 transition-transform", shown && "rotate-90")} />} onClick={() => setOpen(!shown)}>{t("advanced")}</Button>
      <div id={id} hidden={!shown} className={shown ? "grid gap-4 sm:grid-cols-2" : ""}>
        {shown && (
          <>
            <Field label={t("event_id")} hint={t("event_id_hint")} error={form.id_kind === "own" ? problem("event_id") : undefined}>
              {(p) => <Select {...p} value={form.id_kind} onChange={(event) => onChange({ id_kind: event.target.value as Form["id_kind"] })}>{(["own", "pointer", "header"] as const).map((kind) => <option key={kind} value={kind}>{t(`event_id_${kind}`)}</option>)}</Select>}
            </Field>
            {form.id_kind === "own" ? <span className="max-sm:hidden" /> : <Field label={t("event_id_place")} error={problem("event_id")}>{(p) => <Input {...p} autoComplete="off" spellCheck={false} className="font-mono text-sm" placeholder={form.id_kind === "header" ? "x-request-id" : "/id"} value={form.id_place} onChange={(event) => onChange({ id_place: event.target.value })} />}</Field>}
            {number("failures")}
            {(signsTime(form.kind) || problem("window")) && number("window")}
          </>
        )}
      </div>
    </div>
  );
}
