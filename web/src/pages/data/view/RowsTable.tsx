import { useQueries } from "@tanstack/react-query";
import { ChevronLeft, ChevronRight } from "lucide-react";
import { useEffect, useState } from "react";
import { api } from "@/api/client";
import { useRows } from "@/api/hooks";
import type { Choice, DomainInfo, Page, Row, TablePart, View } from "@/api/types";
import { formatOf } from "@/answer/cell";
import { AnswerTable } from "@/answer/AnswerTable";
import { useT } from "@/i18n";
import { Button, Card, ErrorState, SearchInput, Skeleton, Spinner } from "@/ui";
import { useTyped } from "../../runs/parts/filters";
import { nextOrder } from "../domain/builder";
import { columnsOf, fieldsOf, relatedOf, rowOf, selectOf } from "./render";

const ROWS = 25;

type Props = { view: View; part: TablePart; domain: DomainInfo; own: DomainInfo | undefined; record: Row | null; every: number; onSelect: (row: Row) => void; mayOpen?: boolean };

/** Names of values for the columns whose fields have choices. */
function useLabels(domain: DomainInfo, fields: readonly string[]): Map<string, ReadonlyMap<string, string>> {
  const wanted = fields.filter((name) => domain.fields.find((field) => field.name === name)?.choices);
  const results = useQueries({
    queries: wanted.map((field) => ({ queryKey: ["choices", domain.name, field], queryFn: async ({ signal }: { signal: AbortSignal }) => (await api.get<Page<Choice>>(`/api/domains/${encodeURIComponent(domain.name)}/choices/${encodeURIComponent(field)}`, { signal })).items, staleTime: 60_000, retry: false })),
  });
  return new Map(wanted.map((field, at) => [field, new Map((results[at]?.data ?? []).map((one) => [String(one.value), one.label]))]));
}

/** The rows of a table of a view: sorted, searched, by pages. */
export function RowsTable({ view, part, domain, own, record, every, onSelect, mayOpen = true }: Props) {
  const t = useT("data");
  const columns = columnsOf(part, domain);
  const fields = fieldsOf(view, part, domain);
  const related = relatedOf(view, part, own, record);
  const [order, setOrder] = useState<{ field: string; desc: boolean } | null>(null);
  const [pages, setPages] = useState<string[]>([]);
  const [words, setWords] = useState("");
  const [typed, setTyped] = useTyped(words, setWords);
  const searched = domain.fields.filter((field) => field.ops.includes("contains") && fields.includes(field.name));
  const where = [...(related.kind === "where" ? related.where : []), ...(words.trim() && searched.length > 0 ? [{ any: searched.map((field) => ({ field: field.name, op: "contains", value: words.trim() })) }] : [])];
  const query = related.kind === "all" || related.kind === "where" ? { domain: domain.name, fields, ...(where.length > 0 && { where }), ...(order && { order: [{ field: order.field, ...(order.desc && { desc: true }) }] }), limit: ROWS } : null;
  const base = JSON.stringify(query);
  // Another question begins at its first page.
  useEffect(() => setPages([]), [base]);
  const after = pages.at(-1);
  const rows = useRows(query && { ...query, ...(after && { after }) }, every);
  const labels = useLabels(domain, columns.map((column) => column.field));
  const select = selectOf(view, part);
  const title = part.domain === view.domain && view.tables.length === 1 ? null : part.domain;
  if (related.kind === "lost") return <Card title={part.domain}><p className="text-base text-warn">{t("no_relation", { domain: part.domain, own: view.domain })}</p></Card>;
  const answer = rows.data;
  const places = columns.map((column) => answer?.columns.findIndex((one) => one.name === column.field) ?? -1);
  const shown = answer && columns.map((column, at) => answer.columns[places[at]!] ?? { name: column.field, kind: "string" });
  const line = (at: number): Row => rowOf(answer?.columns ?? [], answer?.rows[at] ?? []);
  return (
    <Card
      pad={false}
      title={title ?? t("rows")}
      actions={
        <>
          {rows.isFetching && <Spinner label={t("loading_rows")} />}
          {searched.length > 0 && related.kind !== "wait" && <SearchInput className="w-48 max-md:w-32" label={t("search_rows")} value={typed} onChange={setTyped} />}
        </>
      }
    >
      {rows.error && related.kind !== "wait" ? <ErrorState inline error={rows.error} onRetry={() => void rows.refetch()} className="m-3" /> : null}
      {related.kind === "wait" ? <p className="px-4 py-3 text-base text-ink-2">{t("choose_record")}</p> : !answer || !shown ? !rows.error && <Skeleton rows={5} className="p-4" /> : answer.rows.length === 0 ? <p className="px-4 py-3 text-base text-ink-2">{t(words ? "no_rows_found" : "no_rows")}</p> : (
        <>
          <AnswerTable
            caption={t("rows_of", { domain: domain.name })}
            columns={shown}
            rows={answer.rows.map((row) => places.map((place) => row[place]))}
            cells={columns.map((column) => ({ label: column.label || column.field, width: column.width, format: formatOf(column.format), ...(labels.get(column.field) && { labels: labels.get(column.field)! }) }))}
            sort={order ?? undefined}
            onSort={(field) => setOrder((old) => nextOrder(old, field))}
            rowName={(shown) => t("open_row", { row: shown })}
            {...(select && mayOpen && { onRow: (at: number) => onSelect(line(at)) })}
          />
          {(answer.next !== null || pages.length > 0) && (
            <div className="flex items-center justify-end gap-2 border-t border-line px-3 py-1.5 text-sm text-ink-3">
              <span className="tabular">{t("page_rows", { from: pages.length * ROWS + 1, to: pages.length * ROWS + answer.rows.length })}</span>
              <Button size="sm" variant="quiet" icon={<ChevronLeft aria-hidden className="size-4" />} disabled={pages.length === 0} onClick={() => setPages(pages.slice(0, -1))}>{t("page_before")}</Button>
              <Button size="sm" variant="quiet" disabled={answer.next === null || rows.isPlaceholderData} onClick={() => answer.next !== null && setPages([...pages, answer.next])}>{t("page_next")}<ChevronRight aria-hidden className="size-4" /></Button>
            </div>
          )}
        </>
      )}
    </Card>
  );
}
