import { Link } from "@tanstack/react-router";
import { Ellipsis, Pencil, Power, PowerOff, Trash2 } from "lucide-react";
import { useMcpActions } from "@/api/hooks";
import type { McpServer } from "@/api/types";
import { useT } from "@/i18n";
import { Badge, Button, ButtonLink, IconButton, Menu, MenuItem, MenuSeparator, toast, useErrorText } from "@/ui";
import { useCheck } from "./check";
import { formOf, inputOf, placeOf } from "./form";
import { ServerStatus } from "./ServerStatus";
import { countsOf } from "./state";

type Props = { server: McpServer; operator: boolean; onEdit: () => void; onRemove: () => void };

export function ServerCard({ server, operator, onEdit, onRemove }: Props) {
  const t = useT("mcp");
  const { run, since } = useCheck();
  const counts = countsOf(server.tools);
  const waits = counts.changed + counts.new > 0;
  return (
    <li className="flex flex-col gap-2.5 rounded-lg border border-line bg-surface px-4 py-3.5">
      <div className="flex flex-wrap items-start gap-x-3 gap-y-2">
        <div className="min-w-60 flex-1">
          <h2 className="flex flex-wrap items-center gap-2 text-lg font-semibold">
            <Link to="/mcp-servers/$serverId" params={{ serverId: server.id }} className="wrap-anywhere hover:underline">{server.name}</Link>
            <Badge>{t(`kind_${server.transport.kind}`)}</Badge>
            {server.per_user && <Badge>{t("per_user_badge")}</Badge>}
          </h2>
          <p className="text-sm text-ink-3"><code className="font-mono text-xs wrap-anywhere">{placeOf(server)}</code></p>
        </div>
        <div className="flex items-center gap-1.5">
          {operator && <Button size="sm" loading={since !== null} onClick={() => run(server)}>{t("check")}</Button>}
          <ButtonLink size="sm" to="/mcp-servers/$serverId" params={{ serverId: server.id }}>{t(waits && operator ? "review" : "tools")}</ButtonLink>
          {operator && <ServerMenu server={server} onEdit={onEdit} onRemove={onRemove} />}
        </div>
      </div>
      <ServerStatus server={server} since={since} />
    </li>
  );
}

export function ServerMenu({ server, onEdit, onRemove }: { server: McpServer; onEdit: () => void; onRemove: () => void }) {
  const t = useT("mcp");
  const errorText = useErrorText();
  const { update } = useMcpActions();
  const flip = () =>
    update.mutate({ ...inputOf(formOf(server)), id: server.id, enabled: !server.enabled }, {
      onSuccess: (saved) => toast({ title: t(saved.enabled ? "switched_on" : "switched_off", { name: saved.name }) }),
      onError: (error) => toast({ title: errorText(error).title, tone: "bad" }),
    });
  return (
    <Menu trigger={<IconButton size="sm" label={t("actions", { name: server.name })}><Ellipsis /></IconButton>}>
      <MenuItem icon={<Pencil />} onSelect={onEdit}>{t("edit")}</MenuItem>
      <MenuItem icon={server.enabled ? <PowerOff /> : <Power />} onSelect={flip}>{t(server.enabled ? "switch_off" : "switch_on")}</MenuItem>
      <MenuSeparator />
      <MenuItem icon={<Trash2 />} danger onSelect={onRemove}>{t("remove")}</MenuItem>
    </Menu>
  );
}
