// How grades, prices and the health of connections look and read, the same on each page.
import type { ConnectionHealth, Grade, Price } from "@/api/types";
import { useT } from "@/i18n";
import { cx } from "./cx";
import { formatDuration, formatMoney } from "./format";
import { Dot, type Tone } from "./surface";

const grades: Record<Grade, string> = { A: "bg-ok-soft text-ok", B: "bg-ok-soft text-ok", C: "bg-active text-ink", D: "bg-active text-ink-2", E: "bg-bad-soft text-bad" };
/** A to E, with its meaning for who can't know it. */
export function GradeBadge({ grade, large }: { grade: Grade; large?: boolean }) {
  const t = useT("models");
  const name = t("grade", { grade, text: t(`grade_${grade}`) });
  return <span role="img" aria-label={name} title={name} className={cx("inline-flex shrink-0 items-center justify-center rounded-sm font-semibold", grades[grade], large ? "size-8 text-lg" : "size-5 text-sm")}>{grade}</span>;
}

const micros = (price: number) => formatMoney(price);
/** What a million tokens cost. */
export function PriceText({ price, className }: { price: Price | null | undefined; className?: string }) {
  const t = useT("models");
  if (!price) return <span className={className}>{t("price_none")}</span>;
  if (price.input === 0 && price.output === 0 && price.cached === 0) return <span className={className}>{t("price_free")}</span>;
  return <span className={cx("tabular", className)} title={t("price_per", { cached: micros(price.cached) })}>{t("price", { input: micros(price.input), output: micros(price.output) })}</span>;
}

const breakers: Record<ConnectionHealth["breaker"], Tone> = { closed: "ok", open: "bad", half_open: "accent" };
/** Whether a connection is asked at the moment. `undefined`: nothing is known of it. */
export function BreakerState({ health }: { health: Pick<ConnectionHealth, "breaker" | "retry_in_ms" | "requests"> | undefined }) {
  const t = useT("models");
  const fresh = !health || (health.requests === 0 && health.breaker === "closed");
  const words = fresh ? t("breaker_new") : health.breaker === "open" && health.retry_in_ms ? t("breaker_open_for", { time: formatDuration(health.retry_in_ms) }) : t(`breaker_${health.breaker}`);
  return <span className="inline-flex items-center gap-1.5 text-sm whitespace-nowrap text-ink-2"><Dot tone={fresh ? "neutral" : breakers[health.breaker]} busy={!fresh && health.breaker === "half_open"} />{words}</span>;
}

const fills: Record<"accent" | "ok" | "warn" | "bad" | "neutral", string> = { accent: "fill-accent", ok: "fill-ok", warn: "fill-warn-line", bad: "fill-bad", neutral: "fill-ink-3" };
/** A thin bar of parts, each 0 to 1 of the whole. Drawn, so that it needs no style. */
export function Meter({ parts, label, text, className }: { parts: { share: number; tone: keyof typeof fills; faint?: boolean }[]; label: string; text?: string; className?: string }) {
  const clamp = (share: number) => Math.min(1, Math.max(0, Number.isFinite(share) ? share : 0));
  const whole = clamp(parts.reduce((sum, part) => sum + clamp(part.share), 0));
  let from = 0;
  return (
    <svg role="meter" aria-label={label} aria-valuemin={0} aria-valuemax={100} aria-valuenow={Math.round(whole * 100)} aria-valuetext={text} viewBox="0 0 100 6" preserveAspectRatio="none" className={cx("block h-1.5 w-full rounded-full bg-active", className)}>
      {parts.map((part, index) => {
        const width = Math.min(clamp(part.share), 1 - from) * 100;
        const x = from * 100;
        from += width / 100;
        return <rect key={index} x={x} y={0} width={width} height={6} className={fills[part.tone]} opacity={part.faint ? 0.45 : 1} />;
      })}
    </svg>
  );
}
