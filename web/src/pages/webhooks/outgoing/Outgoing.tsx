import { useNavigate } from "@tanstack/react-router";
import { Plus, SearchX, Send } from "lucide-react";
import { useState } from "react";
import { useSubscriptions } from "@/api/hooks/subscriptions";
import type { Subscription, SubscriptionWithSecret } from "@/api/types";
import { useT } from "@/i18n";
import { Button, Checkbox, EmptyState, PagedList, toast } from "@/ui";
import { useFilters } from "../../runs/parts/filters";
import type { Doing } from "../parts/Row";
import { PauseDialog, RemoveDialog } from "./Dialogs";
import { Row } from "./Row";
import { NewSecret } from "./Secrets";
import { SubscriptionDialog } from "./SubscriptionDialog";

/** Addresses that are told of what happens. */
export function Outgoing({ operator }: { operator: boolean }) {
  const t = useT("subscriptions");
  const navigate = useNavigate();
  const [filters, set] = useFilters(["mine", "deleted", "new"] as const);
  const mine = operator && filters.mine !== "";
  const deleted = filters.deleted !== "";
  const list = useSubscriptions({ ...(mine && { mine }), ...(deleted && { deleted }) });
  const [doing, setDoing] = useState<{ subscription: Subscription; what: Doing } | null>(null);
  const [made, setMade] = useState<SubscriptionWithSecret | null>(null);
  const filtered = mine || deleted;
  const some = filtered || list.items.length > 0;
  const close = () => setDoing(null);
  const make = () => set({ new: "1" });
  /** `replace`: in the place of the form. */
  const open = ({ id }: Subscription, replace = false) => void navigate({ to: "/webhooks/outgoing/$subscriptionId", params: { subscriptionId: id }, replace });
  const shown = (answer: SubscriptionWithSecret) => {
    // Only messages for programs are signed.
    if (answer.subscription.form === "standard") return setMade(answer), set({ new: "" });
    toast({ title: t("made", { name: answer.subscription.name }), detail: t("made_now") });
    open(answer.subscription, true);
  };
  return (
    <>
      {some && (
        <div role="search" className="mb-3 flex flex-wrap items-center gap-x-4 gap-y-2">
          {operator && <Checkbox checked={mine} onChange={(on) => set({ mine: on ? "1" : "" })} label={t("mine")} />}
          <Checkbox checked={deleted} onChange={(on) => set({ deleted: on ? "1" : "" })} label={t("show_deleted")} />
          <Button size="sm" variant="primary" className="ml-auto" icon={<Plus aria-hidden className="size-4" />} onClick={make}>{t("new")}</Button>
        </div>
      )}
      <PagedList
        list={list}
        empty={
          <div className="rounded-lg border border-line bg-surface">
            {filtered ? (
              <EmptyState icon={<SearchX />} title={t(deleted ? "none_deleted" : "none_found")} action={<Button size="sm" onClick={() => set({ mine: "", deleted: "" })}>{t("show_all")}</Button>} />
            ) : (
              <EmptyState icon={<Send />} title={t("empty_title")} action={<Button variant="primary" onClick={make}>{t("new")}</Button>}>{t("empty_text")}</EmptyState>
            )}
          </div>
        }
      >
        <ul aria-label={t("title")} className="divide-y divide-line rounded-lg border border-line bg-surface">{list.items.map((one) => <Row key={one.id} subscription={one} others={operator} onDo={(what) => setDoing({ subscription: one, what })} />)}</ul>
      </PagedList>
      {filters.new !== "" && !made && <SubscriptionDialog subscription={null} onClose={() => set({ new: "" })} onMade={shown} />}
      {made && <NewSecret made={made} title={t("made", { name: made.subscription.name })} text={t("made_text")} onDone={() => (setMade(null), open(made.subscription))} />}
      {doing?.what === "edit" && <SubscriptionDialog subscription={doing.subscription} onClose={close} onMade={setMade} />}
      {doing?.what === "pause" && <PauseDialog subscription={doing.subscription} onClose={close} />}
      {doing?.what === "remove" && <RemoveDialog subscription={doing.subscription} onClose={close} />}
    </>
  );
}
