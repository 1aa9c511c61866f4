import { Link, useNavigate, useParams } from "@tanstack/react-router";
import { ArrowLeft, FlaskConical, Pause, Pencil, Play, RotateCcw, Send, Trash2 } from "lucide-react";
import { type ReactNode, useState } from "react";
import { ApiError } from "@/api/client";
import { useSubscription, useSubscriptionActions } from "@/api/hooks/subscriptions";
import type { Subscription, SubscriptionWithSecret } from "@/api/types";
import { useT } from "@/i18n";
import { Button, Card, EmptyState, ErrorState, Facts, IconButton, Page, Skeleton, Time } from "@/ui";
import { useFilters } from "../../runs/parts/filters";
import type { Doing } from "../parts/Row";
import { PauseDialog, RemoveDialog } from "./Dialogs";
import { Messages, TestOutcome } from "./Messages";
import { useMoves } from "./moves";
import { NewSecret, Secrets } from "./Secrets";
import { RestBadge, useKinds } from "./State";
import { SubscriptionDialog } from "./SubscriptionDialog";

const LIST = { to: "/webhooks", search: { view: "outgoing" } } as const;

/** One subscription: what it tells whom, and what became of its messages. */
export function SubscriptionPage() {
  const t = useT("subscriptions");
  const { subscriptionId } = useParams({ strict: false }) as { subscriptionId: string };
  const found = useSubscription(subscriptionId);
  const back = <Link {...LIST} tabIndex={-1}><IconButton label={t("back")} className="-ml-2"><ArrowLeft /></IconButton></Link>;
  if (found.data) return <One key={subscriptionId} subscription={found.data} back={back} />;
  const gone = found.error instanceof ApiError && found.error.status === 404;
  return (
    <Page title={t("title")} back={back} width="text">
      {gone ? <EmptyState icon={<Send />} title={t("gone_title")}>{t("gone_text")}</EmptyState> : found.error ? <ErrorState error={found.error} onRetry={() => void found.refetch()} /> : <Skeleton rows={6} />}
    </Page>
  );
}

function One({ subscription, back }: { subscription: Subscription; back: ReactNode }) {
  const t = useT("subscriptions");
  const navigate = useNavigate();
  const moves = useMoves();
  const { test } = useSubscriptionActions();
  const [, set] = useFilters(["failed"] as const);
  const [doing, setDoing] = useState<Doing | null>(null);
  const [made, setMade] = useState<SubscriptionWithSecret | null>(null);
  const { may_change: mine, pause } = subscription;
  const gone = subscription.deleted_at !== null;
  const leave = () => void navigate(LIST);
  // Among those that were given up it would not be seen.
  const tryIt = () => test.mutate(subscription.id, { onSuccess: () => set({ failed: "" }), onError: moves.failed });
  const icon = "size-3.5";
  return (
    <Page
      title={subscription.name}
      back={back}
      width="text"
      actions={
        gone ? (
          mine && <Button size="sm" variant="primary" loading={moves.busy} icon={<RotateCcw aria-hidden className={icon} />} onClick={() => void moves.bringBack(subscription)}>{t("restore")}</Button>
        ) : (
          <>
            {mine && pause !== null && <Button size="sm" variant="primary" loading={moves.busy} icon={<Play aria-hidden className={icon} />} onClick={() => void moves.resume(subscription)}>{t("resume")}</Button>}
            {mine && <Button size="sm" loading={test.isPending} icon={<FlaskConical aria-hidden className={icon} />} onClick={tryIt}>{t("test")}</Button>}
            {pause === null && <Button size="sm" icon={<Pause aria-hidden className={icon} />} onClick={() => setDoing("pause")}>{t("pause")}</Button>}
            {mine && <Button size="sm" icon={<Pencil aria-hidden className={icon} />} onClick={() => setDoing("edit")}>{t("edit")}</Button>}
            <IconButton size="sm" label={t("delete")} onClick={() => (mine ? (leave(), void moves.remove(subscription)) : setDoing("remove"))}><Trash2 /></IconButton>
          </>
        )
      }
    >
      <div className="flex flex-col gap-5">
        <Notices subscription={subscription} />
        {mine && <TestOutcome subscription={subscription} test={test.data} />}
        <Card title={t("settings")}><Settings subscription={subscription} /></Card>
        {mine && <Messages subscription={subscription} />}
        {subscription.form === "standard" && <Secrets subscription={subscription} />}
      </div>
      {doing === "edit" && <SubscriptionDialog subscription={subscription} onClose={() => setDoing(null)} onMade={setMade} />}
      {doing === "pause" && <PauseDialog subscription={subscription} onClose={() => setDoing(null)} />}
      {doing === "remove" && <RemoveDialog subscription={subscription} onClose={() => setDoing(null)} onRemoved={leave} />}
      {made && <NewSecret made={made} title={t("secret_new_title", { name: made.subscription.name })} text={t("made_text")} onDone={() => setMade(null)} />}
    </Page>
  );
}

/** What whoever opens it is to know first: that it rests or is deleted, and whose it is. */
function Notices({ subscription }: { subscription: Subscription }) {
  const t = useT("subscriptions");
  const { pause, deleted_at: deleted } = subscription;
  const box = "rounded-lg bg-sunken px-4 py-2.5 text-base text-ink-2";
  return (
    <>
      {deleted !== null && <p className={box}>{t("deleted_since")} <Time at={deleted} />. {t("deleted_text")}</p>}
      {pause && deleted === null && (
        <div className={box}>
          <p className="flex flex-wrap items-center gap-2"><RestBadge pause={pause} /><span>{t("rests_since")} <Time at={pause.since} /></span></p>
          {pause.note && <p className="mt-1 wrap-anywhere whitespace-pre-wrap">{pause.note}</p>}
          <p className="mt-1 text-sm text-ink-3">{t(pause.reason === "person" ? "rests_person_text" : "rests_failed_text")}</p>
        </div>
      )}
      {!subscription.may_change && <p className={box}>{t("not_yours", { owner: subscription.owner ?? t("owner_gone") })}</p>}
    </>
  );
}

function Settings({ subscription }: { subscription: Subscription }) {
  const t = useT("subscriptions");
  const kinds = useKinds();
  return (
    <Facts
      items={[
        [t("service"), t(`form_${subscription.form}`)],
        [t("host"), <span key="host"><code className="font-mono text-sm wrap-anywhere">{subscription.place}</code><span className="block text-sm text-ink-3">{t("host_text")}</span></span>],
        [t("kinds"), kinds(subscription)],
        [t("language"), t(`language_${subscription.language}`)],
        [t("link_base"), subscription.link_base === null ? t("link_base_none") : <code key="link" className="font-mono text-sm wrap-anywhere">{subscription.link_base}</code>],
        [t("owner"), subscription.owner ?? t("owner_gone")],
        [t("made_at"), <Time key="made" at={subscription.created_at} />],
        [t("changed_at"), <Time key="changed" at={subscription.updated_at} />],
      ]}
    />
  );
}
