import { useNavigate } from "@tanstack/react-router";
import { Plug, Plus } from "lucide-react";
import { useState } from "react";
import { isOperator, useMcpActions, useMcpServers, useMe } from "@/api/hooks";
import type { McpServer } from "@/api/types";
import { useT } from "@/i18n";
import { Button, EmptyState, Page, PagedList } from "@/ui";
import { Own } from "./parts/Own";
import { Removal } from "./parts/Removal";
import { ServerCard } from "./parts/ServerCard";
import { ServerDialog } from "./parts/ServerDialog";

/** Other programs' tools for the agents, and the agents for other programs. */
export function ServersPage() {
  const t = useT("mcp");
  const navigate = useNavigate();
  const list = useMcpServers();
  const operator = isOperator(useMe().data);
  const { check } = useMcpActions();
  const [editing, setEditing] = useState<McpServer | "new" | null>(null);
  const [removing, setRemoving] = useState<McpServer | null>(null);
  const add = operator && <Button size="sm" variant="primary" icon={<Plus aria-hidden className="size-4" />} onClick={() => setEditing("new")}>{t("add")}</Button>;
  return (
    <Page title={t("title")} lead={t("lead")} width="text" actions={list.items.length > 0 && add}>
      <div className="flex flex-col gap-8">
        <section aria-label={t("servers")}>
          <PagedList
            list={list}
            empty={
              <div className="rounded-lg border border-line bg-surface">
                <EmptyState icon={<Plug />} title={t("empty_title")} action={operator && <Button variant="primary" onClick={() => setEditing("new")}>{t("add")}</Button>}>
                  <p>{t("empty_text")}</p>
                  <p className="mt-2">{t(operator ? "empty_do" : "empty_ask")}</p>
                </EmptyState>
              </div>
            }
          >
            <ul className="flex flex-col gap-3">{list.items.map((server) => <ServerCard key={server.id} server={server} operator={operator} onEdit={() => setEditing(server)} onRemove={() => setRemoving(server)} />)}</ul>
          </PagedList>
        </section>
        <Own />
      </div>
      {editing && (
        <ServerDialog
          server={editing === "new" ? null : editing}
          onClose={() => setEditing(null)}
          onSaved={(saved) => {
            // Its page shows what comes of the check.
            if (editing === "new") void navigate({ to: "/mcp-servers/$serverId", params: { serverId: saved.id }, search: { check: 1 } });
            else if (saved.enabled) check.mutate(saved.id);
          }}
        />
      )}
      {removing && <Removal server={removing} onClose={() => setRemoving(null)} />}
    </Page>
  );
}
