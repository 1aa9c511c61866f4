import { Link, useNavigate } from "@tanstack/react-router";
import { Plus, SearchX, UsersRound } from "lucide-react";
import { useState } from "react";
import { isAdmin, isOperator, useGroups, useMe } from "@/api/hooks";
import type { Group } from "@/api/types";
import { useT } from "@/i18n";
import { Badge, Button, EmptyState, Page, PagedList, SearchInput, Skeleton } from "@/ui";
import { useFilters, useTyped } from "../runs/parts/filters";
import { GroupDialog } from "./parts/GroupDialog";

/** Groups of users, which have grants together. */
export function GroupsPage() {
  const t = useT("groups");
  const { data: me } = useMe();
  if (me && isOperator(me)) return <Listed admin={isAdmin(me)} />;
  return <Page title={t("title")} width="text">{me ? <EmptyState icon={<UsersRound />} title={t("not_allowed")}>{t("not_allowed_text")}</EmptyState> : <Skeleton rows={6} />}</Page>;
}

function Listed({ admin }: { admin: boolean }) {
  const t = useT("groups");
  const navigate = useNavigate();
  const [{ q }, set] = useFilters(["q"] as const);
  const [typed, type] = useTyped(q, (value) => set({ q: value }));
  const list = useGroups(q.trim() ? { search: q.trim() } : {});
  const [making, setMaking] = useState(false);
  const make = admin && <Button size="sm" variant="primary" icon={<Plus aria-hidden className="size-4" />} onClick={() => setMaking(true)}>{t("new")}</Button>;
  return (
    <Page title={t("title")} lead={t("lead")} width="text" actions={make}>
      {(q !== "" || list.items.length > 0) && <div role="search" className="mb-3"><SearchInput label={t("search")} maxLength={200} value={typed} onChange={type} /></div>}
      <PagedList
        list={list}
        empty={
          <div className="rounded-lg border border-line bg-surface">
            {q ? <EmptyState icon={<SearchX />} title={t("none_found")} action={<Button size="sm" onClick={() => set({ q: "" })}>{t("show_all")}</Button>} /> : <EmptyState icon={<UsersRound />} title={t("empty_title")}>{t(admin ? "empty_text" : "empty_operator")}</EmptyState>}
          </div>
        }
      >
        <ul aria-label={t("title")} className="divide-y divide-line rounded-lg border border-line bg-surface">{list.items.map((group) => <Row key={group.id} group={group} />)}</ul>
      </PagedList>
      {making && <GroupDialog group={null} onClose={() => setMaking(false)} onMade={(group) => void navigate({ to: "/groups/$groupId", params: { groupId: group.id } })} />}
    </Page>
  );
}

function Row({ group }: { group: Group }) {
  const t = useT("groups");
  return (
    <li className="relative flex items-start gap-3 px-4 py-3 transition-colors first:rounded-t-lg last:rounded-b-lg hover:bg-hover">
      <div className="min-w-0 flex-1">
        <h2 className="flex flex-wrap items-center gap-2 text-base font-semibold">
          {/* The whole row opens the group. */}
          <Link to="/groups/$groupId" params={{ groupId: group.id }} className="wrap-anywhere after:absolute after:inset-0 focus-visible:outline-none focus-visible:after:outline-2 focus-visible:after:outline-focus">{group.name}</Link>
          {group.source !== null && <Badge>{t("kept_by", { source: group.source })}</Badge>}
        </h2>
        {group.description && <p className="text-sm text-ink-2 wrap-anywhere">{group.description}</p>}
      </div>
      <span className="shrink-0 text-sm text-ink-3 tabular">{t("members_count", { count: group.members })}</span>
    </li>
  );
}
