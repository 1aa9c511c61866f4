import { Link } from "@tanstack/react-router";
import { FolderSync, Layers, Library, Lock, Plus } from "lucide-react";
import { isOperator, useHeldGrants, useMe, useRestricted } from "@/api/hooks";
import { reaches } from "@/api/reach";
import type { Collection } from "@/api/types";
import { useT } from "@/i18n";
import { Button, cx, formatNumber, Select } from "@/ui";
import { isWorkspace } from "./target";

/** Of so many it is asked who may use them. */
const LOOKED_AT = 40;

type Props = { all: Collection[]; chosen: string; set: (collection: string) => void; onNew: () => void };

/** The collections, beside the list; on a phone above it. */
export function Collections({ all, chosen, set, onNew }: Props) {
  const t = useT("documents");
  const { data: me } = useMe();
  const held = useHeldGrants(isOperator(me) ? undefined : me?.id);
  const restricted = useRestricted(all.filter((one) => reaches(me, held.data, "collection", one.id, "share")).slice(0, LOOKED_AT).map((one) => one.id));
  const total = all.reduce((sum, one) => sum + one.documents, 0);
  return (
    <>
      <nav aria-label={t("collections")} className="max-md:hidden">
        <ul className="flex flex-col gap-0.5">
          <li><Row here={chosen === ""} to="" name={t("all")} count={total} icon={<Layers aria-hidden />} /></li>
          {all.map((one) => (
            <li key={one.id}>
              <Row here={chosen === one.id} to={one.id} name={one.name} count={one.documents} icon={isWorkspace(one) ? <FolderSync aria-hidden /> : <Library aria-hidden />} mark={restricted.get(one.id) === undefined ? null : restricted.get(one.id) ? t("restricted") : t("is_open")} locked={restricted.get(one.id) === true} />
            </li>
          ))}
        </ul>
        <Button size="sm" variant="quiet" className="mt-2" icon={<Plus aria-hidden className="size-4" />} onClick={onNew}>{t("collection_new")}</Button>
      </nav>
      <div className="mb-3 flex gap-2 md:hidden">
        <Select aria-label={t("collection")} className="min-w-0 flex-1" value={chosen} onChange={(event) => set(event.target.value)}>
          <option value="">{t("all_count", { count: total })}</option>
          {all.map((one) => <option key={one.id} value={one.id}>{t("name_count", { name: one.name, n: formatNumber(one.documents) })}</option>)}
        </Select>
        <Button icon={<Plus aria-hidden className="size-4" />} onClick={onNew}>{t("new_short")}<span className="sr-only"> {t("collection")}</span></Button>
      </div>
    </>
  );
}

function Row({ here, to, name, count, icon, mark, locked }: { here: boolean; to: string; name: string; count: number; icon: React.ReactNode; mark?: string | null; locked?: boolean }) {
  const t = useT("documents");
  return (
    <Link to="/documents" search={to ? { collection: to } : {}} aria-current={here ? "true" : undefined} className={cx("flex items-center gap-2 rounded-md px-2 py-1.5 text-base [&>svg]:size-4 [&>svg]:shrink-0", here ? "bg-active font-medium text-ink [&>svg]:text-accent-ink" : "text-ink-2 hover:bg-hover hover:text-ink [&>svg]:text-ink-3")}>
      {icon}
      <span className="min-w-0 flex-1 truncate" title={name}>{name}</span>
      {mark && <span className="shrink-0 text-ink-3" title={mark}>{locked && <Lock aria-hidden className="size-3" />}<span className="sr-only">{mark}</span></span>}
      <span className="shrink-0 text-sm font-normal text-ink-3 tabular">{formatNumber(count)}<span className="sr-only"> {t("documents_word", { count })}</span></span>
    </Link>
  );
}
