import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { ApiError } from "@/api/client";
import { previewOptions, useAgents, useScheduleActions } from "@/api/hooks";
import type { Schedule, SchedulePreview, SchedulePreviewInput, ScheduleWhen } from "@/api/types";
import { type Language, useLanguage, useT } from "@/i18n";
import { Button, Dialog, ErrorState, Field, formatRange, Input, Select, Textarea, toast } from "@/ui";
import { useSettled } from "../../agents/parts/settled";
import { Advanced } from "./Advanced";
import { completed, emptyForm, type Field as Place, type Form, formOf, inputOf, NAME, placeOf, problemsOf, RANGES, REQUEST, whenOf } from "./form";
import { WhenFields } from "./WhenFields";

type Props = { schedule: Schedule | null; onClose: () => void; onMade?: (schedule: Schedule) => void };

/** What is asked of the server about the form's times; `null`: nothing yet. */
function askedOf(form: Form, before: ScheduleWhen | null, language: Language): SchedulePreviewInput | null {
  if (form.zone.trim() === "") return null;
  const when = whenOf(form, before);
  if (when) return { when, language };
  return form.way === "words" && form.words.trim() !== "" ? { words: form.words.trim(), zone: form.zone.trim(), language } : null;
}

/** Makes a schedule, or changes one. */
export function ScheduleDialog({ schedule, onClose, onMade }: Props) {
  const t = useT("schedules");
  const language = useLanguage();
  const client = useQueryClient();
  const agents = useAgents();
  const { create, update } = useScheduleActions();
  const before = schedule?.when ?? null;
  const [form, setForm] = useState<Form>(() => (schedule ? formOf(schedule) : emptyForm()));
  const [tried, setTried] = useState(false);
  const [reading, setReading] = useState(false);
  const agent = form.agent_id || (agents.items.length === 1 ? agents.items[0]!.id : "");
  const filled = { ...form, agent_id: agent };
  const typed = useSettled(form);
  // A choice is no typing: it counts at once.
  const settled = form.chosen && form.chosen !== typed.chosen ? form : typed;
  const asked = askedOf(settled, before, language);
  const read = useQuery({ ...previewOptions(asked ?? {}), enabled: asked !== null, placeholderData: (last: SchedulePreview | undefined) => last });
  // Start, end and jitter stand beside the words, and have a part in the next times.
  const whole = asked?.words !== undefined && read.data?.when && !read.isPlaceholderData ? completed(read.data.when, settled) : null;
  const further = whole !== null && JSON.stringify(whole) !== JSON.stringify(read.data?.when);
  const joined = useQuery({ ...previewOptions({ when: whole as ScheduleWhen, language }), enabled: further });
  const error = create.error ?? update.error;

  const problems = problemsOf(filled);
  const refused = [error, asked && !read.isFetching ? read.error : null, further && !joined.isFetching ? joined.error : null].flatMap((one) => (one instanceof ApiError ? one.problems : []));
  const problem = (field: Place) => {
    const said = refused.find((one) => placeOf(one) === field);
    const own = tried ? problems[field] : undefined;
    const range = field === "jitter" || field === "grace" || field === "failures" ? formatRange(RANGES[field]) : undefined;
    return own ? t(own, range) : said && [said.title, said.hint].filter(Boolean).join(". ");
  };
  const placed = error instanceof ApiError && error.problems.length > 0 && error.problems.every((one) => placeOf(one) !== null);
  const patch = (change: Partial<Form>) => {
    setForm((old) => ({ ...old, ...change }));
    create.reset();
    update.reset();
  };

  const showFirst = () => setTimeout(() => document.querySelector<HTMLElement>("[role=dialog] [aria-invalid], [role=dialog] section[aria-live] button")?.focus());
  /** Words are read now, even if the last letter was typed just before. `null`: they say no time, as is shown. */
  const readNow = async (): Promise<ScheduleWhen | null> => {
    const now = askedOf(filled, before, language);
    if (now?.words === undefined) return now?.when ?? null;
    const { when } = await client.fetchQuery(previewOptions(now));
    return when && completed(when, filled);
  };
  const save = async () => {
    setTried(true);
    if (Object.keys(problems).length > 0) return void showFirst();
    setReading(true);
    // What can't be read is said at its field by the query that reads what was typed.
    const when = await readNow().catch(() => null);
    setReading(false);
    if (!when) return void showFirst();
    const input = inputOf(filled, when);
    if (schedule) return update.mutate({ id: schedule.id, ...input }, { onSuccess: () => (toast({ title: t("saved") }), onClose()), onError: showFirst });
    create.mutate(input, { onSuccess: (made) => (toast({ title: t("created", { name: made.name }) }), onClose(), onMade?.(made)), onError: showFirst });
  };

  return (
    <Dialog open wide onOpenChange={onClose} title={schedule ? t("edit_title", { name: schedule.name }) : t("new_title")} footer={<><Button onClick={onClose}>{t("cancel")}</Button><Button variant="primary" loading={reading || create.isPending || update.isPending} onClick={() => void save()}>{t(schedule ? "save" : "create")}</Button></>}>
      <form noValidate className="flex flex-col gap-5 pb-1" onSubmit={(event) => (event.preventDefault(), void save())}>
        {error && !placed && <ErrorState inline error={error} />}
        <div className="grid gap-4 sm:grid-cols-2">
          <Field label={t("name")} error={problem("name")}>{(p) => <Input {...p} autoFocus={!schedule} autoComplete="off" maxLength={NAME.most} value={form.name} onChange={(event) => patch({ name: event.target.value })} />}</Field>
          <Field label={t("agent")} hint={t("agent_hint")} error={problem("agent_id")}>
            {(p) => (
              <Select {...p} value={agent} onChange={(event) => patch({ agent_id: event.target.value })}>
                <option value="" disabled>{t("agent_choose")}</option>
                {schedule && !agents.isLoading && !agents.items.some((one) => one.id === schedule.agent_id) && <option value={schedule.agent_id}>{schedule.agent ?? t("agent_gone")}</option>}
                {agents.items.map((one) => <option key={one.id} value={one.id}>{one.name}</option>)}
              </Select>
            )}
          </Field>
        </div>
        <Field label={t("request")} hint={t("request_hint")} error={problem("request")}>{(p) => <Textarea {...p} rows={3} maxLength={REQUEST.most} placeholder={t("request_placeholder")} value={form.request} onChange={(event) => patch({ request: event.target.value })} />}</Field>
        <WhenFields form={form} preview={asked && !read.error && !(form.chosen && read.data?.question) ? (further && joined.data ? joined.data : read.data) : undefined} busy={read.isFetching || joined.isFetching} problem={problem} onChange={patch} />
        {read.error && !(read.error instanceof ApiError && read.error.problems.length > 0) && <ErrorState inline error={read.error} onRetry={() => void read.refetch()} />}
        <Advanced form={form} problem={problem} onChange={patch} />
        <button type="submit" hidden tabIndex={-1} aria-hidden />
      </form>
    </Dialog>
  );
}
