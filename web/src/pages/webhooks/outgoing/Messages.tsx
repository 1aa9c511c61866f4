import { Link } from "@tanstack/react-router";
import { ChevronRight, Send } from "lucide-react";
import { useId, useState } from "react";
import { useDispatches, useSubscriptionActions } from "@/api/hooks/subscriptions";
import type { Dispatch, Subscription } from "@/api/types";
import { useT } from "@/i18n";
import { Button, Card, Checkbox, cx, JsonView, PagedList, Time, toast } from "@/ui";
import { useFilters } from "../../runs/parts/filters";
import { useMoves } from "./moves";
import { Came, Kind, StandBadge } from "./State";

/** What was told, and what became of it. */
export function Messages({ subscription }: { subscription: Subscription }) {
  const t = useT("subscriptions");
  const [filters, set] = useFilters(["failed"] as const);
  const failed = filters.failed !== "";
  const list = useDispatches(subscription.id, failed);
  return (
    <Card title={t("messages")} pad={false} actions={<Checkbox checked={failed} onChange={(on) => set({ failed: on ? "1" : "" })} label={t("messages_failed")} />}>
      <PagedList list={list} skeletonRows={3} empty={<p className="px-4 py-6 text-center text-base text-ink-3">{t(failed ? "messages_none_failed" : "messages_none")}</p>}>
        <ul aria-label={t("messages")} className="divide-y divide-line">{list.items.map((one) => <Message key={one.id} subscription={subscription} dispatch={one} />)}</ul>
      </PagedList>
    </Card>
  );
}

/** What a test came to, as soon as it was tried; where one looks who asked for it. */
export function TestOutcome({ subscription, test }: { subscription: Subscription; test: Dispatch | undefined }) {
  const t = useT("subscriptions");
  const list = useDispatches(subscription.id, false);
  const now = test && (list.items.find((one) => one.id === test.id) ?? test);
  const text = now?.status === "sent" ? "test_sent" : now?.last ? "test_failed" : "test_waits";
  return <div role="status" className={cx(!now && "sr-only")}>{now && <p className="rounded-lg bg-sunken px-4 py-2.5 text-base text-ink-2">{t(text)} {text === "test_failed" && <Came dispatch={now} />}</p>}</div>;
}

function Message({ subscription, dispatch }: { subscription: Subscription; dispatch: Dispatch }) {
  const t = useT("subscriptions");
  const id = useId();
  const [open, setOpen] = useState(false);
  const { sendAgain } = useSubscriptionActions();
  const { failed } = useMoves();
  const { happening, status, tries } = dispatch;
  const { run_id: run, name } = happening as { run_id?: string | null; name?: string };
  const again = () => sendAgain.mutate({ id: subscription.id, message: dispatch.id }, { onSuccess: () => toast({ title: t("sent_again") }), onError: failed });
  return (
    <li className="flex flex-col gap-1 px-4 py-3">
      <p className="flex flex-wrap items-center gap-x-2 gap-y-0.5 text-base">
        <span className="font-medium"><Kind dispatch={dispatch} /></span>
        {name && dispatch.kind !== "test" && <span className="min-w-0 text-ink-2 wrap-anywhere">{name}</span>}
        <StandBadge dispatch={dispatch} />
        <span className="text-sm text-ink-3"><Time relative at={dispatch.made_at} /></span>
        {run && <Link to="/runs/$runId" params={{ runId: run }} className="text-sm text-accent-ink underline underline-offset-2">{t("run_link")}</Link>}
      </p>
      {tries > 0 && <p className="text-sm text-ink-2 tabular">{t("tries", { count: tries })}{status === "waiting" && dispatch.next_at !== null && <> · {t("next")} <Time relative at={dispatch.next_at} /></>}</p>}
      {dispatch.last !== null && <p className="text-sm text-ink-2">{t("last_try")} <Came dispatch={dispatch} /></p>}
      <div className="-ml-2 flex flex-wrap gap-2">
        <Button size="sm" variant="quiet" aria-expanded={open} aria-controls={id} icon={<ChevronRight aria-hidden className={cx("size-3.5 transition-transform", open && "rotate-90")} />} onClick={() => setOpen(!open)}>{t("happening")}</Button>
        {subscription.deleted_at === null && <Button size="sm" variant="quiet" loading={sendAgain.isPending} icon={<Send aria-hidden className="size-3.5" />} onClick={again}>{t(status === "waiting" ? "send_now" : "send_again")}</Button>}
      </div>
      <div id={id} hidden={!open}>{open && <JsonView value={happening} />}</div>
    </li>
  );
}
