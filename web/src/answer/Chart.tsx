// Loaded when the first chart is shown: see docs/decisions/052-charts.md.
import { useEffect, useRef } from "react";
import uPlot from "uplot";
import "uplot/dist/uPlot.min.css";
import { currentLanguage, useLanguage, useT } from "@/i18n";
import { formatNumber } from "@/ui";
import { type ChartData, shortLabel } from "./chart-data";

const HEIGHT = 280;

/** A colour of the theme as the canvas takes it. */
const colour = (name: string) => getComputedStyle(document.documentElement).getPropertyValue(name).trim() || "gray";

function timeLabel(seconds: number, span: number): string {
  const date = new Date(seconds * 1000);
  const day = 86_400;
  if (span > 1_500 * day) return date.toLocaleDateString(currentLanguage(), { year: "numeric" });
  if (span > 90 * day) return date.toLocaleDateString(currentLanguage(), { year: "numeric", month: "short" });
  return date.toLocaleDateString(currentLanguage(), { month: "short", day: "numeric" });
}

function optionsOf(data: ChartData, width: number, onPoint: (at: number | null) => void): uPlot.Options {
  const bars = data.kind === "bars";
  const [ink, line, accent, soft] = [colour("--ink-3"), colour("--line"), colour("--accent"), colour("--accent-soft")];
  const font = "12px system-ui, sans-serif";
  const axis = { stroke: ink, font, grid: { stroke: line, width: 1 }, ticks: { stroke: line, width: 1, size: 4 } };
  const span = (data.x.at(-1) ?? 0) - (data.x[0] ?? 0);
  const values = data.y.filter((value) => value !== null);
  const [least, most] = [Math.min(...values), Math.max(...values)];
  // An area or a bar says how much, so it stands on nothing; only a line far from it is shown from near.
  const fromZero = bars || least < 0 || least <= most / 2;
  return {
    width,
    height: HEIGHT,
    legend: { show: false },
    cursor: { drag: { x: false, y: false }, y: false, points: { size: 7 } },
    scales: { x: { time: false, ...(bars && { range: [-0.6, data.x.length - 0.4] as [number, number] }) }, y: fromZero ? { range: [Math.min(0, least * 1.06), Math.max(0, most * 1.06) || 1] as [number, number] } : {} },
    axes: [
      {
        ...axis,
        grid: { show: false },
        ...(bars && { splits: () => data.x.filter((at) => at % Math.max(1, Math.ceil((data.x.length * 96) / Math.max(width, 1))) === 0) }),
        values: (_, splits) => splits.map((at) => (bars ? (Number.isInteger(at) ? shortLabel(data.labels[at] ?? "") : "") : data.time ? timeLabel(at, span) : formatNumber(at))),
      },
      { ...axis, size: 64, values: (_, splits) => splits.map((value) => new Intl.NumberFormat(currentLanguage(), { notation: Math.abs(value) >= 10_000 ? "compact" : "standard", maximumFractionDigits: 2 }).format(value)) },
    ],
    series: [
      {},
      { label: data.yName, stroke: accent, width: bars ? 1 : 2, ...((bars || fromZero) && { fill: bars ? accent : soft }), points: { show: !bars && data.x.length <= 60, size: 5 }, ...(bars && uPlot.paths.bars && { paths: uPlot.paths.bars({ size: [0.72, 64] }) }) },
    ],
    hooks: { setCursor: [(plot) => onPoint(plot.cursor.idx ?? null)] },
  };
}

/** A series drawn on a canvas. Its numbers are also there as a table, for those who can't see it. */
export default function Chart({ data, label }: { data: ChartData; label: string }) {
  const t = useT("data");
  const language = useLanguage();
  const place = useRef<HTMLDivElement>(null);
  const told = useRef<HTMLParagraphElement>(null);
  useEffect(() => {
    const element = place.current;
    if (!element) return;
    const onPoint = (at: number | null) => {
      const value = at === null ? undefined : data.y[at];
      if (told.current) told.current.textContent = at === null || value === undefined ? "" : `${data.labels[at]}: ${value === null ? "–" : formatNumber(value)}`;
    };
    const draw = () => new uPlot(optionsOf(data, Math.max(240, element.clientWidth), onPoint), [data.x, data.y] as uPlot.AlignedData, element);
    let plot = draw();
    const again = () => {
      plot.destroy();
      plot = draw();
    };
    let width = element.clientWidth;
    const sized = new ResizeObserver(() => {
      if (Math.abs(element.clientWidth - width) < 2) return;
      width = element.clientWidth;
      again();
    });
    sized.observe(element);
    // The canvas has the colours of the moment at which it was drawn.
    const themed = new MutationObserver(again);
    themed.observe(document.documentElement, { attributes: true, attributeFilter: ["data-theme"] });
    const dark = matchMedia("(prefers-color-scheme: dark)");
    dark.addEventListener("change", again);
    return () => {
      sized.disconnect();
      themed.disconnect();
      dark.removeEventListener("change", again);
      plot.destroy();
    };
  }, [data, language]);
  return (
    <figure className="min-w-0">
      <figcaption className="flex min-h-6 flex-wrap items-baseline gap-x-4 text-sm text-ink-2"><span>{t("chart_of", { y: data.yName, x: data.xName })}</span><p ref={told} className="font-medium text-ink tabular" /></figcaption>
      <div ref={place} role="img" aria-label={label} data-chart={data.kind} className="w-full overflow-hidden" />
      {data.left > 0 && <p className="text-xs text-ink-3">{t("chart_left", { count: data.left })}</p>}
    </figure>
  );
}
