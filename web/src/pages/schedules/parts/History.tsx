import { useOccurrences } from "@/api/hooks";
import type { ScheduleOccurrence } from "@/api/types";
import { useT } from "@/i18n";
import { Badge, type Column, PagedList, Table, Time } from "@/ui";
import { Fate, RunLink } from "./Fate";
import { formatIn } from "./times";

/** When a schedule was due and what became of it, those to come among them. */
export function History({ id, zone }: { id: string; zone: string }) {
  const t = useT("schedules");
  const list = useOccurrences(id);
  const columns: Column<ScheduleOccurrence>[] = [
    {
      key: "at",
      head: t("col_at"),
      cell: (one) => (
        <span className="flex flex-wrap items-baseline gap-x-2">
          <span>{formatIn(one.nominal, zone)}</span>
          <Time relative at={one.nominal} className="text-sm text-ink-3" />
          {one.by_hand && <Badge>{t("by_hand")}</Badge>}
        </span>
      ),
    },
    { key: "fate", head: t("col_fate"), cell: (one) => <Fate occurrence={one} /> },
    { key: "run", head: t("col_run"), cell: (one) => <RunLink occurrence={one} /> },
  ];
  return (
    <PagedList list={list} skeletonRows={3} empty={<p className="px-4 py-6 text-center text-base text-ink-3">{t("no_history")}</p>}>
      <Table caption={t("history")} columns={columns} rows={list.items} rowKey={(one) => String(one.nominal)} />
    </PagedList>
  );
}
