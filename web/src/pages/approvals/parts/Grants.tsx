import { KeyRound } from "lucide-react";
import { useGrants, useMe, useRevokeGrant, isOperator } from "@/api/hooks";
import type { GrantScope, StandingGrant } from "@/api/types";
import { useT } from "@/i18n";
import { Badge, Button, EmptyState, formatAgo, formatExact, PagedList, toast, useErrorText } from "@/ui";

/** Permissions that outlive a run, each with a way to end it. */
export function Grants() {
  const t = useT("approvals");
  const list = useGrants();
  const revoke = useRevokeGrant();
  const me = useMe();
  const errorText = useErrorText();
  const what = (scope: GrantScope) => (scope.kind === "tool" ? t("grant_tool", { tool: scope.name }) : scope.kind === "call" ? t("grant_call", { tool: scope.name }) : t("grant_all"));
  const end = (grant: StandingGrant) =>
    revoke.mutate(grant.id, {
      onSuccess: () => toast({ title: t("revoked") }),
      onError: (error) => {
        const { title, hint } = errorText(error);
        toast({ title, ...(hint && { detail: hint }), tone: "bad" });
      },
    });
  return (
    <div className="h-full overflow-y-auto">
      <div className="mx-auto max-w-3xl px-6 py-5 max-md:px-4">
        <div className="overflow-hidden rounded-lg border border-line bg-surface">
          <PagedList list={list} empty={<EmptyState icon={<KeyRound />} title={t("empty_grants_title")}>{t("empty_grants_text")}</EmptyState>}>
            <ul className="divide-y divide-line">
              {list.items.map((grant) => {
                const { until } = grant.grant;
                const over = typeof until === "number" && until <= Date.now();
                return (
                  <li key={grant.id} className="flex flex-wrap items-center gap-x-4 gap-y-2 px-4 py-3">
                    <div className="min-w-0 flex-1">
                      <p className="text-base font-medium wrap-anywhere">{t("grant_line", { agent: grant.agent_name ?? grant.agent_id, what: what(grant.grant.scope) })}</p>
                      <p className="text-sm text-ink-3">{t("grant_by", { name: grant.by, when: formatAgo(grant.created_at) })}</p>
                    </div>
                    {typeof until === "number" && <Badge tone={over ? "neutral" : "warn"} title={formatExact(until)}>{over ? t("grant_ended") : t("grant_ends", { when: formatAgo(until) })}</Badge>}
                    {(isOperator(me.data) || grant.by === me.data?.email || grant.by === me.data?.name) && <Button size="sm" loading={revoke.isPending && revoke.variables === grant.id} onClick={() => end(grant)}>{t("revoke")}</Button>}
                  </li>
                );
              })}
            </ul>
          </PagedList>
        </div>
      </div>
    </div>
  );
}
