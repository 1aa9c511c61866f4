import { useNavigate } from "@tanstack/react-router";
import { Plus, SearchX, Webhook } from "lucide-react";
import { useState } from "react";
import { isOperator, mayWork, useAgents, useHooks, useMe } from "@/api/hooks";
import type { Hook, HookWithSecret } from "@/api/types";
import { useT } from "@/i18n";
import { Button, Checkbox, EmptyState, Page, PagedList, Select, Skeleton, Tabs } from "@/ui";
import { useFilters } from "../runs/parts/filters";
import { Outgoing } from "./outgoing/Outgoing";
import { PauseDialog, RemoveDialog } from "./parts/Dialogs";
import { Made } from "./parts/Made";
import { type Doing, Row } from "./parts/Row";
import { WebhookDialog } from "./parts/WebhookDialog";

const VIEWS = ["incoming", "outgoing"] as const;

/** What starts runs when somebody else's program calls, and what tells others of what happens. */
export function WebhooksPage() {
  const t = useT("webhooks");
  const { data: me } = useMe();
  if (me && mayWork(me)) return <Both operator={isOperator(me)} />;
  return <Page title={t("title")} width="text">{me ? <EmptyState icon={<Webhook />} title={t("not_allowed")}>{t("not_allowed_text")}</EmptyState> : <Skeleton rows={6} />}</Page>;
}

function Both({ operator }: { operator: boolean }) {
  const t = useT("webhooks");
  const s = useT("subscriptions");
  const [{ view }, set] = useFilters(["view", "agent_id", "mine", "deleted", "new"] as const);
  const value = view === "outgoing" ? view : "incoming";
  const content = { incoming: <Incoming operator={operator} />, outgoing: <Outgoing operator={operator} /> };
  // What is looked for in one of them says nothing about the other.
  const turn = (next: string) => set({ view: next === "outgoing" ? next : "", agent_id: "", mine: "", deleted: "", new: "" });
  return (
    <Page title={t("title")} lead={value === "outgoing" ? s("lead") : t("lead")}>
      <Tabs label={t("title")} value={value} onChange={turn} tabs={VIEWS.map((name) => ({ value: name, label: t(`tab_${name}`), content: name === value ? content[name] : null }))} />
    </Page>
  );
}

function Incoming({ operator }: { operator: boolean }) {
  const t = useT("webhooks");
  const navigate = useNavigate();
  const [filters, set] = useFilters(["agent_id", "mine", "deleted", "new"] as const);
  const { agent_id } = filters;
  const mine = operator && filters.mine !== "";
  const deleted = filters.deleted !== "";
  const list = useHooks({ ...(mine && { mine }), ...(deleted && { deleted }), ...(agent_id && { agent_id }) });
  const agents = useAgents();
  const [doing, setDoing] = useState<{ hook: Hook; what: Doing } | null>(null);
  const [made, setMade] = useState<{ answer: HookWithSecret; own: boolean } | null>(null);
  const filtered = mine || deleted || agent_id !== "";
  const close = () => setDoing(null);
  const make = () => set({ new: "1" });
  const open = (hook: Hook) => void navigate({ to: "/webhooks/$webhookId", params: { webhookId: hook.id } });
  return (
    <>
      {(filtered || list.items.length > 0) && (
        <div role="search" className="mb-3 flex flex-wrap items-center gap-x-4 gap-y-2">
          {(agents.items.length > 1 || agent_id !== "") && (
            <Select small aria-label={t("agent_filter")} className="max-md:w-full [&>select]:max-md:h-10" value={agent_id} onChange={(event) => set({ agent_id: event.target.value })}>
              <option value="">{t("agent_all")}</option>
              {agents.items.map((agent) => <option key={agent.id} value={agent.id}>{agent.name}</option>)}
            </Select>
          )}
          {operator && <Checkbox checked={mine} onChange={(on) => set({ mine: on ? "1" : "" })} label={t("mine")} />}
          <Checkbox checked={deleted} onChange={(on) => set({ deleted: on ? "1" : "" })} label={t("show_deleted")} />
          <Button size="sm" variant="primary" className="ml-auto" icon={<Plus aria-hidden className="size-4" />} onClick={make}>{t("new")}</Button>
        </div>
      )}
      <PagedList
        list={list}
        empty={
          <div className="rounded-lg border border-line bg-surface">
            {filtered ? (
              <EmptyState icon={<SearchX />} title={t(deleted ? "none_deleted" : "none_found")} action={<Button size="sm" onClick={() => set({ agent_id: "", mine: "", deleted: "" })}>{t("show_all")}</Button>} />
            ) : (
              <EmptyState icon={<Webhook />} title={t("empty_title")} action={<Button variant="primary" onClick={make}>{t("new")}</Button>}>{t("empty_text")}</EmptyState>
            )}
          </div>
        }
      >
        <ul aria-label={t("title")} className="divide-y divide-line rounded-lg border border-line bg-surface">{list.items.map((hook) => <Row key={hook.id} hook={hook} others={operator} onDo={(what) => setDoing({ hook, what })} />)}</ul>
      </PagedList>
      {filters.new !== "" && !made && <WebhookDialog hook={null} onClose={() => set({ new: "" })} onMade={(answer, own) => (setMade({ answer, own }), set({ new: "" }))} />}
      {made && <Made made={made.answer} own={made.own} onDone={() => open(made.answer.hook)} />}
      {doing?.what === "edit" && <WebhookDialog hook={doing.hook} onClose={close} />}
      {doing?.what === "pause" && <PauseDialog hook={doing.hook} onClose={close} />}
      {doing?.what === "remove" && <RemoveDialog hook={doing.hook} onClose={close} />}
    </>
  );
}
