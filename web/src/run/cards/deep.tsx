import { ListOrdered } from "lucide-react";
import { memo } from "react";
import { useT } from "@/i18n";
import { cx, Meter } from "@/ui";
import { doneOf, statesOf } from "../deep";
import type { DeepItem } from "../view";
import { DeepSteps } from "./deep-steps";
import { Fold } from "./text";

/** The plan that a run works by; it stays here and follows the work. */
export const DeepCard = memo(({ item, working }: { item: DeepItem; working: boolean }) => {
  const t = useT("chat");
  const current = item.versions.at(-1);
  if (!current) return null;
  const earlier = item.versions.slice(0, -1);
  const all = current.steps.length;
  const done = doneOf(current);
  const at = [...statesOf(current, working)].find(([, state]) => state === "work")?.[0];
  const summary = all === 0 ? t("deep.without") : at ? t("deep.at", { step: at, of: all }) : t("deep.count", { done, of: all });
  return (
    <section aria-label={t("deep.plan")} className={cx("rounded-lg border bg-surface px-4 py-3", working ? "border-accent/40" : "border-line")}>
      <h2 className="flex flex-wrap items-center gap-x-2.5 gap-y-1 text-base font-semibold"><ListOrdered aria-hidden className="size-4 text-accent-ink" />{t("deep.plan")}<span role="status" className="text-sm font-normal text-ink-3 tabular">{summary}</span></h2>
      {all > 0 && <Meter className="mt-2 mb-2.5 h-1!" label={t("deep.progress")} text={t("deep.count", { done, of: all })} parts={[{ share: done / all, tone: "ok" }]} />}
      {current.reason && <p className="mb-1.5 text-sm text-ink-2 wrap-anywhere"><span className="text-ink-3">{t("deep.replanned", { n: item.versions.length })}</span> {current.reason}</p>}
      {all > 0 && <DeepSteps version={current} working={working} />}
      {current.notes.length > 0 && <ul className="mt-1.5 text-xs text-ink-3">{current.notes.map((note, index) => <li key={index} className="wrap-anywhere">{note}</li>)}</ul>}
      {earlier.length > 0 && (
        <Fold summary={t("deep.earlier", { count: earlier.length })} className="mt-1">
          <ol className="flex flex-col gap-3 pt-1">
            {earlier.map((version, index) => (
              <li key={index} className="border-l-2 border-line-2 pl-3">
                <p className="mb-1 text-xs text-ink-3 wrap-anywhere">{t("deep.version", { n: index + 1 })}{version.reason && `: ${version.reason}`}</p>
                <DeepSteps version={version} working={false} />
              </li>
            ))}
          </ol>
        </Fold>
      )}
    </section>
  );
});
