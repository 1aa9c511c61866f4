import { AlarmClock, Bell, Check, Trash2 } from "lucide-react";
import { useEffect, useRef, useState } from "react";
import { useReminderActions, useReminders } from "@/api/hooks";
import type { Reminder } from "@/api/types";
import { useT } from "@/i18n";
import { Button, ConfirmDialog, cx, EmptyState, ErrorState, formatExact, IconButton, Menu, MenuItem, Sheet, Skeleton, Time, toast, useErrorText } from "@/ui";
import { openOverlay, useOverlay } from "./overlays";
import { SNOOZE, toTell } from "./reminding";

const useDue = () => (useReminders().data ?? []).filter((one) => one.due);

/** Opens the list; its number is what is due. */
export function RemindersButton({ wide }: { wide?: boolean }) {
  const t = useT("frame");
  const due = useDue().length;
  const label = due ? t("reminders.due", { count: due }) : t("reminders");
  return (
    <button type="button" aria-haspopup="dialog" aria-label={wide ? undefined : label} title={label} onClick={() => openOverlay("reminders")} className={wide ? "flex w-full items-center gap-3 rounded-lg px-3 py-3 text-lg hover:bg-hover" : "relative rounded-lg p-2 text-ink-3 hover:bg-hover hover:text-ink"}>
      <Bell aria-hidden className={wide ? "size-5 text-ink-3" : "size-[1.1875rem] stroke-[1.6]"} />
      {wide && label}
      {!wide && due > 0 && <span aria-hidden className="absolute top-0 right-0 min-w-4 rounded-full bg-warn-line px-1 text-center text-[0.625rem] leading-4 font-semibold text-[#201400] tabular">{due > 99 ? "99+" : due}</span>}
    </button>
  );
}

/** Tells of what becomes due, wherever one is, and holds the list. */
export function Reminders() {
  const t = useT("frame");
  const due = useDue();
  const told = useRef(new Set<string>());
  const open = useOverlay() === "reminders";
  useEffect(() => {
    for (const one of toTell(due, told.current)) {
      toast({ title: t("reminders.now", { text: one.text }), detail: formatExact(one.at), action: { label: t("reminders.show"), run: () => openOverlay("reminders") } });
    }
  }, [due, t]);
  return <Sheet open={open} onOpenChange={(next) => openOverlay(next ? "reminders" : null)} title={t("reminders")}>{open && <List />}</Sheet>;
}

/** Says why something failed; with promises, as a row may be gone by then. */
function useFailed() {
  const errorText = useErrorText();
  return (error: unknown) => {
    const { title, hint } = errorText(error);
    toast({ title, ...(hint && { detail: hint }), tone: "bad" });
  };
}

function List() {
  const t = useT("frame");
  const failed = useFailed();
  const { data, error, refetch } = useReminders();
  const [removing, setRemoving] = useState<Reminder | null>(null);
  const { remove } = useReminderActions();
  if (error && !data) return <ErrorState error={error} onRetry={() => void refetch()} />;
  if (!data) return <Skeleton className="p-4" />;
  if (!data.length) return <EmptyState icon={<Bell />} title={t("reminders.none")}>{t("reminders.how")}</EmptyState>;
  return (
    <>
      <ul className="divide-y divide-line">{data.map((one) => <Row key={one.id} one={one} onRemove={() => setRemoving(one)} />)}</ul>
      <ConfirmDialog danger open={!!removing} onOpenChange={() => setRemoving(null)} title={t("reminders.remove")} description={removing?.text ?? ""} confirm={t("reminders.remove")} onConfirm={() => removing && (void remove.mutateAsync(removing.id).catch(failed), setRemoving(null))} />
    </>
  );
}

function Row({ one, onRemove }: { one: Reminder; onRemove: () => void }) {
  const t = useT("frame");
  const { change } = useReminderActions();
  const failed = useFailed();
  const open = () => void change.mutateAsync({ id: one.id, done: false }).catch(failed);
  const done = () => void change.mutateAsync({ id: one.id, done: true }).then(() => toast({ title: t("reminders.isDone", { text: one.text }), undo: open }), failed);
  const later = (when: keyof typeof SNOOZE) => void change.mutateAsync({ id: one.id, at: SNOOZE[when](Date.now()) }).catch(failed);
  return (
    <li className="flex items-start gap-2 px-4 py-3">
      <div className="min-w-0 flex-1">
        <p className="wrap-anywhere">{one.text}</p>
        <p className={cx("text-sm", one.due ? "text-warn" : "text-ink-3")}><Time at={one.at} relative />{one.agent && ` · ${one.agent}`}</p>
      </div>
      {one.may_change && (
        <>
          <Button size="sm" icon={<Check />} onClick={done} disabled={change.isPending}>{t("reminders.done")}</Button>
          <Menu trigger={<IconButton size="sm" label={t("reminders.snooze")}><AlarmClock /></IconButton>}>
            <MenuItem onSelect={() => later("tenMinutes")}>{t("reminders.tenMinutes")}</MenuItem>
            <MenuItem onSelect={() => later("hour")}>{t("reminders.hour")}</MenuItem>
            <MenuItem onSelect={() => later("tomorrow")}>{t("reminders.tomorrow")}</MenuItem>
          </Menu>
          <IconButton size="sm" label={t("reminders.remove")} onClick={onRemove}><Trash2 /></IconButton>
        </>
      )}
    </li>
  );
}
