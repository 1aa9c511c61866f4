import { isAdmin, isOperator, useAccessDefaults, useMe, useSetAccessDefaults } from "@/api/hooks";
import { useT } from "@/i18n";
import { Card, ErrorState, Skeleton, Switch, toast } from "@/ui";
import { Held } from "../../access/parts/Held";

/** What is shared with whoever is logged in. */
export function OwnGrants() {
  const t = useT("settings");
  const { data: me } = useMe();
  if (!me || isOperator(me)) return null;
  return <Card title={t("sec_shared")}><div className="flex flex-col gap-3"><p className="max-w-prose text-base text-ink-2">{t("shared_text")}</p><Held user={me.id} none={t("shared_none")} /></div></Card>;
}

/** How new agents, skills and connections begin; administrators change it. */
export function NewResources() {
  const t = useT("settings");
  const { data: me } = useMe();
  const defaults = useAccessDefaults();
  const set = useSetAccessDefaults();
  const change = (new_restricted: boolean, back = false) => set.mutate({ new_restricted }, { onSuccess: () => toast({ title: t(new_restricted ? "new_closed" : "new_open"), about: "access-defaults", ...(!back && { undo: () => change(!new_restricted, true) }) }) });
  return (
    <Card title={t("sec_new")}>
      <div className="flex flex-col gap-3">
        {set.error && <ErrorState inline error={set.error} />}
        {defaults.error ? <ErrorState inline error={defaults.error} onRetry={() => void defaults.refetch()} /> : !defaults.data ? <Skeleton rows={2} /> : <Switch label={t("new_restricted")} hint={t("new_restricted_hint")} disabled={!isAdmin(me) || set.isPending} checked={defaults.data.new_restricted} onChange={(restricted) => change(restricted)} />}
      </div>
    </Card>
  );
}
