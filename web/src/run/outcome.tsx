// How a run ended, where that is not simply "done": one plain sentence, what can be done about it, and the details folded.
import { Cable, CircleAlert, Play, RefreshCw, Shuffle } from "lucide-react";
import { isOperator, useConnections, useMe } from "@/api/hooks";
import { type Key, useT } from "@/i18n";
import { Button, ButtonLink, cx } from "@/ui";
import { Fold } from "./cards/text";
import type { Failure, RunView } from "./view";

/** `again` asks the same once more, `goOn` has a stopped answer continued; only where the conversation is at this run. */
export type OutcomeActions = { again: (() => void) | undefined; goOn: (() => void) | undefined; otherModel: (() => void) | undefined };

/** What the connection itself can be the reason of. */
const OF_CONNECTION = new Set<Failure["kind"]>(["auth", "unknown_model", "bad_request", "rate_limit", "server", "connect", "timeout"]);

export function OutcomeNote({ view, actions }: { view: RunView; actions: OutcomeActions }) {
  const t = useT("chat");
  const { outcome } = view;
  if (!outcome || outcome.status === "completed") return null;
  const bad = outcome.status === "failed";
  return (
    <div role={bad ? "alert" : undefined} className={cx("flex items-start gap-2.5 rounded-lg border px-3.5 py-2.5 text-base", bad ? "border-bad/30 bg-bad-soft" : "border-line bg-sunken")}>
      <CircleAlert aria-hidden className={cx("mt-0.5 size-4 shrink-0", bad ? "text-bad" : "text-ink-3")} />
      <div className="min-w-0 flex-1 wrap-anywhere">
        {outcome.status === "failed" && <Failed view={view} message={outcome.message} actions={actions} />}
        {outcome.status === "stopped" && (
          <div className="flex flex-wrap items-center gap-x-3 gap-y-2">
            <p>{t("end.stopped", { by: outcome.by })}</p>
            {actions.goOn && <Button size="sm" icon={<Play aria-hidden className="size-3.5" />} onClick={actions.goOn}>{t("continue")}</Button>}
          </div>
        )}
        {outcome.status === "limited" && (
          <>
            <p>{("message" in outcome && outcome.message) ? String(outcome.message) : t("end.limited", { limit: t(`limit.${outcome.limit}` as "limit.tokens") })}</p>
            <p className="text-sm text-ink-3">{t("end.limitedHint")}</p>
          </>
        )}
        {outcome.status === "rejected" && <p>{t("end.rejected")}</p>}
      </div>
    </div>
  );
}

function Failed({ view, message, actions }: { view: RunView; message: string; actions: OutcomeActions }) {
  const t = useT("chat");
  const { data: me } = useMe();
  const connections = useConnections();
  const { failure } = view;
  const known = connections.items.some((entry) => entry.id === failure?.connection);
  const mend = failure && OF_CONNECTION.has(failure.kind) && known && isOperator(me);
  const icon = "size-3.5";
  return (
    <>
      <p className="font-medium">{t("end.failed")}</p>
      <p className="text-ink-2">{failure ? t(`fail.${failure.kind}` as Key<"chat">) : message}</p>
      {failure?.kind === "blocked_by_policy" && <p className="mt-0.5 text-sm text-ink-2 first-letter:uppercase">{failure.message}. {failure.hint && <span className="inline-block first-letter:uppercase">{failure.hint}.</span>}</p>}
      {failure && failure.kind !== "blocked_by_policy" && (
        <Fold summary={t("details")}>
          <div className="mt-0.5 mb-1 ml-5 flex flex-col gap-1 text-sm text-ink-2">
            <p>{failure.message}</p>
            {failure.hint && <p>{failure.hint}</p>}
            {failure.detail && <pre tabIndex={0} className="max-h-48 overflow-auto font-mono text-xs whitespace-pre-wrap wrap-anywhere">{failure.detail}</pre>}
          </div>
        </Fold>
      )}
      {(actions.again || mend) && (
        <div className="mt-2 flex flex-wrap gap-2">
          {actions.again && <Button size="sm" icon={<RefreshCw aria-hidden className={icon} />} onClick={actions.again}>{t("again")}</Button>}
          {actions.otherModel && connections.items.length > 1 && <Button size="sm" icon={<Shuffle aria-hidden className={icon} />} onClick={actions.otherModel}>{t("otherModel")}</Button>}
          {mend && <ButtonLink size="sm" to="/connections/$connectionId" params={{ connectionId: failure.connection }} icon={<Cable aria-hidden className={icon} />}>{t("openConnection")}</ButtonLink>}
        </div>
      )}
    </>
  );
}
