import { Link } from "@tanstack/react-router";
import { Ellipsis, Pause, Pencil, Play, RotateCcw, Trash2 } from "lucide-react";
import type { Subscription } from "@/api/types";
import { useT } from "@/i18n";
import { IconButton, Menu, MenuItem, MenuSeparator, Time } from "@/ui";
import type { Doing } from "../parts/Row";
import { useMoves } from "./moves";
import { Came, Kind, StandBadge, StateBadge, useKinds } from "./State";

type Props = { subscription: Subscription; others: boolean; onDo: (what: Doing) => void };

/** A subscription in the list. `others`: it may be somebody else's, which is said. */
export function Row({ subscription, others, onDo }: Props) {
  const t = useT("subscriptions");
  const kinds = useKinds();
  const { last, pause } = subscription;
  return (
    <li className="relative flex items-start gap-3 px-4 py-3 transition-colors first:rounded-t-lg last:rounded-b-lg hover:bg-hover">
      <div className="flex min-w-0 flex-1 flex-col gap-0.5">
        <h2 className="flex flex-wrap items-center gap-2 text-base font-semibold">
          {/* The whole row opens the subscription. */}
          <Link to="/webhooks/outgoing/$subscriptionId" params={{ subscriptionId: subscription.id }} className="wrap-anywhere after:absolute after:inset-0 focus-visible:outline-none focus-visible:after:outline-2 focus-visible:after:outline-focus">{subscription.name}</Link>
          <StateBadge subscription={subscription} />
        </h2>
        <p className="text-base text-ink-2 wrap-anywhere">{t(`form_${subscription.form}`)} → {subscription.place}{others && <> · {subscription.owner ?? t("owner_gone")}</>}</p>
        <p className="text-sm text-ink-2 wrap-anywhere">{kinds(subscription)}</p>
        {pause?.note && <p className="text-sm text-ink-2 wrap-anywhere">{t("note_said", { note: pause.note })}</p>}
        {last ? <p className="flex flex-wrap items-baseline gap-x-2 text-sm text-ink-3"><span>{t("last")} <Time relative at={last.made_at} /></span><span><Kind dispatch={last} /></span><StandBadge dispatch={last} /><Came dispatch={last} /></p> : subscription.may_change && <p className="text-sm text-ink-3">{t("last_none")}</p>}
      </div>
      <div className="relative z-1 -mr-1.5"><RowMenu subscription={subscription} onDo={onDo} /></div>
    </li>
  );
}

function RowMenu({ subscription, onDo }: Omit<Props, "others">) {
  const t = useT("subscriptions");
  const moves = useMoves();
  const { pause, may_change: mine } = subscription;
  const gone = subscription.deleted_at !== null;
  if (gone && !mine) return null;
  return (
    <Menu trigger={<IconButton size="sm" label={t("actions", { name: subscription.name })}><Ellipsis /></IconButton>}>
      {gone && <MenuItem icon={<RotateCcw />} onSelect={() => void moves.bringBack(subscription)}>{t("restore")}</MenuItem>}
      {!gone && pause === null && <MenuItem icon={<Pause />} onSelect={() => onDo("pause")}>{t("pause")}</MenuItem>}
      {!gone && pause !== null && mine && <MenuItem icon={<Play />} onSelect={() => void moves.resume(subscription)}>{t("resume")}</MenuItem>}
      {!gone && mine && <MenuItem icon={<Pencil />} onSelect={() => onDo("edit")}>{t("edit")}</MenuItem>}
      {!gone && (mine || pause === null) && <MenuSeparator />}
      {!gone && <MenuItem icon={<Trash2 />} danger onSelect={() => (mine ? void moves.remove(subscription) : onDo("remove"))}>{t("delete")}</MenuItem>}
    </Menu>
  );
}
