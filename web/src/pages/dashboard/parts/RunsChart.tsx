import { currentLanguage, useT } from "@/i18n";
import type { Dashboard } from "@/api/types";
import { cx, formatNumber } from "@/ui";
import { ceiling } from "../../usage/parts/range";
import { barsOf } from "./bars";

const WIDTH = 760;
const HEIGHT = 180;
const LEFT = 36;
const TOP = 8;
const BOTTOM = 22;
const FILLS = ["fill-ok", "fill-bad", "fill-ink-3"] as const;

/** Runs by the time at which they began. */
export function RunsChart({ dashboard }: { dashboard: Dashboard }) {
  const t = useT("dashboard");
  const bars = barsOf(dashboard.runs);
  const names = [t("completed"), t("failed"), t("other")];
  const top = Math.max(2, ceiling(Math.max(0, ...bars.map((bar) => bar.sum))));
  const high = HEIGHT - TOP - BOTTOM;
  const y = (value: number) => TOP + high * (1 - value / top);
  const step = (WIDTH - LEFT) / Math.max(1, bars.length);
  const width = Math.max(2, Math.min(22, step * 0.7));
  const label = (at: number) => new Date(at).toLocaleString(currentLanguage(), dashboard.period === "day" ? { hour: "2-digit", minute: "2-digit" } : { day: "numeric", month: "short" });
  const every = Math.ceil(bars.length / 8);
  return (
    <figure className="min-w-0">
      <svg viewBox={`0 0 ${WIDTH} ${HEIGHT}`} role="img" aria-label={t("chart", { count: dashboard.totals.started })} className="block h-auto w-full">
        {[0, 0.5, 1].map((share) => (
          <g key={share}>
            <line x1={LEFT} x2={WIDTH} y1={y(top * share)} y2={y(top * share)} className="stroke-line" strokeWidth={1} />
            <text x={LEFT - 6} y={y(top * share) + 4} textAnchor="end" className="fill-ink-3 text-[11px]">{formatNumber(top * share)}</text>
          </g>
        ))}
        {bars.map((bar, index) => {
          const x = LEFT + index * step + (step - width) / 2;
          let under = 0;
          return (
            <g key={bar.at}>
              <title>{`${label(bar.at)}: ${bar.parts.map((count, part) => `${formatNumber(count)} ${names[part]}`).join(", ")}`}</title>
              <rect x={LEFT + index * step} y={TOP} width={step} height={high} className="fill-transparent hover:fill-hover" />
              {bar.parts.map((count, part) => {
                const from = under;
                under += count;
                return count > 0 ? <rect key={FILLS[part]} x={x} y={y(under)} width={width} height={Math.max(0.75, y(from) - y(under))} className={cx(FILLS[part], "pointer-events-none")} /> : null;
              })}
              {index % every === 0 && <text x={LEFT + index * step + step / 2} y={HEIGHT - 6} textAnchor="middle" className="fill-ink-3 text-[11px]">{label(bar.at)}</text>}
            </g>
          );
        })}
      </svg>
      <figcaption>
        <ul className="flex flex-wrap gap-x-4 gap-y-1 pt-1 text-xs text-ink-2">
          {names.map((name, part) => <li key={name} className="flex items-center gap-1.5"><svg aria-hidden viewBox="0 0 8 8" className="size-2"><rect width={8} height={8} rx={2} className={FILLS[part]} /></svg>{name}</li>)}
        </ul>
      </figcaption>
    </figure>
  );
}
