import { RotateCcw, TriangleAlert } from "lucide-react";
import type { ReactNode } from "react";
import type { Approval, PlanStep, Preview, Risk } from "@/api/types";
import { useT } from "@/i18n";
import { Badge, cx, formatNumber, isDiff, JsonView, RiskBadge } from "@/ui";
import { Diff } from "./Diff";

function Section({ title, children }: { title: string; children: ReactNode }) {
  return (
    <section className="flex flex-col gap-1.5">
      <h3 className="text-xs font-medium text-ink-3">{title}</h3>
      {children}
    </section>
  );
}

/** Whether it can be taken back, and how much it touches. */
function Blast({ preview }: { preview: Preview }) {
  const t = useT("approvals");
  return (
    <span className="flex flex-wrap items-center gap-2">
      {preview.reversible ? <Badge icon={<RotateCcw aria-hidden />}>{t("reversible")}</Badge> : <Badge tone="bad" icon={<TriangleAlert aria-hidden />}>{t("irreversible")}</Badge>}
      {typeof preview.count === "number" && <Badge>{t("affects", { count: preview.count }).replace(String(preview.count), formatNumber(preview.count))}</Badge>}
    </span>
  );
}

function Detail({ text }: { text: string }) {
  if (isDiff(text)) return <Diff text={text} />;
  return <pre tabIndex={0} className="max-h-72 overflow-auto rounded-md border border-line bg-sunken px-3 py-2 font-mono text-sm leading-[1.5] whitespace-pre-wrap wrap-anywhere focus-visible:outline-offset-[-2px]">{text}</pre>;
}

/** What is asked, in full. */
export function SubjectView({ approval }: { approval: Approval }) {
  const t = useT("approvals");
  const { subject } = approval;
  switch (subject.kind) {
    case "call": {
      const shown = subject.preview.detail && isDiff(subject.preview.detail);
      return (
        <>
          <Section title={t("effect")}>
            <p className="text-base font-medium wrap-anywhere">{subject.preview.summary}</p>
            <Blast preview={subject.preview} />
            {subject.preview.detail && <Detail text={subject.preview.detail} />}
          </Section>
          <Section title={t("arguments")}><JsonView value={subject.arguments} {...(shown && { className: "max-h-48" })} /></Section>
        </>
      );
    }
    case "plan":
      return <Section title={t("plan")}><PlanSteps plan={approval.plan ?? []} previews={subject.previews} /></Section>;
    case "uncertain":
      return (
        <>
          <p className="max-w-prose text-base">{t("uncertain_text")}</p>
          {subject.why && <p className="max-w-prose text-sm wrap-anywhere">{subject.why}</p>}
          <Section title={t("arguments")}><JsonView value={subject.arguments} /></Section>
        </>
      );
    case "question":
      return <p className="max-w-prose border-l-2 border-accent pl-4 text-lg whitespace-pre-wrap wrap-anywhere">{subject.text}</p>;
  }
}

/** Each step; those that change something with what they would do. */
function PlanSteps({ plan, previews }: { plan: PlanStep[]; previews: { step: number; risk: Risk; preview: Preview }[] }) {
  const t = useT("approvals");
  const steps = plan.length > 0 ? plan : previews.map((preview) => ({ tool: preview.preview.summary, args: {}, thought: "" }));
  return (
    <ol className="flex flex-col">
      {steps.map((step, index) => {
        const preview = previews.find((entry) => entry.step === index);
        const last = index === steps.length - 1;
        return (
          <li key={index} className="relative grid grid-cols-[1.75rem_minmax(0,1fr)] gap-x-2 pb-4 last:pb-0">
            {!last && <span aria-hidden className="absolute top-6 bottom-0 left-[0.6875rem] w-px bg-line-2" />}
            <span className={cx("flex size-6 items-center justify-center rounded-full text-xs font-semibold tabular", preview ? "bg-warn-soft text-warn" : "bg-active text-ink-2")}>{index + 1}</span>
            <div className="flex min-w-0 flex-col gap-1.5 pt-0.5">
              <p className="flex flex-wrap items-center gap-2"><code className="font-mono text-sm font-medium">{step.tool}</code>{preview ? <RiskBadge risk={preview.risk} /> : <span className="text-xs text-ink-3">{step.tool === "final_answer" ? "" : t("step_reads")}</span>}</p>
              {step.thought && <p className="text-sm text-ink-2">{step.thought}</p>}
              {Object.keys(step.args).length > 0 && step.tool !== "final_answer" && (
                <dl className="grid grid-cols-[max-content_minmax(0,1fr)] gap-x-3 text-sm">
                  {Object.entries(step.args).map(([name, value]) => (
                    <div key={name} className="contents"><dt className="text-ink-3">{name}</dt><dd className="font-mono wrap-anywhere">{value === "" ? <em className="font-sans text-ink-3">{t("filled_later")}</em> : typeof value === "string" ? value : JSON.stringify(value)}</dd></div>
                  ))}
                </dl>
              )}
              {preview && (
                <div className="flex flex-col gap-1.5 rounded-md border border-line bg-surface px-3 py-2">
                  <p className="text-sm font-medium wrap-anywhere">{preview.preview.summary}</p>
                  <Blast preview={preview.preview} />
                  {preview.preview.detail && <Detail text={preview.preview.detail} />}
                </div>
              )}
            </div>
          </li>
        );
      })}
    </ol>
  );
}
