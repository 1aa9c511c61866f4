import { ChevronRight } from "lucide-react";
import { type ReactNode, useId, useState } from "react";
import { useT } from "@/i18n";
import { CopyButton, cx, formatNumber } from "@/ui";

/** A part of a step's details: a heading, and its content. `closed`: opened by a click. */
export function Part({ title, note, copy, closed, children }: { title: string; note?: ReactNode; copy?: string; closed?: boolean; children: ReactNode }) {
  const id = useId();
  const [open, setOpen] = useState(!closed);
  return (
    <section className="min-w-0">
      <header className="flex min-h-7 items-center gap-2">
        {closed === undefined ? (
          <h3 className="text-xs font-medium text-ink-3">{title}</h3>
        ) : (
          <h3>
            <button type="button" aria-expanded={open} aria-controls={id} onClick={() => setOpen(!open)} className="-ml-1 flex items-center gap-1 rounded-sm py-1 pr-1.5 pl-0.5 text-xs font-medium text-ink-2 hover:text-ink">
              <ChevronRight aria-hidden className={cx("size-3.5 text-ink-3 transition-transform", open && "rotate-90")} />
              {title}
            </button>
          </h3>
        )}
        {note && <span className="text-xs text-ink-3">{note}</span>}
        {copy && open && <span className="ml-auto"><CopyButton text={copy} /></span>}
      </header>
      <div id={id} hidden={!open}>{open && children}</div>
    </section>
  );
}

const LONG = 1600;

/** Text as it is, in fixed width; long ones are cut until asked for. */
export function Text({ text, plain, className }: { text: string; plain?: boolean; className?: string }) {
  const t = useT("runs");
  const [whole, setWhole] = useState(false);
  const cut = text.length > LONG && !whole;
  return (
    <div>
      <pre tabIndex={0} className={cx("max-h-[32rem] overflow-auto rounded-md border border-line bg-sunken px-3 py-2 text-sm leading-[1.55] whitespace-pre-wrap wrap-anywhere focus-visible:outline-offset-[-2px]", plain ? "font-sans" : "font-mono", className)}>
        {cut ? `${text.slice(0, LONG)}…` : text}
      </pre>
      {text.length > LONG && (
        <button type="button" onClick={() => setWhole(!whole)} className="mt-1 text-xs font-medium text-accent-ink hover:underline">
          {whole ? t("show_less") : t("show_more", { n: formatNumber(text.length) })}
        </button>
      )}
    </div>
  );
}

/** A thin bar, 0 to 1. */
export function Bar({ share, tone = "accent", label, className }: { share: number; tone?: "accent" | "ok" | "warn" | "bad" | "neutral"; label: string; className?: string }) {
  const fill = { accent: "bg-accent", ok: "bg-ok", warn: "bg-warn-line", bad: "bg-bad", neutral: "bg-ink-3" }[tone];
  const percent = Math.round(Math.min(1, Math.max(0, share)) * 100);
  return (
    <div role="meter" aria-label={label} aria-valuemin={0} aria-valuemax={100} aria-valuenow={percent} className={cx("h-1.5 overflow-hidden rounded-full bg-active", className)}>
      <div className={cx("h-full rounded-full", fill)} style={{ width: `${percent}%` }} />
    </div>
  );
}
