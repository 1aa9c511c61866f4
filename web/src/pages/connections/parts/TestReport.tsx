import { CircleCheck, CircleX } from "lucide-react";
import { useEffect, useRef } from "react";
import type { ConnectionTest } from "@/api/types";
import { useT } from "@/i18n";
import { ErrorState, formatDuration, Meter, Spinner } from "@/ui";

export type TestState = { busy: boolean; report: ConnectionTest | null; error: unknown };

/** What one short reply of a connection took, or why there was none; it comes into view. */
export function TestReport({ test, onTest }: { test: TestState; onTest: () => void }) {
  const place = useRef<HTMLDivElement>(null);
  useEffect(() => {
    // Newer browsers return a promise, which is no way to clean up.
    void place.current?.scrollIntoView({ block: "nearest" });
  }, [test]);
  return <div ref={place} className="scroll-my-4"><Report test={test} onTest={onTest} /></div>;
}

function Report({ test, onTest }: { test: TestState; onTest: () => void }) {
  const t = useT("connections");
  if (test.busy) return <p className="flex items-center gap-2 text-base text-ink-2"><Spinner />{t("testing")}</p>;
  if (test.error) return <ErrorState inline error={test.error} onRetry={onTest} />;
  const { report } = test;
  if (!report) return null;
  if (!report.ok) {
    return (
      <div className="flex gap-2.5 rounded-lg bg-bad-soft px-3 py-2.5 text-base">
        <CircleX aria-hidden className="mt-0.5 size-4 shrink-0 text-bad" />
        <div className="min-w-0"><p className="font-medium">{t("test_failed")}</p><p className="font-mono text-sm wrap-anywhere">{report.error}</p>{report.hint && <p className="mt-1 text-sm text-ink-2">{report.hint}</p>}</div>
      </div>
    );
  }
  const times = ([["accepted", report.accepted_ms], ["first", report.first_ms], ["total", report.total_ms]] as const).filter(([, ms]) => ms !== null);
  const longest = Math.max(1, ...times.map(([, ms]) => ms ?? 0));
  return (
    <div className="flex flex-col gap-2">
      <p className="flex flex-wrap items-center gap-2 text-base font-medium"><CircleCheck aria-hidden className="size-4 text-ok" />{t("test_ok")}<span className="text-sm font-normal text-ink-3">{t("answered_as", { model: report.model })}</span></p>
      <dl className="grid max-w-md grid-cols-[max-content_1fr_max-content] items-center gap-x-3 gap-y-1 text-sm">
        {times.map(([name, ms]) => <div key={name} className="contents"><dt className="text-ink-3">{t(name)}</dt><dd aria-hidden><Meter label={t(name)} parts={[{ share: (ms ?? 0) / longest, tone: "ok" }]} /></dd><dd className="text-right tabular">{formatDuration(ms ?? 0)}</dd></div>)}
      </dl>
      {report.text && <blockquote className="line-clamp-3 border-l-2 border-line-2 pl-3 text-sm text-ink-2 wrap-anywhere">{report.text}</blockquote>}
    </div>
  );
}
