import { Link, useNavigate, useParams } from "@tanstack/react-router";
import { ArrowLeft, ChevronRight, FlaskConical, Pause, Pencil, Play, RotateCcw, Trash2, Webhook } from "lucide-react";
import { type ReactNode, useId, useState } from "react";
import { ApiError } from "@/api/client";
import { useHook } from "@/api/hooks";
import type { Hook, HookDeliveryContent } from "@/api/types";
import { useT } from "@/i18n";
import { Badge, Button, Card, cx, EmptyState, ErrorState, Facts, IconButton, Page, Skeleton, Time } from "@/ui";
import { useFilters } from "../runs/parts/filters";
import { Deliveries } from "./parts/Deliveries";
import { DeliverySheet } from "./parts/DeliverySheet";
import { PauseDialog, RemoveDialog } from "./parts/Dialogs";
import { rowOf, takesValue } from "./parts/filters";
import { useMoves } from "./parts/moves";
import type { Doing } from "./parts/Row";
import { Secrets } from "./parts/Secrets";
import { signsTime } from "./parts/senders";
import { Address, Steps } from "./parts/Setup";
import { RestBadge } from "./parts/State";
import { Try } from "./parts/Try";
import { WebhookDialog } from "./parts/WebhookDialog";

/** One webhook: its address and secrets, what came, and what became of it. */
export function WebhookPage() {
  const t = useT("webhooks");
  const { webhookId } = useParams({ strict: false }) as { webhookId: string };
  const found = useHook(webhookId);
  const back = <Link to="/webhooks" tabIndex={-1}><IconButton label={t("back")} className="-ml-2"><ArrowLeft /></IconButton></Link>;
  if (found.data) return <One key={webhookId} hook={found.data} back={back} />;
  const gone = found.error instanceof ApiError && found.error.status === 404;
  return (
    <Page title={t("title")} back={back} width="text">
      {gone ? <EmptyState icon={<Webhook />} title={t("gone_title")}>{t("gone_text")}</EmptyState> : found.error ? <ErrorState error={found.error} onRetry={() => void found.refetch()} /> : <Skeleton rows={6} />}
    </Page>
  );
}

function One({ hook, back }: { hook: Hook; back: ReactNode }) {
  const t = useT("webhooks");
  const navigate = useNavigate();
  const moves = useMoves();
  const [{ delivery }, set] = useFilters(["delivery"] as const);
  const [doing, setDoing] = useState<Doing | null>(null);
  /** With what was sent, if somebody chose it. */
  const [trying, setTrying] = useState<{ content: HookDeliveryContent | null } | null>(null);
  const mine = hook.may_change;
  const gone = hook.deleted_at !== null;
  const leave = () => void navigate({ to: "/webhooks" });
  const icon = "size-3.5";
  return (
    <Page
      title={hook.name}
      back={back}
      width="text"
      actions={
        gone ? (
          mine && <Button size="sm" variant="primary" loading={moves.busy} icon={<RotateCcw aria-hidden className={icon} />} onClick={() => void moves.bringBack(hook)}>{t("restore")}</Button>
        ) : (
          <>
            {mine && hook.pause !== null && <Button size="sm" variant="primary" loading={moves.busy} icon={<Play aria-hidden className={icon} />} onClick={() => void moves.resume(hook)}>{t("resume")}</Button>}
            <Button size="sm" icon={<FlaskConical aria-hidden className={icon} />} onClick={() => setTrying({ content: null })}>{t("try")}</Button>
            {hook.pause === null && <Button size="sm" icon={<Pause aria-hidden className={icon} />} onClick={() => setDoing("pause")}>{t("pause")}</Button>}
            {mine && <Button size="sm" icon={<Pencil aria-hidden className={icon} />} onClick={() => setDoing("edit")}>{t("edit")}</Button>}
            <IconButton size="sm" label={t("delete")} onClick={() => (mine ? (leave(), void moves.remove(hook)) : setDoing("remove"))}><Trash2 /></IconButton>
          </>
        )
      }
    >
      <div className="flex flex-col gap-5">
        <Notices hook={hook} />
        {!gone && <Card title={t("address")}><Reached hook={hook} /></Card>}
        <Card title={t("what")}><What hook={hook} /></Card>
        <Card title={t("deliveries")} pad={false}><Deliveries hook={hook} /></Card>
        <Secrets hook={hook} />
        <Card title={t("settings")}><Settings hook={hook} /></Card>
      </div>
      {doing === "edit" && <WebhookDialog hook={hook} onClose={() => setDoing(null)} />}
      {doing === "pause" && <PauseDialog hook={hook} onClose={() => setDoing(null)} />}
      {doing === "remove" && <RemoveDialog hook={hook} onClose={() => setDoing(null)} onRemoved={leave} />}
      {mine && delivery !== "" && <DeliverySheet key={delivery} hook={hook} id={delivery} onClose={() => set({ delivery: "" })} onOpen={(id) => set({ delivery: id })} onTry={(content) => (set({ delivery: "" }), setTrying({ content }))} />}
      {trying && <Try hook={hook} content={trying.content} onClose={() => setTrying(null)} />}
    </Page>
  );
}

