import { Link, useNavigate, useParams } from "@tanstack/react-router";
import { ArrowLeft, Pencil, Trash2, UsersRound } from "lucide-react";
import { type ReactNode, useState } from "react";
import { ApiError } from "@/api/client";
import { isAdmin, isOperator, useGroup, useMe } from "@/api/hooks";
import type { Group } from "@/api/types";
import { useT } from "@/i18n";
import { Badge, Button, Card, EmptyState, ErrorState, IconButton, Page, Skeleton, Time } from "@/ui";
import { GroupDialog } from "./parts/GroupDialog";
import { Members } from "./parts/Members";
import { Removal } from "./parts/Removal";

/** One group: who is in it. */
export function GroupPage() {
  const t = useT("groups");
  const { groupId } = useParams({ strict: false }) as { groupId: string };
  const { data: me } = useMe();
  const back = <Link to="/groups" tabIndex={-1}><IconButton label={t("back")} className="-ml-2"><ArrowLeft /></IconButton></Link>;
  if (me && isOperator(me)) return <Loaded id={groupId} admin={isAdmin(me)} back={back} />;
  return <Page title={t("title")} back={back} width="text">{me ? <EmptyState icon={<UsersRound />} title={t("not_allowed")}>{t("not_allowed_text")}</EmptyState> : <Skeleton rows={6} />}</Page>;
}

function Loaded({ id, admin, back }: { id: string; admin: boolean; back: ReactNode }) {
  const t = useT("groups");
  const found = useGroup(id);
  if (found.data) return <One group={found.data} admin={admin} back={back} />;
  const gone = found.error instanceof ApiError && found.error.status === 404;
  return (
    <Page title={t("title")} back={back} width="text">
      {gone ? <EmptyState icon={<UsersRound />} title={t("gone_title")}>{t("gone_text")}</EmptyState> : found.error ? <ErrorState error={found.error} onRetry={() => void found.refetch()} /> : <Skeleton rows={6} />}
    </Page>
  );
}

function One({ group, admin, back }: { group: Group; admin: boolean; back: ReactNode }) {
  const t = useT("groups");
  const navigate = useNavigate();
  const [editing, setEditing] = useState(false);
  const [removing, setRemoving] = useState(false);
  const kept = group.source !== null;
  return (
    <Page
      title={group.name}
      back={back}
      width="text"
      actions={
        admin && (
          <>
            {!kept && <Button size="sm" icon={<Pencil aria-hidden className="size-3.5" />} onClick={() => setEditing(true)}>{t("edit")}</Button>}
            <IconButton size="sm" label={t("remove")} onClick={() => setRemoving(true)}><Trash2 /></IconButton>
          </>
        )
      }
    >
      <div className="flex flex-col gap-5">
        <div className="flex flex-col gap-1.5">
          {group.description && <p className="text-base text-ink-2 whitespace-pre-wrap wrap-anywhere">{group.description}</p>}
          <p className="flex flex-wrap items-center gap-2 text-sm text-ink-3">{group.source !== null && <Badge>{t("kept_by", { source: group.source })}</Badge>}<span>{t("made")} <Time relative at={group.created_at} /></span></p>
          {group.source !== null && <p className="rounded-lg bg-sunken px-4 py-2.5 text-base text-ink-2">{t("kept_text", { source: group.source })}</p>}
          {!admin && !kept && <p className="rounded-lg bg-sunken px-4 py-2.5 text-base text-ink-2">{t("read_only")}</p>}
        </div>
        <Card title={t("members_title", { count: group.members })} pad={false}><Members group={group} mayChange={admin && !kept} admin={admin} /></Card>
      </div>
      {editing && <GroupDialog group={group} onClose={() => setEditing(false)} />}
      {removing && <Removal group={group} onClose={() => setRemoving(false)} onRemoved={() => void navigate({ to: "/groups" })} />}
    </Page>
  );
}
