import { ArrowLeft, Inbox as InboxIcon, ShieldAlert } from "lucide-react";
import { useEffect, useRef } from "react";
import { useApproval, useApprovals } from "@/api/hooks";
import type { Approval } from "@/api/types";
import { useShortcut } from "@/frame/shortcuts";
import { useT } from "@/i18n";
import { Badge, Button, cx, EmptyState, ErrorState, PagedList, RiskBadge, Skeleton, Time } from "@/ui";
import { useFilters } from "../../runs/parts/filters";
import type { DecideHandle } from "./Decide";
import { riskOf, SubjectIcon, useAsked } from "./describe";
import { grouped } from "./group";
import { ApprovalView } from "./View";

/** A list of approvals and the chosen one beside it; on a phone one after the other. */
export function Inbox({ status }: { status: "open" | "closed" }) {
  const t = useT("approvals");
  const list = useApprovals({ status });
  const [{ id }, set] = useFilters(["id"] as const);
  const groups = status === "open" ? grouped(list.items) : list.items.map((first) => ({ first, others: [] as string[] }));
  // A link may name a duplicate, or one that another page of the list holds.
  const at = groups.findIndex((group) => group.first.id === id || group.others.includes(id));
  const elsewhere = useApproval(id && at < 0 && !list.isLoading ? id : undefined);
  const chosen = groups[at] ?? (id && elsewhere.data ? { first: elsewhere.data, others: [] } : undefined);
  const shown = chosen ?? (id ? undefined : groups[0]);
  const handle = useRef<DecideHandle>(null);

  const go = (step: number) => {
    if (groups.length === 0) return;
    const from = shown ? groups.indexOf(shown) : -1;
    const next = groups[Math.min(groups.length - 1, Math.max(0, from + step))];
    if (next) set({ id: next.first.id });
  };
  useShortcut("j", () => go(1), t("key_next"), { repeats: true });
  useShortcut("k", () => go(-1), t("key_prev"), { repeats: true });
  useShortcut("a", () => handle.current?.approve(), t("key_approve"), { enabled: status === "open" });
  useShortcut("d", () => handle.current?.deny(), t("key_deny"), { enabled: status === "open" });

  const decided = () => {
    const next = groups[at + 1] ?? groups[at - 1];
    set({ id: next && next.first.id !== shown?.first.id ? next.first.id : "" });
    // The focus goes to what is shown next, not to its button.
    setTimeout(() => (document.activeElement === document.body || document.activeElement?.closest("main article")) && document.querySelector<HTMLElement>("main article h2")?.focus());
  };
  const empty = <EmptyState icon={<InboxIcon />} title={t(`empty_${status}_title`)}>{t(`empty_${status}_text`)}</EmptyState>;
  return (
    <div className="grid h-full min-h-0 md:grid-cols-[20rem_minmax(0,1fr)]">
      <nav aria-label={status === "open" ? t("list") : t("tab_closed")} className={cx("min-h-0 overflow-y-auto border-line md:border-r", id && "max-md:hidden")}>
        <PagedList list={list} empty={<div className="md:hidden">{empty}</div>}>
          <ul className="flex flex-col">
            {groups.map((group) => <Row key={group.first.id} approval={group.first} others={group.others.length} current={group === shown} onPick={() => set({ id: group.first.id })} />)}
          </ul>
        </PagedList>
      </nav>
      <div className={cx("min-h-0 overflow-y-auto", !id && "max-md:hidden")}>
        {id && <Button variant="quiet" size="sm" className="mt-2 ml-2 md:hidden" icon={<ArrowLeft aria-hidden className="size-4" />} onClick={() => set({ id: "" })}>{t("back")}</Button>}
        {shown ? (
          <div className="mx-auto max-w-3xl px-6 pt-5 max-md:px-4 max-md:pt-3">
            <ApprovalView approval={shown.first} others={shown.others.length} onDecided={decided} handle={handle} />
          </div>
        ) : elsewhere.error ? (
          <ErrorState error={elsewhere.error} onRetry={() => set({ id: "" })} />
        ) : list.isLoading || (id && elsewhere.isLoading) ? (
          <Skeleton rows={6} className="m-6" />
        ) : (
          groups.length === 0 && !list.error && empty
        )}
      </div>
    </div>
  );
}

function Row({ approval, others, current, onPick }: { approval: Approval; others: number; current: boolean; onPick: () => void }) {
  const t = useT("approvals");
  const asked = useAsked()(approval.subject);
  const risk = riskOf(approval.subject);
  const row = useRef<HTMLButtonElement>(null);
  useEffect(() => {
    if (current) row.current?.scrollIntoView({ block: "nearest" });
  }, [current]);
  return (
    <li className="border-b border-line">
      <button ref={row} type="button" aria-current={current || undefined} onClick={onPick} className={cx("relative flex w-full gap-3 px-4 py-3 text-left hover:bg-hover focus-visible:outline-offset-[-2px]", current && "md:bg-active md:before:absolute md:before:inset-y-0 md:before:left-0 md:before:w-0.75 md:before:bg-accent")}>
        <span className="mt-0.5 shrink-0 text-ink-3 [&>svg]:size-4"><SubjectIcon subject={approval.subject} /></span>
        <span className="min-w-0 flex-1">
          <span className="flex items-baseline gap-2"><span className="min-w-0 flex-1 truncate text-base font-medium">{asked.title}</span><Time relative at={approval.decided_at ?? approval.asked_at} className="shrink-0 text-xs text-ink-2" /></span>
          <span className="line-clamp-2 text-sm text-ink-2 wrap-anywhere">{asked.about}</span>
          <span className="mt-1.5 flex flex-wrap items-center gap-1.5 text-xs text-ink-2">
            {approval.status === "open" ? risk && <RiskBadge risk={risk} /> : <Badge tone={approval.answer?.decision === "approve" ? "ok" : approval.answer?.decision === "deny" ? "bad" : "neutral"}>{!approval.answer ? t("withdrawn") : approval.subject.kind === "question" && approval.answer.decision === "feedback" ? t("did_answer") : t(`did_${approval.answer.decision}`)}</Badge>}
            {approval.tainted && <ShieldAlert aria-label={t("tainted")} className="size-3.5 text-warn" />}
            {others > 0 && <Badge>+{others}</Badge>}
            <span className="min-w-0 truncate">{approval.status === "open" ? (approval.run.agent_name ?? approval.run.asked_by) : approval.decided_by}</span>
          </span>
        </span>
      </button>
    </li>
  );
}
