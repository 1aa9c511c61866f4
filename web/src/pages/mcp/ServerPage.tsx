import { Link, useNavigate, useParams, useSearch } from "@tanstack/react-router";
import { ArrowLeft, BotMessageSquare, LogIn, RefreshCw } from "lucide-react";
import { type ReactNode, useEffect, useRef, useState } from "react";
import { ApiError } from "@/api/client";
import { isOperator, mayWork, useMcpServer, useMe } from "@/api/hooks";
import type { McpServer } from "@/api/types";
import { useT } from "@/i18n";
import { Badge, Button, Card, EmptyState, ErrorState, IconButton, Page, Skeleton } from "@/ui";
import { Attach } from "./parts/Attach";
import { useCheck } from "./parts/check";
import { Login } from "./parts/Login";
import { Reached } from "./parts/Reached";
import { Removal } from "./parts/Removal";
import { ServerMenu } from "./parts/ServerCard";
import { ServerDialog } from "./parts/ServerDialog";
import { ServerStatus } from "./parts/ServerStatus";
import { serverState, toolState } from "./parts/state";
import { Tools } from "./parts/Tools";

/** One MCP server: how it is reached, and its tools. */
export function ServerPage() {
  const t = useT("mcp");
  const { serverId } = useParams({ strict: false }) as { serverId: string };
  const found = useMcpServer(serverId);
  const back = <Link to="/mcp-servers" tabIndex={-1}><IconButton label={t("back")} className="-ml-2"><ArrowLeft /></IconButton></Link>;
  if (found.data) return <One key={found.data.id} server={found.data} back={back} />;
  const gone = found.error instanceof ApiError && found.error.status === 404;
  return (
    <Page title={t("title")} back={back} width="text">
      {gone ? <EmptyState title={t("gone_title")}>{t("gone_text")}</EmptyState> : found.error ? <ErrorState error={found.error} onRetry={() => void found.refetch()} /> : <Skeleton rows={8} />}
    </Page>
  );
}

function One({ server, back }: { server: McpServer; back: ReactNode }) {
  const t = useT("mcp");
  const navigate = useNavigate();
  const { data: me } = useMe();
  const operator = isOperator(me);
  const search = useSearch({ strict: false }) as Record<string, unknown>;
  const { run, since } = useCheck();
  const [open, setOpen] = useState<"edit" | "remove" | "login" | "attach" | null>(null);
  // One that was just added is asked at once.
  const first = useRef(search.check === 1);
  useEffect(() => {
    if (!first.current || !operator) return;
    first.current = false;
    void navigate({ to: ".", replace: true, search: {} });
    run(server);
  }, [operator, navigate, run, server]);
  const state = serverState(server);
  const callable = server.tools.filter((tool) => toolState(tool) === "accepted");
  const logsIn = server.transport.kind === "http" && (operator || (server.per_user && mayWork(me)));
  const close = () => setOpen(null);
  return (
    <Page
      title={server.name}
      back={back}
      width="text"
      reading
      actions={
        <>
          {operator && callable.length > 0 && <Button size="sm" icon={<BotMessageSquare aria-hidden className="size-3.5" />} onClick={() => setOpen("attach")}>{t("attach")}</Button>}
          {logsIn && <Button size="sm" icon={<LogIn aria-hidden className="size-3.5" />} onClick={() => setOpen("login")}>{t("login")}</Button>}
          {operator && <Button size="sm" {...((state === "never" || state === "failed") && { variant: "primary" })} icon={<RefreshCw aria-hidden className="size-3.5" />} loading={since !== null} onClick={() => run(server)}>{t("check")}</Button>}
          {operator && <ServerMenu server={server} onEdit={() => setOpen("edit")} onRemove={() => setOpen("remove")} />}
        </>
      }
    >
      <div className="flex flex-col gap-5">
        <div className="flex flex-col gap-2">
          <p className="flex flex-wrap items-center gap-2"><Badge>{t(`kind_${server.transport.kind}`)}</Badge>{server.per_user && <Badge>{t("per_user_badge")}</Badge>}</p>
          <ServerStatus server={server} since={since} />
        </div>
        <Card title={t("reached")}><Reached server={server} /></Card>
        <Tools server={server} operator={operator} />
      </div>
      {open === "edit" && <ServerDialog server={server} onClose={close} onSaved={(saved) => saved.enabled && run(saved)} />}
      {open === "remove" && <Removal server={server} onClose={close} onRemoved={() => void navigate({ to: "/mcp-servers" })} />}
      {open === "login" && <Login server={server} onClose={close} onDone={() => (close(), operator && run(server))} />}
      {open === "attach" && <Attach server={server} tools={callable} onClose={close} />}
    </Page>
  );
}
