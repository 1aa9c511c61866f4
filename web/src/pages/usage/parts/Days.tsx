import { useEffect, useRef, useState } from "react";
import { currentLanguage, useT } from "@/i18n";
import type { UsageRow } from "@/api/types";
import { cx, formatMoney, formatNumber, formatTokens } from "@/ui";
import { ceiling } from "./range";

export const MEASURES = ["cost", "tokens", "calls"] as const;
export type Measure = (typeof MEASURES)[number];

type Part = { name: string; fill: string; of: (row: UsageRow) => number };
const shows: Record<Measure, (value: number) => string> = { cost: formatMoney, tokens: formatTokens, calls: formatNumber };

function useParts(measure: Measure): Part[] {
  const t = useT("usage");
  if (measure === "cost") return [{ name: t("cost"), fill: "fill-accent", of: (row) => row.cost_micros }];
  if (measure === "calls") return [{ name: t("calls_ok"), fill: "fill-accent", of: (row) => row.calls - row.failed }, { name: t("calls_failed"), fill: "fill-bad", of: (row) => row.failed }];
  return [
    { name: t("part_cached"), fill: "fill-ok", of: (row) => row.cached_tokens },
    { name: t("part_prompt"), fill: "fill-accent", of: (row) => row.prompt_tokens - row.cached_tokens },
    { name: t("part_reply"), fill: "fill-warn-line", of: (row) => row.completion_tokens },
  ];
}

const short = (day: string) => new Date(`${day}T00:00:00Z`).toLocaleDateString(currentLanguage(), { day: "numeric", month: "short", timeZone: "UTC" });

const HEIGHT = 200;
const LEFT = 52;
const BOTTOM = 22;
const TOP = 8;

/** The width of an element, px: drawings keep the size of their letters. */
function useWidth() {
  const box = useRef<HTMLElement>(null);
  const [width, setWidth] = useState(640);
  useEffect(() => {
    if (!box.current) return;
    const watch = new ResizeObserver(([entry]) => entry && setWidth(Math.max(240, Math.round(entry.contentRect.width))));
    watch.observe(box.current);
    return () => watch.disconnect();
  }, []);
  return [box, width] as const;
}

/** Bars, one a day. The table beside it says the same in words. */
export function DayChart({ rows, measure }: { rows: UsageRow[]; measure: Measure }) {
  const t = useT("usage");
  const parts = useParts(measure);
  const [box, width] = useWidth();
  const sum = (row: UsageRow) => parts.reduce((all, part) => all + Math.max(0, part.of(row)), 0);
  const top = ceiling(Math.max(...rows.map(sum)));
  const show = shows[measure];
  const step = (width - LEFT) / rows.length;
  const bar = Math.max(1, Math.min(28, step * 0.72));
  const high = HEIGHT - TOP - BOTTOM;
  const y = (value: number) => TOP + high * (1 - value / top);
  const every = Math.ceil(rows.length / Math.max(2, Math.floor((width - LEFT) / 70)));
  return (
    <figure ref={box} className="min-w-0">
      <svg viewBox={`0 0 ${width} ${HEIGHT}`} role="img" aria-label={t("chart_label", { measure: t(`measure_${measure}`), days: rows.length })} className="block h-auto w-full">
        {[0, 0.5, 1].map((share) => (
          <g key={share}>
            <line x1={LEFT} x2={width} y1={y(top * share)} y2={y(top * share)} className="stroke-line" strokeWidth={1} />
            <text x={LEFT - 6} y={y(top * share) + 4} textAnchor="end" className="fill-ink-3 text-[11px]">{show(top * share)}</text>
          </g>
        ))}
        {rows.map((row, index) => {
          const x = LEFT + index * step + (step - bar) / 2;
          let under = 0;
          return (
            <g key={row.group}>
              <title>{`${short(row.group)}: ${show(sum(row))}`}</title>
              {/* The whole column answers the pointer, also where the bar is low. */}
              <rect x={LEFT + index * step} y={TOP} width={step} height={high} className="fill-transparent hover:fill-hover" />
              {parts.map((part) => {
                const value = Math.max(0, part.of(row));
                const from = under;
                under += value;
                return value > 0 ? <rect key={part.name} x={x} y={y(under)} width={bar} height={Math.max(0.75, y(from) - y(under))} className={cx(part.fill, "pointer-events-none")} /> : null;
              })}
              {index % every === 0 && <text x={LEFT + index * step + step / 2} y={HEIGHT - 6} textAnchor="middle" className="fill-ink-3 text-[11px]">{short(row.group)}</text>}
            </g>
          );
        })}
      </svg>
      {parts.length > 1 && (
        <figcaption>
          <ul className="flex flex-wrap gap-x-4 gap-y-1 pt-1 text-xs text-ink-2">
            {parts.map((part) => <li key={part.name} className="flex items-center gap-1.5"><svg aria-hidden viewBox="0 0 8 8" className="size-2"><rect width={8} height={8} rx={2} className={part.fill} /></svg>{part.name}</li>)}
          </ul>
        </figcaption>
      )}
    </figure>
  );
}

/** The same days as numbers, newest first. */
export function DayTable({ rows }: { rows: UsageRow[] }) {
  const t = useT("usage");
  const heads = [t("day"), t("calls"), t("tokens"), t("cost")];
  return (
    <div tabIndex={0} role="region" aria-label={t("by_day")} className="max-h-56 overflow-y-auto rounded-md border border-line">
      <table className="w-full text-sm tabular">
        <caption className="sr-only">{t("by_day")}</caption>
        <thead className="sticky top-0 bg-surface"><tr className="border-b border-line text-xs text-ink-3">{heads.map((head, index) => <th key={head} scope="col" className={cx("px-2.5 py-1.5 font-medium", index === 0 ? "text-left" : "text-right")}>{head}</th>)}</tr></thead>
        <tbody>
          {[...rows].reverse().map((row) => (
            <tr key={row.group} className={cx("border-b border-line last:border-0", row.calls === 0 && "text-ink-3")}>
              <th scope="row" className="px-2.5 py-1 text-left font-normal whitespace-nowrap">{short(row.group)}</th>
              <td className="px-2.5 py-1 text-right">{formatNumber(row.calls)}</td>
              <td className="px-2.5 py-1 text-right">{formatTokens(row.prompt_tokens + row.completion_tokens)}</td>
              <td className="px-2.5 py-1 text-right">{formatMoney(row.cost_micros)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
