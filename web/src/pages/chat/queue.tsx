import { ListPlus, Pencil, Play, X } from "lucide-react";
import { useT } from "@/i18n";
import { Button, IconButton } from "@/ui";
import { editDraft, type Queued, setQueue, useQueue } from "./stored";

/** Messages that wait for the run to end. */
export function QueueChips({ conversation, held, onNext }: { conversation: string; held: boolean; onNext: (entry: Queued) => void }) {
  const t = useT("chat");
  const queue = useQueue(conversation);
  if (queue.length === 0) return null;
  const without = (id: string) => setQueue(conversation, queue.filter((entry) => entry.id !== id));
  return (
    <section aria-label={t("queued")} className="mb-2 flex flex-col gap-1">
      <ol className="flex flex-col gap-1">
        {queue.map((entry, index) => (
          <li key={entry.id} className="flex items-center gap-2 rounded-lg border border-dashed border-line-2 bg-bg py-0.5 pr-1 pl-3 text-sm">
            <ListPlus aria-hidden className="size-3.5 shrink-0 text-ink-3" />
            <span className="min-w-0 flex-1 truncate">{entry.text}</span>
            {held && index === 0 && <Button size="sm" variant="quiet" icon={<Play className="size-3" />} onClick={() => onNext(entry)}>{t("sendNow")}</Button>}
            <IconButton size="sm" label={t("queueEdit")} onClick={() => (without(entry.id), editDraft(conversation, (draft) => ({ text: [entry.text, draft.text].filter(Boolean).join("\n"), attachments: [...entry.attachments, ...draft.attachments] })))}><Pencil /></IconButton>
            <IconButton size="sm" label={t("queueRemove")} onClick={() => without(entry.id)}><X /></IconButton>
          </li>
        ))}
      </ol>
      {held && <p className="px-3 text-xs text-ink-3">{t("queueHeld")}</p>}
    </section>
  );
}
