import { Link } from "@tanstack/react-router";
import { useCredentialUses } from "@/api/hooks";
import type { CredentialUse } from "@/api/types";
import { useT } from "@/i18n";
import { type Column, PagedList, Table, Time } from "@/ui";

/** Which runs used a credential, the latest first. */
export function Uses({ id }: { id: string }) {
  const t = useT("credentials");
  const list = useCredentialUses(id, true);
  const columns: Column<{ use: CredentialUse; key: string }>[] = [
    { key: "at", head: t("use_at"), cell: ({ use }) => <Time at={use.at} /> },
    { key: "tool", head: t("use_tool"), cell: ({ use }) => <code className="font-mono text-sm wrap-anywhere">{use.tool}</code> },
    { key: "agent", head: t("use_agent"), className: "max-md:hidden", cell: ({ use }) => (use.agent ? <Link to="/agents/$agentId" params={{ agentId: use.agent }} className="hover:underline">{use.agent_name ?? t("agent_gone")}</Link> : "–") },
    { key: "run", head: t("use_run"), cell: ({ use }) => (use.run ? <Link to="/runs/$runId" params={{ runId: use.run }} className="text-accent-ink hover:underline">{t("use_open")}</Link> : <span className="text-ink-3">{t("use_person")}</span>) },
  ];
  return (
    <PagedList list={list} skeletonRows={3} empty={<p className="px-4 py-6 text-center text-base text-ink-3">{t("no_uses")}</p>}>
      <Table caption={t("uses")} columns={columns} rows={list.items.map((use, at) => ({ use, key: `${use.at}-${at}` }))} rowKey={(row) => row.key} />
    </PagedList>
  );
}
