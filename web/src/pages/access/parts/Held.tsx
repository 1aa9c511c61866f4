import { Link } from "@tanstack/react-router";
import { Bot, Cable, Files, KeyRound, Puzzle } from "lucide-react";
import type { ReactNode } from "react";
import { useHeldGrants } from "@/api/hooks";
import type { HeldGrant, ResourceKind } from "@/api/types";
import { useT } from "@/i18n";
import { Badge, ErrorState, Skeleton, Time } from "@/ui";

const icons: Record<ResourceKind, ReactNode> = { agent: <Bot aria-hidden />, skill: <Puzzle aria-hidden />, connection: <Cable aria-hidden />, credential: <KeyRound aria-hidden />, collection: <Files aria-hidden /> };

/** All grants of somebody and of their groups. */
export function Held({ user, none }: { user: string; none: string }) {
  const t = useT("access");
  const held = useHeldGrants(user);
  if (held.error) return <ErrorState inline error={held.error} onRetry={() => void held.refetch()} />;
  if (!held.data) return <Skeleton rows={3} />;
  if (held.data.length === 0) return <p className="text-base text-ink-3">{none}</p>;
  return (
    <ul aria-label={t("grants")} className="divide-y divide-line rounded-lg border border-line bg-surface">
      {held.data.map((grant) => (
        <li key={`${grant.kind}${grant.id}${grant.group ?? ""}`} className="flex items-start gap-3 px-3 py-2">
          <span className="mt-1 shrink-0 text-ink-3 [&>svg]:size-4">{icons[grant.kind]}</span>
          <span className="min-w-0 flex-1">
            <span className="block text-base wrap-anywhere"><span className="sr-only">{t(`kind_${grant.kind}`)} </span><Named grant={grant} /></span>
            <span className="block text-xs text-ink-3">{grant.group === null ? t("own") : t("through", { group: grant.group })} · {t("given_by", { by: grant.given_by })} · <Time relative at={grant.given_at} /></span>
          </span>
          <Badge>{t(`level_${grant.level}`)}</Badge>
        </li>
      ))}
    </ul>
  );
}

function Named({ grant: { kind, id, name } }: { grant: HeldGrant }) {
  const t = useT("access");
  const look = "text-accent-ink hover:underline";
  if (name === null) return <span className="text-ink-3">{t("gone")}</span>;
  if (kind === "agent") return <Link to="/agents/$agentId" params={{ agentId: id }} className={look}>{name}</Link>;
  if (kind === "skill") return <Link to="/skills/$skillId" params={{ skillId: id }} className={look}>{name}</Link>;
  if (kind === "connection") return <Link to="/connections/$connectionId" params={{ connectionId: id }} className={look}>{name}</Link>;
  if (kind === "collection") return <Link to="/documents" search={{ collection: id }} className={look}>{name}</Link>;
  return <Link to="/credentials/$credentialId" params={{ credentialId: id }} className={look}>{name}</Link>;
}
