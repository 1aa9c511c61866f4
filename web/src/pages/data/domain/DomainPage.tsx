import { useParams } from "@tanstack/react-router";
import { AppWindow, ArrowLeft, ChevronLeft, ChevronRight, PencilLine } from "lucide-react";
import { useEffect, useMemo, useState } from "react";
import { isOperator, useDomain, useDomains, useMe, useRows, useViews } from "@/api/hooks";
import type { DomainInfo } from "@/api/types";
import { AnswerSource, AnswerView } from "@/answer/AnswerView";
import type { Answer } from "@/answer/answer";
import { useT } from "@/i18n";
import { Button, ButtonLink, cx, ErrorState, Page, Skeleton, Spinner } from "@/ui";
import { useFilters, useTyped } from "../../runs/parts/filters";
import { entryViews, viewPath } from "../parts/links";
import { Builder } from "./Builder";
import { type Built, choosable, nextOrder, queryOf, readBuilt, writeBuilt } from "./builder";

/** The rows of a domain, asked for as somebody puts it together. */
export function DomainPage() {
  const t = useT("data");
  const { domainName = "" } = useParams({ strict: false }) as { domainName?: string };
  const domain = useDomain(domainName);
  const views = useViews();
  const operator = isOperator(useMe().data);
  const back = <ButtonLink to="/data" variant="quiet" size="sm" icon={<ArrowLeft aria-hidden className="size-4" />} aria-label={t("back_to_data")} />;
  return (
    <Page
      title={domainName}
      back={back}
      width="full"
      lead={domain.data?.scope}
      actions={
        <>
          {entryViews(views.data ?? [], domainName).map(({ name, label }) => <ButtonLink key={name} to={viewPath(name)} size="sm" icon={<AppWindow aria-hidden className="size-3.5" />}>{label}</ButtonLink>)}
          {operator && <ButtonLink to="/data/editor" search={{ kind: "domain", name: domainName } as never} size="sm" icon={<PencilLine aria-hidden className="size-3.5" />}>{t("edit_text")}</ButtonLink>}
        </>
      }
    >
      {domain.error && !domain.data ? <ErrorState error={domain.error} onRetry={() => void domain.refetch()} /> : domain.data ? <Rows key={domainName} domain={domain.data} /> : <Skeleton rows={8} />}
    </Page>
  );
}

function Rows({ domain }: { domain: DomainInfo }) {
  const t = useT("data");
  const all = useDomains();
  const [{ q }, set] = useFilters(["q"] as const);
  // What is typed is asked when typing pauses.
  const [json, setJson] = useTyped(q, (next) => set({ q: next }), 350);
  const built = useMemo(() => readBuilt(json), [json]);
  const fields = useMemo(() => choosable(domain, all.data ?? []), [domain, all.data]);
  const [pages, setPages] = useState<string[]>([]);
  useEffect(() => setPages([]), [q]);
  const after = pages.at(-1) ?? null;
  const query = useMemo(() => queryOf(readBuilt(q), domain.name, fields, after), [q, domain.name, fields, after]);
  const rows = useRows(query);
  const change = (patch: Partial<Built>) => setJson(writeBuilt({ ...built, ...patch }));
  const answer: Answer | undefined = rows.data;
  const sortable = (field: string) => built.group.length > 0 || built.aggregate.length > 0 || fields.some((one) => one.path === field && !one.many);
  return (
    <>
      <Builder domain={domain} fields={fields} built={built} onChange={change} />
      {rows.error ? <ErrorState inline error={rows.error} onRetry={() => void rows.refetch()} className="mb-3" /> : null}
      {!answer ? !rows.error && <Skeleton rows={8} className="p-4" /> : (
        <section aria-label={t("answer")} aria-busy={rows.isFetching || undefined} className="flex flex-col gap-2">
          <div className={cx("relative overflow-hidden rounded-lg border border-line bg-surface px-2 py-1 transition-opacity", (rows.isPlaceholderData || rows.error) && "opacity-60")}>
            {rows.isFetching && <Spinner label={t("loading_rows")} className="absolute top-3 right-3" />}
            <AnswerView answer={answer} sort={built.order ?? undefined} onSort={(field) => change({ order: nextOrder(built.order, field) })} sortable={sortable} />
          </div>
          <div className="grid items-start gap-2 md:grid-cols-[minmax(0,1fr)_auto]">
            <AnswerSource answer={answer} />
            {(answer.next !== null || pages.length > 0) && (
              <div className="flex items-center gap-2 text-sm text-ink-3">
                <span className="tabular">{t("page_rows", { from: pages.length * built.limit + 1, to: pages.length * built.limit + answer.rows.length })}</span>
                <Button size="sm" icon={<ChevronLeft aria-hidden className="size-4" />} disabled={pages.length === 0} onClick={() => setPages(pages.slice(0, -1))}>{t("page_before")}</Button>
                <Button size="sm" disabled={answer.next === null || rows.isPlaceholderData} onClick={() => answer.next !== null && setPages([...pages, answer.next])}>{t("page_next")}<ChevronRight aria-hidden className="size-4" /></Button>
              </div>
            )}
          </div>
        </section>
      )}
    </>
  );
}
