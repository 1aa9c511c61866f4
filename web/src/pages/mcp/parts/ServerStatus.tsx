import { CircleAlert } from "lucide-react";
import type { McpServer } from "@/api/types";
import { useT } from "@/i18n";
import { Badge, Dot, Elapsed, Spinner, Time, type Tone } from "@/ui";
import { countsOf, serverState, type ServerState, visible } from "./state";

const tones: Record<ServerState, Tone> = { off: "neutral", never: "neutral", failed: "bad", reachable: "ok" };

/** How a server was found at the last look, and what waits there. `since`: when the look that goes on now began. */
export function ServerStatus({ server, since }: { server: McpServer; since: number | null }) {
  const t = useT("mcp");
  const state = serverState(server);
  const counts = countsOf(server.tools);
  return (
    <div className="flex flex-col gap-1.5">
      <p className="flex flex-wrap items-center gap-x-3 gap-y-1 text-sm text-ink-3">
        <span className="inline-flex items-center gap-1.5 text-ink-2"><Dot tone={tones[state]} />{t(`state_${state}`)}</span>
        {server.tools.length > 0 && <span>{t("tools_count", { count: server.tools.length - counts.gone })} · {t("tools_accepted", { count: counts.accepted })}</span>}
        {counts.changed > 0 && <Badge tone="warn">{t("tools_changed", { count: counts.changed })}</Badge>}
        {counts.new > 0 && <Badge tone="warn">{t("tools_new", { count: counts.new })}</Badge>}
        {server.checked_at !== null && <span>{t("checked")} <Time relative at={server.checked_at} /></span>}
      </p>
      {since !== null && <p role="status" className="flex items-center gap-2 text-sm text-ink-2"><Spinner className="text-accent-ink" />{t(server.transport.kind === "stdio" ? "checking_stdio" : "checking_http")} <Elapsed from={since} /></p>}
      {since === null && server.error !== null && (
        <div className="flex gap-2.5 rounded-lg bg-bad-soft px-3 py-2 text-sm">
          <CircleAlert aria-hidden className="mt-0.5 size-4 shrink-0 text-bad" />
          <p className="min-w-0 whitespace-pre-wrap wrap-anywhere">{visible(server.error)}</p>
        </div>
      )}
    </div>
  );
}
