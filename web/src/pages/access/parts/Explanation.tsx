import { useAccessExplanation } from "@/api/hooks";
import type { ResourceKind } from "@/api/types";
import { useT } from "@/i18n";
import { Badge, ErrorState, Facts, Skeleton } from "@/ui";

/** What somebody may do with something, why, and what they lack. `user` left out: whoever is logged in. */
export function Explanation({ kind, id, user }: { kind: ResourceKind; id: string; user?: string }) {
  const t = useT("access");
  const u = useT("users");
  const found = useAccessExplanation(kind, id, user);
  if (found.error) return <ErrorState inline error={found.error} onRetry={() => void found.refetch()} />;
  if (!found.data) return <Skeleton rows={3} />;
  const { because, level, missing, role, user: email } = found.data;
  return (
    <div role="status" className="rounded-lg border border-line bg-surface p-4">
      <Facts
        items={[
          [t("who"), <span key="who">{email} <Badge>{u(`role_${role}`)}</Badge></span>],
          [t("may"), <Badge key="may" tone={level === null ? "bad" : "ok"}>{level === null ? t("may_nothing") : t(`level_${level}`)}</Badge>],
          ...(because.length > 0 ? [[t("because"), <ul key="because">{because.map((why) => <li key={why}>{why}</li>)}</ul>] as [string, React.ReactNode]] : []),
          ...(missing === null ? [] : [[t("missing"), missing] as [string, React.ReactNode]]),
        ]}
      />
    </div>
  );
}
