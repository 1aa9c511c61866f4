import { Link } from "@tanstack/react-router";
import { Ellipsis, Pause, Pencil, Play, RotateCcw, Trash2 } from "lucide-react";
import type { Hook } from "@/api/types";
import { useT } from "@/i18n";
import { IconButton, Menu, MenuItem, MenuSeparator, Time } from "@/ui";
import { Fate, RunLink } from "./Fate";
import { useMoves } from "./moves";
import { refusedLately, StateBadges } from "./State";

export type Doing = "edit" | "pause" | "remove";
type Props = { hook: Hook; others: boolean; onDo: (what: Doing) => void };

/** A webhook in the list. `others`: it may be somebody else's, which is said. */
export function Row({ hook, others, onDo }: Props) {
  const t = useT("webhooks");
  const { last, refused } = hook;
  return (
    <li className="relative flex items-start gap-3 px-4 py-3 transition-colors first:rounded-t-lg last:rounded-b-lg hover:bg-hover">
      <div className="flex min-w-0 flex-1 flex-col gap-0.5">
        <h2 className="flex flex-wrap items-center gap-2 text-base font-semibold">
          {/* The whole row opens the webhook. */}
          <Link to="/webhooks/$webhookId" params={{ webhookId: hook.id }} className="wrap-anywhere after:absolute after:inset-0 focus-visible:outline-none focus-visible:after:outline-2 focus-visible:after:outline-focus">{hook.name}</Link>
          <StateBadges hook={hook} />
        </h2>
        <p className="text-base text-ink-2 wrap-anywhere">{t(`kind_${hook.signing.kind}`)} → {hook.agent ?? t("agent_gone")}{others && <> · {hook.owner ?? t("owner_gone")}</>}</p>
        {hook.pause?.note && <p className="text-sm text-ink-2 wrap-anywhere">{t("note_said", { note: hook.pause.note })}</p>}
        {last ? <p className="flex flex-wrap items-baseline gap-x-2 text-sm text-ink-3"><span>{t("last")} <Time relative at={last.received_at} /></span><Fate delivery={last} /><RunLink delivery={last} /></p> : <p className="text-sm text-ink-3">{t("last_none")}</p>}
        {refused && hook.deleted_at === null && refusedLately(hook) && <p className="text-sm text-ink-2 wrap-anywhere">{t("refused_short", { count: refused.count })} <Time relative at={refused.at} />: {refused.problem}</p>}
      </div>
      <div className="relative z-1 -mr-1.5"><RowMenu hook={hook} onDo={onDo} /></div>
    </li>
  );
}

function RowMenu({ hook, onDo }: { hook: Hook; onDo: (what: Doing) => void }) {
  const t = useT("webhooks");
  const moves = useMoves();
  const mine = hook.may_change;
  const gone = hook.deleted_at !== null;
  if (gone && !mine) return null;
  return (
    <Menu trigger={<IconButton size="sm" label={t("actions", { name: hook.name })}><Ellipsis /></IconButton>}>
      {gone && <MenuItem icon={<RotateCcw />} onSelect={() => void moves.bringBack(hook)}>{t("restore")}</MenuItem>}
      {!gone && hook.pause === null && <MenuItem icon={<Pause />} onSelect={() => onDo("pause")}>{t("pause")}</MenuItem>}
      {!gone && hook.pause !== null && mine && <MenuItem icon={<Play />} onSelect={() => void moves.resume(hook)}>{t("resume")}</MenuItem>}
      {!gone && mine && <MenuItem icon={<Pencil />} onSelect={() => onDo("edit")}>{t("edit")}</MenuItem>}
      {!gone && (mine || hook.pause === null) && <MenuSeparator />}
      {!gone && <MenuItem icon={<Trash2 />} danger onSelect={() => (mine ? void moves.remove(hook) : onDo("remove"))}>{t("delete")}</MenuItem>}
    </Menu>
  );
}
