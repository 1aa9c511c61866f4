import { Link, useNavigate, useParams, useSearch } from "@tanstack/react-router";
import { ArrowLeft, PencilLine, X } from "lucide-react";
import { useEffect, useRef, useState } from "react";
import { isOperator, useDomains, useMe, useViews } from "@/api/hooks";
import type { Row } from "@/api/types";
import { useT } from "@/i18n";
import { Button, ButtonLink, cx, EmptyState, ErrorState, IconButton, Page, Skeleton, Switch } from "@/ui";
import { domainPath } from "../parts/links";
import { useLeaving } from "../parts/useLeaving";
import { closeTab, type At, firstTabs, goBack, openPlace, replaceTop, type Tabs, topOf } from "./render";
import { ViewPane } from "./ViewPane";

const EVERY = 10_000;

/** The row that an address names. */
const atOf = (row: unknown): At => (typeof row === "object" && row !== null && !Array.isArray(row) && Object.keys(row).length > 0 ? { kind: "row", where: row as Row } : null);

/** A view as an application: its records open beside it. */
export function ViewPage() {
  const { viewName = "" } = useParams({ strict: false }) as { viewName?: string };
  const { row } = useSearch({ strict: false }) as { row?: unknown };
  return <Application key={viewName} name={viewName} first={atOf(row)} />;
}

function Application({ name, first }: { name: string; first: At }) {
  const t = useT("data");
  const navigate = useNavigate();
  const operator = isOperator(useMe().data);
  const views = useViews();
  const domains = useDomains();
  const [state, setState] = useState<Tabs>(() => firstTabs(name, first));
  const [auto, setAuto] = useState(false);
  const dirty = useRef(new Set<number>());
  const { leave, question } = useLeaving();
  const [, redraw] = useState(0);
  const root = topOf(state.tabs[0]!).at;
  // A record that is shown has an address of its own.
  useEffect(() => void navigate({ to: ".", replace: true, search: (root?.kind === "row" ? { row: root.where } : {}) as never }), [JSON.stringify(root)]);
  useEffect(() => {
    const warn = (event: BeforeUnloadEvent) => dirty.current.size > 0 && event.preventDefault();
    addEventListener("beforeunload", warn);
    return () => removeEventListener("beforeunload", warn);
  }, []);
  const back = <ButtonLink to="/data" variant="quiet" size="sm" icon={<ArrowLeft aria-hidden className="size-4" />} aria-label={t("back_to_data")} />;
  const error = views.error ?? domains.error;
  const found = views.data?.find((one) => one.name === name);
  if (error && !views.data) return <Page title={name} back={back}><ErrorState error={error} onRetry={() => (void views.refetch(), void domains.refetch())} /></Page>;
  if (!views.data || !domains.data) return <Page title={name} back={back}><Skeleton rows={8} /></Page>;
  if (!found) return <Page title={name} back={back}><EmptyState title={t("view_gone", { view: name })} action={<ButtonLink to="/data">{t("back_to_data")}</ButtonLink>}>{t("view_gone_text")}</EmptyState></Page>;
  const titleOf = (view: string, at: At) => {
    const title = views.data.find((one) => one.name === view)?.title ?? view;
    return at?.kind === "row" ? `${title} · ${Object.values(at.where).map(String).join(" · ")}` : at?.kind === "new" ? `${title} · ${t("new_row")}` : title;
  };
  const setDirty = (id: number, now: boolean) => {
    if (dirty.current.has(id) === now) return;
    if (now) dirty.current.add(id);
    else dirty.current.delete(id);
    redraw((n) => n + 1);
  };
  return (
    <Page
      title={found.title}
      back={back}
      width="full"
      actions={
        <>
          <Switch label={t("auto_refresh")} checked={auto} onChange={setAuto} />
          <Link to={domainPath(found.domain)} className="text-sm text-accent-ink underline underline-offset-2">{t("ask_domain", { domain: found.domain })}</Link>
          {operator && <ButtonLink to="/data/editor" search={{ kind: "view", name } as never} size="sm" icon={<PencilLine aria-hidden className="size-3.5" />}>{t("edit_text")}</ButtonLink>}
        </>
      }
    >
      {state.tabs.length > 1 && (
        <div role="tablist" aria-label={t("open_records")} className="mb-4 flex gap-1 overflow-x-auto border-b border-line">
          {state.tabs.map((tab) => {
            const active = tab.id === state.active;
            const place = topOf(tab);
            return (
              <span key={tab.id} className={cx("-mb-px flex shrink-0 items-center border-b-2", active ? "border-accent text-ink" : "border-transparent text-ink-3")}>
                <button type="button" role="tab" id={`view-tab-${tab.id}`} aria-selected={active} aria-controls={`view-panel-${tab.id}`} onClick={() => setState({ ...state, active: tab.id })} className="max-w-64 truncate px-2 py-2 text-base hover:text-ink focus-visible:outline-offset-[-2px]">{titleOf(place.view, place.at)}{dirty.current.has(tab.id) && <span aria-label={t("not_saved")}> •</span>}</button>
                {tab.id !== 1 && <IconButton size="sm" label={t("close_tab", { tab: titleOf(place.view, place.at) })} onClick={() => leave(dirty.current.has(tab.id), () => setState((old) => closeTab(old, tab.id)))}><X /></IconButton>}
              </span>
            );
          })}
        </div>
      )}
      {state.tabs.map((tab) => {
        const place = topOf(tab);
        const view = views.data.find((one) => one.name === place.view);
        // Hidden ones stay as they are: what was typed in them is kept.
        return (
          <div key={tab.id} hidden={tab.id !== state.active} {...(state.tabs.length > 1 && { role: "tabpanel", id: `view-panel-${tab.id}`, "aria-labelledby": `view-tab-${tab.id}` })}>
            {tab.stack.length > 1 && <Button size="sm" variant="quiet" className="mb-3" icon={<ArrowLeft aria-hidden className="size-4" />} onClick={() => leave(dirty.current.has(tab.id), () => setState(goBack))}>{t("back")}</Button>}
            {view ? (
              <ViewPane
                key={`${place.view}-${tab.stack.length}`}
                view={view.view}
                at={place.at}
                domains={domains.data}
                viewDomain={(other) => views.data.find((one) => one.name === other)?.domain}
                every={auto && tab.id === state.active ? EVERY : 0}
                onOpen={(next, asTab) => leave(!asTab && dirty.current.has(tab.id), () => setState((old) => openPlace({ ...old, active: tab.id }, next, asTab)))}
                onAt={(at) => setState((old) => replaceTop(old, tab.id, at))}
                onDirty={(now) => setDirty(tab.id, now)}
              />
            ) : (
              <EmptyState title={t("view_gone", { view: place.view })}>{t("view_gone_text")}</EmptyState>
            )}
          </div>
        );
      })}
      {question}
    </Page>
  );
}
