import { CircleHelp, Clock } from "lucide-react";
import type { NextOccurrence, ReadWhen, SchedulePreview } from "@/api/types";
import { useT } from "@/i18n";
import { Badge, Button, cx, Skeleton } from "@/ui";
import { formatShown } from "./times";

/** The next times by the clock of the zone, and how a change of the clock bears on each. */
export function NextTimes({ next }: { next: readonly NextOccurrence[] }) {
  const t = useT("schedules");
  if (next.length === 0) return <p className="text-base text-ink-3">{t("next_none")}</p>;
  return (
    <ol aria-label={t("next_times")} className="flex flex-col gap-1">
      {next.map((one) => {
        const { time, offset } = formatShown(one.shown);
        return (
          <li key={one.nominal} className="flex flex-wrap items-baseline gap-x-2 text-base tabular">
            <time dateTime={one.shown}>{time}</time>
            <span className="text-sm text-ink-3">{offset}</span>
            {one.change !== "none" && <Badge tone="accent" icon={<Clock aria-hidden />} className="whitespace-normal!">{t(`change_${one.change}`)}</Badge>}
          </li>
        );
      })}
    </ol>
  );
}

type Props = { preview: SchedulePreview | undefined; busy: boolean; onChoose: (choice: ReadWhen) => void };

/** What was read of words or times, or what is asked back. */
export function Reading({ preview, busy, onChoose }: Props) {
  const t = useT("schedules");
  if (!preview) return busy ? <div className="rounded-lg bg-sunken p-4"><Skeleton rows={3} /></div> : null;
  const { question } = preview;
  return (
    <section aria-label={t("reading")} aria-live="polite" aria-busy={busy || undefined} className={cx("flex flex-col gap-3 rounded-lg px-4 py-3", question ? "bg-warn-soft" : "bg-sunken")}>
      {question ? (
        <>
          <p className="flex items-start gap-2 text-base font-medium"><CircleHelp aria-hidden className="mt-0.5 size-4 shrink-0 text-warn" /><span className="min-w-0 wrap-anywhere">{question.text}</span></p>
          {question.choices.length > 0 && (
            <div role="group" aria-label={question.text} className="flex flex-wrap gap-2">
              {question.choices.map((choice) => <Button key={choice.description} size="sm" className="h-auto! min-h-7 shrink! py-1 text-left whitespace-normal!" onClick={() => onChoose(choice)}>{choice.description}</Button>)}
            </div>
          )}
        </>
      ) : (
        <>
          <p className="text-base font-medium wrap-anywhere">{preview.description}</p>
          <div className="flex flex-col gap-1.5">
            <h3 className="text-sm text-ink-3">{t("next_times")}</h3>
            <NextTimes next={preview.next} />
          </div>
          {preview.clock_changes && <p className="text-sm text-ink-2 wrap-anywhere">{preview.clock_changes}</p>}
        </>
      )}
    </section>
  );
}
