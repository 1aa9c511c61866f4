import { Link } from "@tanstack/react-router";
import { useDeliveries } from "@/api/hooks";
import type { Hook, HookDelivery } from "@/api/types";
import { useT } from "@/i18n";
import { type Column, formatBytes, PagedList, Table, Time } from "@/ui";
import { EventName, Fate, RunLink } from "./Fate";

/** What came, and what became of it. Its owner opens each. */
export function Deliveries({ hook }: { hook: Hook }) {
  const t = useT("webhooks");
  const list = useDeliveries(hook.id);
  const columns: Column<HookDelivery>[] = [
    {
      key: "at",
      head: t("col_at"),
      className: "whitespace-nowrap",
      cell: (one) => hook.may_change ? <Link to="/webhooks/$webhookId" params={{ webhookId: hook.id }} search={{ delivery: one.id }} className="text-accent-ink underline underline-offset-2"><Time relative at={one.received_at} /></Link> : <Time relative at={one.received_at} />,
    },
    { key: "event", head: t("col_event"), className: "max-w-64 max-md:hidden", cell: (one) => <EventName delivery={one} /> },
    { key: "fate", head: t("col_fate"), cell: (one) => <Fate delivery={one} /> },
    { key: "run", head: t("col_run"), cell: (one) => <RunLink delivery={one} /> },
    { key: "size", head: t("col_size"), className: "text-right whitespace-nowrap max-md:hidden", cell: (one) => formatBytes(one.bytes) },
  ];
  return (
    <PagedList list={list} skeletonRows={3} empty={<p className="px-4 py-6 text-center text-base text-ink-3">{t("no_deliveries")}</p>}>
      <Table caption={t("deliveries")} columns={columns} rows={list.items} rowKey={(one) => one.id} />
    </PagedList>
  );
}
