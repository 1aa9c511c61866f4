import { Link } from "@tanstack/react-router";
import { AppWindow, Database, FileText, Plus, Table2 } from "lucide-react";
import { isOperator, useDatasources, useDomains, useDomainSearch, useMe, useViews } from "@/api/hooks";
import { limits } from "@/api/limits";
import type { DomainInfo } from "@/api/types";
import { useT } from "@/i18n";
import { Badge, ButtonLink, EmptyState, ErrorState, SearchInput, Skeleton, Spinner } from "@/ui";
import { useFilters, useTyped } from "../runs/parts/filters";
import { Area } from "./parts/Area";
import { domainPath, entryViews, viewPath } from "./parts/links";

/** The domains that one may read, found by words, each with its views. */
export function DataPage() {
  const t = useT("data");
  const [{ q }, set] = useFilters(["q"] as const);
  const [typed, setTyped] = useTyped(q, (next) => set({ q: next }));
  const operator = isOperator(useMe().data);
  const domains = useDomains();
  const views = useViews();
  const sources = useDatasources(operator);
  const words = q.trim();
  const search = useDomainSearch(words);
  const order = words && search.data ? search.data.map((one) => one.domain) : null;
  const shown = order ? order.flatMap((name) => domains.data?.filter((one) => one.name === name) ?? []) : (domains.data ?? []);
  // A database that no domain describes yet wants that next.
  const only = sources.data?.length === 1 ? sources.data[0] : undefined;
  const next = sources.data && sources.data.length > 0
    ? <ButtonLink to="/data/sources" {...(only && { search: { describe: only.id } as never })} variant="primary" icon={<FileText aria-hidden className="size-4" />}>{t("describe_next")}</ButtonLink>
    : <ButtonLink to="/data/sources" search={{ add: 1 } as never} variant="primary" icon={<Plus aria-hidden className="size-4" />}>{t("empty_do")}</ButtonLink>;
  const add = operator && !!domains.data?.length && <ButtonLink to="/data/sources" search={{ add: 1 } as never} size="sm" icon={<Plus aria-hidden className="size-4" />}>{t("empty_do")}</ButtonLink>;
  return (
    <Area title={t("title")} lead={t("lead")} actions={add}>
      {domains.error && !domains.data ? <ErrorState error={domains.error} onRetry={() => void domains.refetch()} /> : !domains.data ? <Skeleton rows={6} /> : domains.data.length === 0 && sources.isLoading ? <Skeleton rows={6} /> : domains.data.length === 0 ? (
        <EmptyState icon={<Database />} title={t("empty_title")} action={operator && next}>{only ? t("empty_describe_named", { name: only.name }) : t(!operator ? "empty_ask" : sources.data?.length ? "empty_describe" : "empty_text")}</EmptyState>
      ) : (
        <>
          <div className="mb-4 flex items-center gap-3">
            <SearchInput className="w-full max-w-xl" label={t("search_words")} value={typed} onChange={setTyped} maxLength={limits.SchemaSearch.query.maxLength} />
            {search.isFetching && <Spinner label={t("searching")} />}
          </div>
          {search.error ? <ErrorState inline error={search.error} onRetry={() => void search.refetch()} className="mb-4" /> : null}
          {words && search.data?.length === 0 ? <p className="text-base text-ink-2">{t("search_none", { words })}</p> : (
            <ul aria-label={t("domains")} className="grid gap-3 md:grid-cols-2">
              {shown.map((domain) => <DomainCard key={domain.name} domain={domain} views={entryViews(views.data ?? [], domain.name)} read={words ? search.data?.find((one) => one.domain === domain.name)?.text : undefined} />)}
            </ul>
          )}
        </>
      )}
    </Area>
  );
}

function DomainCard({ domain, views, read }: { domain: DomainInfo; views: ReturnType<typeof entryViews>; read: string | undefined }) {
  const t = useT("data");
  return (
    <li className="flex flex-col gap-2 rounded-lg border border-line bg-surface px-4 py-3">
      <div className="flex flex-wrap items-center gap-2">
        <Table2 aria-hidden className="size-4 text-ink-3" />
        <h2 className="min-w-0 text-base font-semibold wrap-anywhere"><Link to={domainPath(domain.name)} className="hover:underline">{domain.name}</Link></h2>
        <Badge>{domain.datasource}</Badge>
        <span className="flex-1" />
        <span className="text-xs text-ink-3">{t("field_count", { count: domain.fields.length })}{!domain.write && ` · ${t("read_only")}`}</span>
      </div>
      {domain.scope && <p className="text-base text-ink-2">{domain.scope}</p>}
      {views.length > 0 && <ul aria-label={t("views_of", { domain: domain.name })} className="flex flex-wrap gap-2">{views.map((view) => <li key={view.name}><ButtonLink to={viewPath(view.name)} size="sm" icon={<AppWindow aria-hidden className="size-3.5" />}>{view.label}</ButtonLink></li>)}</ul>}
      {read && <details><summary className="w-fit rounded-md text-sm text-ink-3 hover:text-ink">{t("what_models_read")}</summary><pre tabIndex={0} className="mt-1 max-h-60 overflow-auto rounded-md border border-line bg-sunken px-3 py-2 font-mono text-xs whitespace-pre-wrap wrap-anywhere">{read}</pre></details>}
    </li>
  );
}
