// What stands under a run: how it ended, its sources, its receipts, what it took, and what can be done with it.
import { BadgeCheck, Database, FileText, GitBranch, Globe, ListTree, MoreHorizontal, RefreshCw, ShieldQuestion, Undo2 } from "lucide-react";
import { useMemo } from "react";
import { Link } from "@tanstack/react-router";
import { useT } from "@/i18n";
import { buttonClass, ClassifiedBadge, CopyButton, formatDuration, formatExact, formatMoney, formatTokens, IconButton, Menu, MenuItem, MenuSeparator, Popover, VerdictBadge } from "@/ui";
import { OutcomeNote } from "./outcome";
import { type Source, sourcesOf } from "./sources";
import type { ClaimTarget } from "./rehype-claims";
import type { RunView } from "./view";

export type EndActions = { regenerate: () => void; fork: () => void; forkWith: () => void; undoAll: (() => void) | undefined; again: (() => void) | undefined; goOn: (() => void) | undefined };

const sourceIcons: Record<Source["kind"], React.ReactNode> = { web: <Globe />, file: <FileText />, database: <Database /> };

function Sources({ view, onClaim }: { view: RunView; onClaim: (target: ClaimTarget) => void }) {
  const t = useT("chat");
  const sources = useMemo(() => sourcesOf(view), [view]);
  if (sources.length === 0) return null;
  return (
    <div className="flex flex-wrap items-center gap-1.5 text-xs">
      <span className="mr-0.5 text-ink-3">{t("sources")}</span>
      {sources.map((source, index) => {
        const look = "inline-flex max-w-64 items-center gap-1.5 rounded-md border border-line bg-surface px-2 py-0.5 text-ink-2 hover:border-line-2 hover:text-ink [&>svg]:size-3 [&>svg]:shrink-0 [&>svg]:text-ink-3";
        const inner = <><span className="text-ink-3 tabular">{index + 1}</span>{sourceIcons[source.kind]}<span className="truncate">{source.label}</span></>;
        return source.href
          ? <a key={source.label} href={source.href} target="_blank" rel="noopener noreferrer" className={look}>{inner}</a>
          : <button key={source.label} type="button" className={look} onClick={() => onClaim({ number: 0, calls: [source.callId] })}>{inner}</button>;
      })}
    </div>
  );
}

function ReceiptsBadge({ view, onClaim }: { view: RunView; onClaim: (target: ClaimTarget) => void }) {
  const t = useT("chat");
  const { receipts } = view;
  if (!receipts) return null;
  const claims = receipts.claims ?? [];
  return (
    <Popover align="start" label={t("receipts")} trigger={<button type="button" className="rounded-sm"><VerdictBadge verdict={receipts.verdict} /><span className="sr-only">: {t("receiptsOpen")}</span></button>}>
      <h2 className="text-base font-semibold">{t("receipts")}</h2>
      <p className="mt-0.5 text-sm text-ink-2">{t(`receipts.${receipts.verdict}`)}</p>
      {claims.length > 0 && (
        <ol className="mt-2 max-h-80 overflow-y-auto">
          {claims.map((claim, index) => {
            const proved = (claim.calls ?? []).length > 0;
            return (
              <li key={index} className="flex gap-2 border-t border-line py-2 text-sm">
                {proved ? <BadgeCheck aria-label={t("proved")} className="mt-0.5 size-4 shrink-0 text-ok" /> : <ShieldQuestion aria-label={t("notProved")} className="mt-0.5 size-4 shrink-0 text-warn" />}
                <div className="min-w-0">
                  <p className="wrap-anywhere"><span className="mr-1 text-ink-3 tabular">{index + 1}</span>“{claim.text}”</p>
                  <p className="text-xs text-ink-3">{claim.why}</p>
                  {proved && <button type="button" className="text-xs text-accent-ink underline" onClick={() => onClaim({ number: index + 1, calls: claim.calls ?? [] })}>{t("showCall")}</button>}
                </div>
              </li>
            );
          })}
        </ol>
      )}
    </Popover>
  );
}

/** The line of numbers and actions. */
export function RunEnd({ view, actions, busy, onClaim }: { view: RunView; actions: EndActions | null; busy: boolean; onClaim: (target: ClaimTarget) => void }) {
  const t = useT("chat");
  const tokens = view.usage.prompt_tokens + view.usage.completion_tokens;
  const model = view.model.split("/").at(-1) ?? view.model;
  return (
    <div className="flex flex-col gap-2">
      <OutcomeNote view={view} actions={{ again: actions?.again, goOn: actions?.goOn, otherModel: actions?.forkWith }} />
      <Sources view={view} onClaim={onClaim} />
      <div className="flex flex-wrap items-center gap-x-3 gap-y-1 text-xs text-ink-3">
        <ReceiptsBadge view={view} onClaim={onClaim} />
        {view.classified && <ClassifiedBadge classified={view.classified} />}
        <span title={formatExact(view.endedAt ?? view.startedAt)} className="tabular">{formatDuration((view.endedAt ?? Date.now()) - view.startedAt)}</span>
        {tokens > 0 && <span className="tabular" title={t("tokensSplit", { prompt: view.usage.prompt_tokens, completion: view.usage.completion_tokens, cached: view.usage.cached_tokens })}>{t("tokens", { count: formatTokens(tokens) })}</span>}
        {view.usage.cost_micros > 0 && <span className="tabular">{formatMoney(view.usage.cost_micros)}</span>}
        <span className="max-w-44 truncate" title={view.answeredBy ? t("answeredBy", { name: view.answeredBy, model: view.model }) : view.model}>{model}</span>
        <span className="flex-1" />
        <span className="-my-1 flex items-center">
          {view.answer && <CopyButton text={view.answer} label={t("copyAnswer")} />}
          {actions && <IconButton size="sm" label={t("regenerate")} disabled={busy} onClick={actions.regenerate}><RefreshCw /></IconButton>}
          <Link to="/runs/$runId" params={{ runId: view.id }} className={buttonClass({ variant: "quiet", size: "sm" }, "px-1.5! text-xs! text-ink-3")}><ListTree aria-hidden className="size-4" />{t("trace")}</Link>
          {actions && (
            <Menu className="w-64" trigger={<IconButton size="sm" label={t("moreActions")}><MoreHorizontal /></IconButton>}>
              <MenuItem icon={<GitBranch />} disabled={busy} onSelect={actions.fork} hint={t("forkHereHint")}>{t("forkHere")}</MenuItem>
              <MenuItem icon={<RefreshCw />} disabled={busy} onSelect={actions.forkWith} hint={t("forkWithHint")}>{t("forkWith")}…</MenuItem>
              {actions.undoAll && <><MenuSeparator /><MenuItem icon={<Undo2 />} disabled={busy} onSelect={actions.undoAll}>{t("undoAll")}</MenuItem></>}
            </Menu>
          )}
        </span>
      </div>
    </div>
  );
}
