import { Square } from "lucide-react";
import { useT } from "@/i18n";
import { Button, Elapsed, ErrorState, Spinner } from "@/ui";
import { Checks } from "./Checks";
import type { useExam } from "./exam";

/** An exam that is going on, or why it ended without a report. */
export function Examination({ exam }: { exam: ReturnType<typeof useExam> }) {
  const t = useT("connections");
  if (!exam.busy && !exam.error && exam.checks.length === 0) return null;
  return (
    <div className="flex flex-col gap-2">
      {exam.busy && (
        <div className="flex items-center gap-2.5 text-base">
          <Spinner className="text-accent-ink" />
          <p role="status" className="min-w-0 flex-1">{t("examining", { count: exam.checks.length })} <span className="text-sm text-ink-3"><Elapsed from={exam.since} /></span></p>
          <Button size="sm" icon={<Square aria-hidden className="size-3 fill-current" />} onClick={exam.cancel}>{t("exam_stop")}</Button>
        </div>
      )}
      {!exam.busy && !exam.report && !exam.error && <p role="status" className="text-base text-ink-2">{t("exam_stopped")}</p>}
      {exam.error ? <ErrorState inline error={exam.error} onRetry={exam.start} /> : null}
      {!exam.report && exam.checks.length > 0 && <Checks label={t("checks")} checks={exam.checks} />}
    </div>
  );
}
