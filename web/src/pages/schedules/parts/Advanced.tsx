import { ChevronRight } from "lucide-react";
import { useId, useState } from "react";
import { useT } from "@/i18n";
import { Button, cx, Field, Input, Select } from "@/ui";
import { type Field as Place, type Form, OVERLAPS } from "./form";

type Props = { form: Form; problem: (field: Place) => string | undefined; onChange: (change: Partial<Form>) => void };
const PLACES: readonly Place[] = ["start", "end", "jitter", "missed", "overlap", "grace", "failures"];

/** What is right for most as it is: what becomes of missed and overlapping occurrences, and from when to when. Opens where something in it is wrong. */
export function Advanced({ form, problem, onChange }: Props) {
  const t = useT("schedules");
  const id = useId();
  const [open, setOpen] = useState(false);
  const shown = open || PLACES.some((place) => problem(place));
  const number = (name: "jitter" | "grace" | "failures") => (
    <Field label={t(name)} hint={t(`${name}_hint`)} error={problem(name)}>{(p) => <Input {...p} inputMode="numeric" value={form[name]} onChange={(event) => onChange({ [name]: event.target.value })} />}</Field>
  );
  const bound = (name: "start" | "end") => (
    <Field label={t(name)} hint={t(`${name}_hint`)} error={problem(name)}>{(p) => <Input {...p} type="datetime-local" step={60} value={form[name]} onChange={(event) => onChange({ [name]: event.target.value })} />}</Field>
  );
  return (
    <div className="flex flex-col gap-4">
      <Button size="sm" variant="quiet" className="self-start" aria-expanded={shown} aria-controls={id} icon={<ChevronRight aria-hidden className={cx("size-3.5 transition-transform", shown && "rotate-90")} />} onClick={() => setOpen(!shown)}>{t("advanced")}</Button>
      <div id={id} hidden={!shown} className={shown ? "grid gap-4 sm:grid-cols-2" : ""}>
        {shown && (
          <>
            <Field className="sm:col-span-2" label={t("overlap")} hint={t("overlap_hint")} error={problem("overlap")}>
              {(p) => <Select {...p} value={form.overlap} onChange={(event) => onChange({ overlap: event.target.value as Form["overlap"] })}>{Object.entries(OVERLAPS).map(([one, text]) => <option key={one} value={one}>{t(text)}</option>)}</Select>}
            </Field>
            <Field className="sm:col-span-2" label={t("missed")} hint={t("missed_hint")} error={form.missed === "all" ? undefined : problem("missed")}>
              {(p) => <Select {...p} value={form.missed} onChange={(event) => onChange({ missed: event.target.value as Form["missed"] })}>{(["once", "skip", "all"] as const).map((one) => <option key={one} value={one}>{t(`missed_${one}`)}</option>)}</Select>}
            </Field>
            {form.missed === "all" && <Field className="sm:col-span-2" label={t("caught")} error={problem("missed")}>{(p) => <Input {...p} inputMode="numeric" className="max-w-40" value={form.caught} onChange={(event) => onChange({ caught: event.target.value })} />}</Field>}
            {number("failures")}
            {number("grace")}
            {number("jitter")}
            <span className="max-sm:hidden" />
            {bound("start")}
            {bound("end")}
          </>
        )}
      </div>
    </div>
  );
}
