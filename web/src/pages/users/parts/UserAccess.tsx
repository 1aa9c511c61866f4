import { Link } from "@tanstack/react-router";
import { useGroupsOfUser } from "@/api/hooks";
import type { User } from "@/api/types";
import { useT } from "@/i18n";
import { Badge, ErrorState, Sheet, Skeleton } from "@/ui";
import { Held } from "../../access/parts/Held";

/** The groups and grants of a user. */
export function UserAccess({ user, onClose }: { user: User; onClose: () => void }) {
  const t = useT("users");
  const a = useT("access");
  const groups = useGroupsOfUser(user.id);
  const above = user.role === "admin" || user.role === "operator";
  return (
    <Sheet open onOpenChange={onClose} title={t("access_title", { email: user.email })}>
      <div className="flex flex-col gap-6 p-4">
        {above && <p className="rounded-lg bg-sunken px-4 py-2.5 text-base text-ink-2">{a("above", { role: t(`role_${user.role}`) })}</p>}
        <section className="flex flex-col gap-2">
          <h3 className="text-base font-semibold">{t("groups")}</h3>
          {groups.error ? <ErrorState inline error={groups.error} onRetry={() => void groups.refetch()} /> : !groups.data ? <Skeleton rows={2} /> : groups.data.length === 0 ? <p className="text-base text-ink-3">{t("groups_none")}</p> : (
            <ul aria-label={t("groups")} className="divide-y divide-line rounded-lg border border-line bg-surface">
              {groups.data.map((group) => <li key={group.id} className="flex flex-wrap items-center gap-2 px-3 py-2 text-base"><Link to="/groups/$groupId" params={{ groupId: group.id }} className="wrap-anywhere text-accent-ink hover:underline">{group.name}</Link>{group.source !== null && <Badge>{group.source}</Badge>}</li>)}
            </ul>
          )}
        </section>
        <section className="flex flex-col gap-2">
          <h3 className="text-base font-semibold">{a("grants")}</h3>
          <Held user={user.id} none={t("grants_none")} />
        </section>
      </div>
    </Sheet>
  );
}
