import { ChartColumn, Download, Table2 } from "lucide-react";
import { lazy, Suspense, useMemo, useState } from "react";
import { useT } from "@/i18n";
import { Button, CodeBlock, cx, formatDuration, formatNumber, Skeleton, Time, toast } from "@/ui";
import { type Answer, wayOf } from "./answer";
import { AnswerTable, type Sort } from "./AnswerTable";
import { cellText } from "./cell";
import { chartOf } from "./chart-data";
import { csvOf, download } from "./csv";
import { VerifyButton } from "./VerifyButton";
import { xlsxOf } from "./xlsx";

const lostChart = { default: () => <></> };
/** A server that is away takes no more than the picture: the table stays. */
const Chart = lazy<typeof import("./Chart").default>(() => import("./Chart").catch(() => lostChart));

type Props = { answer: Answer; sort?: Sort | undefined; onSort?: (field: string) => void; sortable?: (field: string) => boolean; compact?: boolean };

/** An answer as its shape asks for: a number, a row, a table or a chart. */
export function AnswerView({ answer, sort, onSort, sortable, compact }: Props) {
  const t = useT("data");
  const words = { yes: t("yes"), no: t("no") };
  const way = wayOf(answer);
  const chart = useMemo(() => (way === "series" ? chartOf(answer) : null), [answer, way]);
  const [asTable, setAsTable] = useState(false);
  const caption = answer.domain ? t("rows_of", { domain: answer.domain }) : t("rows");
  const table = <AnswerTable caption={caption} columns={answer.columns} rows={answer.rows} sort={sort} onSort={onSort} {...(sortable && { sortable })} {...(compact && { compact })} />;
  if (way === "empty") return <p data-shape="empty" className="px-1 py-4 text-base text-ink-2">{t("empty_answer")}</p>;
  if (way === "number" && answer.shape.shape === "number") {
    const { column } = answer.shape;
    const value = answer.rows[0]?.[column];
    const text = typeof value === "number" ? formatNumber(value) : cellText(value, answer.columns[column]?.kind ?? "", null, words);
    return <p data-shape="number" className="flex flex-col px-1 py-2"><span className={cx("font-semibold tabular", compact ? "text-xl" : "text-2xl")}>{text || "–"}</span><span className="text-sm text-ink-3">{answer.columns[column]?.name}</span></p>;
  }
  if (way === "row") {
    return (
      <dl data-shape="row" className="grid grid-cols-[minmax(6rem,max-content)_1fr] gap-x-5 gap-y-1.5 px-1 py-2 text-base">
        {answer.columns.map((column, at) => <div key={at} className="contents"><dt className="text-ink-3 wrap-anywhere">{column.name}</dt><dd className="min-w-0 wrap-anywhere whitespace-pre-wrap tabular">{cellText(answer.rows[0]?.[at], column.kind, null, words) || "–"}</dd></div>)}
      </dl>
    );
  }
  if (!chart) return <div data-shape="table">{table}</div>;
  return (
    <div data-shape="series" className="flex flex-col gap-2">
      <div role="group" aria-label={t("shown_as")} className="flex gap-1 self-start">
        <Button size="sm" variant={asTable ? "quiet" : "default"} aria-pressed={!asTable} icon={<ChartColumn aria-hidden className="size-3.5" />} onClick={() => setAsTable(false)}>{t("as_chart")}</Button>
        <Button size="sm" variant={asTable ? "default" : "quiet"} aria-pressed={asTable} icon={<Table2 aria-hidden className="size-3.5" />} onClick={() => setAsTable(true)}>{t("as_table")}</Button>
      </div>
      {asTable ? table : <Suspense fallback={<Skeleton rows={5} className="h-70" />}><Chart data={chart} label={t("chart_label", { y: chart.yName, x: chart.xName, count: chart.x.length })} /></Suspense>}
    </div>
  );
}

/** What an answer stands on: rows, freshness, query, statement; and the way out of it. */
export function AnswerSource({ answer, open }: { answer: Answer; open?: boolean }) {
  const t = useT("data");
  const count = answer.count ?? answer.rows.length;
  const name = answer.domain || "rows";
  const toExcel = () => void xlsxOf(answer.columns, answer.rows).then((file) => download(`${name}.xlsx`, file), () => toast({ title: t("export_failed"), tone: "bad" }));
  return (
    <div className="flex min-w-0 flex-col gap-1 text-sm text-ink-3">
      <div className="flex flex-wrap items-center gap-x-4 gap-y-1">
        <span className="tabular">{t(answer.truncated ? "row_count_more" : "row_count", { count })}</span>
        {answer.read_at !== undefined && <span>{t("read_at")} <Time relative at={answer.read_at} /></span>}
        {answer.took_ms !== undefined && <span className="tabular">{t("took", { time: answer.took_ms < 10 ? `${answer.took_ms.toFixed(1)} ms` : formatDuration(answer.took_ms) })}</span>}
        {answer.rows.length > 0 && <Button size="sm" variant="quiet" icon={<Download aria-hidden className="size-3.5" />} onClick={() => download(`${name}.csv`, csvOf(answer.columns, answer.rows))}>{t("export_csv")}</Button>}
        {answer.rows.length > 0 && <Button size="sm" variant="quiet" icon={<Download aria-hidden className="size-3.5" />} onClick={toExcel}>{t("export_xlsx")}</Button>}
        <VerifyButton answer={answer} />
      </div>
      {(answer.query !== null || answer.sql !== "") && (
        <details open={open} className="group/source">
          <summary className="w-fit rounded-md text-sm text-ink-3 hover:text-ink">{t("query_and_sql")}</summary>
          {answer.query !== null && <CodeBlock language="json" text={JSON.stringify(answer.query, null, 2)} className="my-2" />}
          {answer.sql !== "" && <CodeBlock language="sql" text={answer.sql} className="my-2" />}
        </details>
      )}
    </div>
  );
}