/** What whoever opens it is to know first: that it rests, is deleted or refuses calls, and whose it is. */
function Notices({ hook }: { hook: Hook }) {
  const t = useT("webhooks");
  const { pause, refused } = hook;
  const gone = hook.deleted_at !== null;
  const box = "rounded-lg bg-sunken px-4 py-2.5 text-base text-ink-2";
  return (
    <>
      {hook.deleted_at !== null && <p className={box}>{t("deleted_since")} <Time at={hook.deleted_at} />. {t("deleted_text")}</p>}
      {pause && !gone && (
        <div className={box}>
          <p className="flex flex-wrap items-center gap-2"><RestBadge pause={pause} /><span>{t("rests_since")} <Time at={pause.since} /></span></p>
          {pause.note && <p className="mt-1 wrap-anywhere whitespace-pre-wrap">{pause.note}</p>}
          <p className="mt-1 text-sm text-ink-3">{t(`rests_${pause.reason}_text`)}</p>
        </div>
      )}
      {refused && !gone && (
        <section aria-label={t("refused")} className={box}>
          <p className="flex flex-wrap items-baseline gap-x-2"><Badge tone="bad">{t("refused")}</Badge><span>{t("refused_last")} <Time relative at={refused.at} /></span></p>
          <p className="mt-1 wrap-anywhere">{refused.problem}</p>
          {refused.hint && <p className="mt-1 wrap-anywhere">{refused.hint}</p>}
          <p className="mt-1 text-sm text-ink-3">{t("refused_count", { count: refused.count })} {t("refused_text")}</p>
        </section>
      )}
      {!hook.may_change && <p className={box}>{t("not_yours", { owner: hook.owner ?? t("owner_gone") })}</p>}
    </>
  );
}

/** The address, and what is to be done at the sender. */
function Reached({ hook }: { hook: Hook }) {
  const t = useT("webhooks");
  const id = useId();
  const [open, setOpen] = useState(false);
  return (
    <div className="flex flex-col gap-3">
      <Address titled path={hook.path} />
      <Button size="sm" variant="quiet" className="self-start" aria-expanded={open} aria-controls={id} icon={<ChevronRight aria-hidden className={cx("size-3.5 transition-transform", open && "rotate-90")} />} onClick={() => setOpen(!open)}>{t("setup")}</Button>
      <div id={id} hidden={!open}>{open && <Steps signing={hook.signing} path={hook.path} />}</div>
    </div>
  );
}

function What({ hook }: { hook: Hook }) {
  const t = useT("webhooks");
  const { signing } = hook;
  return (
    <Facts
      items={[
        [t("signing"), <>{t(`kind_${signing.kind}`)}{signing.kind === "token" && <> · <code key="header" className="font-mono text-sm">{signing.header}</code></>}</>],
        [t("agent"), hook.agent === null ? t("agent_gone") : <Link key="agent" to="/agents/$agentId" params={{ agentId: hook.agent_id }} className="text-accent-ink underline underline-offset-2">{hook.agent}</Link>],
        [t("request"), <span key="request" className="whitespace-pre-wrap">{hook.request}</span>],
        ...(hook.filters.length === 0 ? [] : [[t("filters"), <Passes key="filters" hook={hook} />] as [ReactNode, ReactNode]]),
        [t("owner"), hook.owner ?? t("owner_gone")],
      ]}
    />
  );
}

/** The filters, in words. */
function Passes({ hook }: { hook: Hook }) {
  const t = useT("webhooks");
  return (
    <ul className="flex flex-col gap-1">
      {hook.filters.map(rowOf).map((row, index) => (
        <li key={index}>{t(`place_${row.kind}`)} {row.place !== "" && <code className="font-mono text-sm">{row.place}</code>} {t(`test_${row.test}`)} {takesValue(row.test) && <code className="font-mono text-sm whitespace-pre-wrap">{row.value}</code>}</li>
      ))}
    </ul>
  );
}

function Settings({ hook }: { hook: Hook }) {
  const t = useT("webhooks");
  const { pause_after_failures: failures, event_id: id } = hook;
  return (
    <Facts
      items={[
        [t("failures_short"), <span key="failures">{failures === null ? t("failures_never") : t("failures_after", { count: failures })}{hook.failures > 0 && <> <Badge tone="warn">{t("failures_now", { count: hook.failures })}</Badge></>}</span>],
        [t("event_id"), id === null ? t("event_id_own") : <>{t(id.header === undefined ? "place_pointer" : "place_header")} <code key="id" className="font-mono text-sm">{id.header ?? id.pointer}</code></>],
        ...(signsTime(hook.signing.kind) ? [[t("window_short"), t("seconds", { count: hook.window_seconds })] as [ReactNode, ReactNode]] : []),
        [t("made"), <Time key="made" at={hook.created_at} />],
        [t("changed"), <Time key="changed" at={hook.updated_at} />],
      ]}
    />
  );
}
