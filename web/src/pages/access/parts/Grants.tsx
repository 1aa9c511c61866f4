import { Trash2, UserRound, UsersRound } from "lucide-react";
import { useAccessActions } from "@/api/hooks";
import { levelsOf } from "@/api/reach";
import type { AccessLevel, ResourceAccess, ResourceGrant } from "@/api/types";
import { useT } from "@/i18n";
import { ErrorState, IconButton, Select, Time, toast, useErrorText } from "@/ui";

/** Who has which grant; changing and taking is done at once. */
export function Grants({ access }: { access: ResourceAccess }) {
  const t = useT("access");
  const errorText = useErrorText();
  const { give, take } = useAccessActions(access.kind, access.id);
  const named = ({ grantee, name }: ResourceGrant) => name ?? t(`gone_${grantee.type}`);
  const failed = (error: unknown) => {
    const { title, hint } = errorText(error);
    toast({ title, ...(hint && { detail: hint }), tone: "bad" });
  };
  const whom = ({ grantee }: ResourceGrant) => (grantee.type === "user" ? { user: grantee.id } : { group: grantee.id });
  const set = (grant: ResourceGrant, level: AccessLevel) => give.mutate({ ...whom(grant), level }, { onSuccess: () => toast({ title: t("given", { name: named(grant), level: t(`level_${level}`) }), about: grant.grantee.id }) });
  // By promises: the dialog may be shut when the answer comes.
  const back = (grant: ResourceGrant) => give.mutateAsync({ ...whom(grant), level: grant.level }).then(() => toast({ title: t("given", { name: named(grant), level: t(`level_${grant.level}`) }), about: grant.grantee.id }), failed);
  const end = (grant: ResourceGrant) =>
    take.mutateAsync(grant.grantee.id).then(() => toast({ title: t("taken", { name: named(grant) }), about: grant.grantee.id, ...(grant.name !== null && { undo: () => void back(grant) }) }), failed);
  if (access.grants.length === 0) return <p className="text-base text-ink-3">{t(access.restricted ? "grants_none" : "grants_none_open")}</p>;
  return (
    <>
      {give.error && <ErrorState inline error={give.error} />}
      <ul aria-label={t("grants")} className="divide-y divide-line rounded-lg border border-line bg-surface">
        {access.grants.map((grant) => (
          <li key={grant.grantee.id} className="flex flex-wrap items-center gap-x-3 gap-y-1 py-2 pr-2 pl-3">
            <span className="shrink-0 text-ink-3 [&>svg]:size-4">{grant.grantee.type === "user" ? <UserRound aria-hidden /> : <UsersRound aria-hidden />}</span>
            <span className="min-w-36 flex-1">
              <span className="block text-base wrap-anywhere"><span className="sr-only">{t(grant.grantee.type)} </span>{named(grant)}</span>
              <span className="block text-xs text-ink-3">{t("given_by", { by: grant.given_by })} · <Time relative at={grant.given_at} /></span>
            </span>
            <span className="flex items-center gap-1">
              <Select small aria-label={t("level_of", { name: named(grant) })} disabled={give.isPending || grant.name === null} value={grant.level} onChange={(event) => set(grant, event.target.value as AccessLevel)}>
                {[...new Set([...levelsOf(access.kind), grant.level])].map((level) => <option key={level} value={level}>{t(`level_${level}`)}</option>)}
              </Select>
              <IconButton size="sm" label={t("take", { name: named(grant) })} disabled={take.isPending} onClick={() => void end(grant)}><Trash2 /></IconButton>
            </span>
          </li>
        ))}
      </ul>
    </>
  );
}
