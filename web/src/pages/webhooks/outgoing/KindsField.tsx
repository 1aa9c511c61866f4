import type { HappeningKind } from "@/api/types";
import { useT } from "@/i18n";
import { Checkbox } from "@/ui";
import { GROUPS, type Group, isBackup, kindKey } from "./services";

type Props = { kinds: HappeningKind[]; /** Backups are told to them only. */ admin: boolean; error: string | undefined; onChange: (kinds: HappeningKind[]) => void };

/** What is told, in groups; nothing chosen is everything. */
export function KindsField({ kinds, admin, error, onChange }: Props) {
  const t = useT("subscriptions");
  const offered = (group: Group) => (GROUPS[group] as readonly HappeningKind[]).filter((kind) => admin || !isBackup(kind) || kinds.includes(kind));
  const put = (kind: HappeningKind, on: boolean) => onChange(on ? [...kinds, kind] : kinds.filter((one) => one !== kind));
  return (
    <fieldset className="min-w-0">
      <legend className="text-sm font-medium">{t("kinds")}</legend>
      <p role={error ? "alert" : undefined} className={error ? "mt-0.5 text-xs text-bad" : "mt-0.5 text-xs text-ink-3"}>{error ?? t("kinds_hint")}</p>
      <div className="mt-3 grid gap-x-6 gap-y-4 sm:grid-cols-2">
        {(Object.keys(GROUPS) as Group[]).map((group) => (
          <div key={group} role="group" aria-label={t(`group_${group}`)} className="flex flex-col gap-2 max-md:gap-3">
            <p aria-hidden className="text-xs font-medium text-ink-3">{t(`group_${group}`)}</p>
            {offered(group).map((kind) => <Checkbox key={kind} checked={kinds.includes(kind)} onChange={(on) => put(kind, on)} label={t(kindKey(kind)!)} />)}
            {group === "data" && admin && <p className="text-xs text-ink-3">{t("backup_hint")}</p>}
          </div>
        ))}
      </div>
    </fieldset>
  );
}
