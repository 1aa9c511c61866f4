import { Ban, Check, Circle, X } from "lucide-react";
import { useT } from "@/i18n";
import { cx, Spinner } from "@/ui";
import { type DeepState, type DeepVersion, statesOf } from "../deep";

const marks: Record<DeepState, React.ReactNode> = { open: <Circle className="text-ink-3" />, work: <Spinner className="text-accent-ink" />, done: <Check className="text-ok" />, failed: <X className="text-bad" />, skipped: <Ban className="text-ink-3" /> };

/** The steps of a deep plan: what each needs and risks, where it stands and why. `working`: whether its run is at work by it. */
export function DeepSteps({ version, working }: { version: DeepVersion; working: boolean }) {
  const t = useT("chat");
  const states = statesOf(version, working);
  return (
    <ol className="flex flex-col">
      {version.steps.map((step) => {
        const state = states.get(step.number) ?? "open";
        const why = version.ends[step.number]?.why;
        const needs = step.depends_on ?? [];
        const over = state === "done" || state === "skipped";
        return (
          <li key={step.number} data-deep={state} aria-current={state === "work" ? "step" : undefined} className="grid grid-cols-[1.125rem_1.375rem_1fr] gap-x-1 border-t border-line py-1.5 first:border-t-0 first:pt-0.5 last:pb-0.5">
            <span aria-hidden className="mt-0.75 [&>svg]:size-4">{marks[state]}</span>
            <span className="text-right text-base text-ink-3 tabular">{step.number}.</span>
            <div className="min-w-0 pl-1">
              <p className={cx("text-base wrap-anywhere", over && "text-ink-2", state === "work" && "font-medium")}>{step.goal} <span className={cx("text-xs font-normal whitespace-nowrap", state === "failed" ? "text-bad" : "text-ink-3")}>{t(`deep.${state}`)}</span></p>
              <p className="flex flex-wrap gap-x-3 text-xs text-ink-3">
                {step.tool && <code className="font-mono">{step.tool}</code>}
                {needs.length > 0 && <span>{t("deep.needs", { steps: needs.join(", ") })}</span>}
                {step.expect && !over && <span className="wrap-anywhere">{t("deep.expects", { what: step.expect })}</span>}
              </p>
              {step.risk && !over && <p className="text-xs text-ink-2 wrap-anywhere"><span className="text-ink-3">{t("deep.risk")}</span> {step.risk}</p>}
              {why && <p className={cx("text-sm wrap-anywhere", state === "failed" ? "text-bad" : "text-ink-2")}>{why}</p>}
            </div>
          </li>
        );
      })}
    </ol>
  );
}
