import type { ReadWhen, SchedulePreview, ScheduleWhen } from "@/api/types";
import { useT } from "@/i18n";
import { Field, Input, Select, Tabs } from "@/ui";
import { fieldsOf, type Field as Place, type Form, WAYS, type Way, WORDS } from "./form";
import { Reading } from "./Reading";
import { knownZones, UNITS, type Unit } from "./times";

type Props = { form: Form; preview: SchedulePreview | undefined; busy: boolean; problem: (field: Place) => string | undefined; onChange: (change: Partial<Form>) => void };

/** When a schedule is due: in words, or in one of the ways of programs; and what was read of it. */
export function WhenFields({ form, preview, busy, problem, onChange }: Props) {
  const t = useT("schedules");
  const error = problem("when");
  // What was read of words is the start of the other ways.
  const turn = (way: Way) => onChange({ way, ...(form.way === "words" && preview?.when && { ...fieldsOf(preview.when.timing, preview.when.zone), zone: preview.when.zone }) });
  const choose = ({ when }: ReadWhen) => onChange({ chosen: when as ScheduleWhen });
  const content: Record<Way, React.ReactNode> = {
    words: (
      <Field label={t("words")} hint={t("words_hint")} error={error}>
        {(p) => <Input {...p} autoComplete="off" maxLength={WORDS.most} placeholder={t("words_placeholder")} value={form.words} onChange={(event) => onChange({ words: event.target.value, chosen: null })} />}
      </Field>
    ),
    interval: (
      <div className="flex items-start gap-2">
        <Field className="w-28" label={t("every")} error={error}>{(p) => <Input {...p} inputMode="numeric" value={form.every} onChange={(event) => onChange({ every: event.target.value })} />}</Field>
        <Field className="min-w-0 flex-1" label={t("unit")}>{(p) => <Select {...p} value={form.unit} onChange={(event) => onChange({ unit: event.target.value as Unit })}>{(Object.keys(UNITS) as Unit[]).map((unit) => <option key={unit} value={unit}>{t(`unit_${unit}`)}</option>)}</Select>}</Field>
      </div>
    ),
    once: <Field label={t("at")} error={error}>{(p) => <Input {...p} type="datetime-local" step={60} className="max-w-64" value={form.at} onChange={(event) => onChange({ at: event.target.value })} />}</Field>,
    cron: (
      <Field label={t("cron")} hint={t("cron_hint")} error={error}>
        {(p) => <Input {...p} autoComplete="off" spellCheck={false} className="font-mono text-sm" placeholder="0 8 * * MON-FRI" value={form.cron} onChange={(event) => onChange({ cron: event.target.value })} />}
      </Field>
    ),
    rrule: (
      <div className="grid gap-4 sm:grid-cols-2">
        <Field label={t("rule")} hint={t("rule_hint")} error={error}>{(p) => <Input {...p} autoComplete="off" spellCheck={false} className="font-mono text-sm" placeholder="FREQ=MONTHLY;BYDAY=-1FR" value={form.rule} onChange={(event) => onChange({ rule: event.target.value })} />}</Field>
        <Field label={t("begin")} hint={t("begin_hint")} error={problem("begin")}>{(p) => <Input {...p} type="datetime-local" step={60} value={form.begin} onChange={(event) => onChange({ begin: event.target.value })} />}</Field>
      </div>
    ),
  };
  return (
    <fieldset className="flex min-w-0 flex-col gap-4">
      <legend className="mb-2 text-sm font-medium">{t("when")}</legend>
      <Tabs label={t("when")} value={form.way} onChange={(way) => turn(way as Way)} tabs={WAYS.map((way) => ({ value: way, label: t(`way_${way}`), content: content[way] }))} />
      <Reading preview={preview} busy={busy} onChoose={choose} />
      <Field label={t("zone")} hint={t("zone_hint")} error={problem("zone")}>
        {(p) => (
          <>
            <Input {...p} autoComplete="off" spellCheck={false} list={`${p.id}-known`} value={form.zone} onChange={(event) => onChange({ zone: event.target.value, chosen: null })} />
            <datalist id={`${p.id}-known`}>{knownZones().map((zone) => <option key={zone} value={zone} />)}</datalist>
          </>
        )}
      </Field>
    </fieldset>
  );
}
