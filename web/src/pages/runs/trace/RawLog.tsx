import { Download } from "lucide-react";
import { useState } from "react";
import { useT } from "@/i18n";
import { Button, Checkbox, CopyButton, formatExact, formatNumber, SearchInput } from "@/ui";
import type { RunEvent } from "./types";

/** How many are shown at first, and more at a time. */
const STEP = 100;

/** The log as JSON lines, as a file. */
export function download(runId: string, events: readonly RunEvent[]): void {
  const blob = new Blob([events.map((event) => JSON.stringify(event)).join("\n"), "\n"], { type: "application/x-ndjson" });
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = `run-${runId}.jsonl`;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}

/** The events as they are stored. */
export function RawLog({ runId, events }: { runId: string; events: readonly RunEvent[] }) {
  const t = useT("runs");
  const [words, setWords] = useState("");
  const [deltas, setDeltas] = useState(false);
  const [shown, setShown] = useState(STEP);
  const wanted = words.trim().toLowerCase();
  const pieces = events.filter((event) => event.type === "model.delta").length;
  const found = events.filter((event) => (deltas || event.type !== "model.delta") && (wanted === "" || JSON.stringify(event).toLowerCase().includes(wanted)));
  return (
    <div className="flex flex-col gap-3">
      <div className="flex flex-wrap items-center gap-3">
        <SearchInput className="w-64 max-md:w-full" label={t("raw_filter")} value={words} onChange={setWords} />
        {pieces > 0 && <Checkbox checked={deltas} onChange={setDeltas} label={`${t("raw_deltas")} (${formatNumber(pieces)})`} />}
        <span className="ml-auto text-sm text-ink-3 tabular">{t("raw_count", { shown: formatNumber(found.length), all: formatNumber(events.length) })}</span>
        <Button size="sm" icon={<Download aria-hidden className="size-3.5" />} onClick={() => download(runId, events)}>{t("action_download")}</Button>
      </div>
      <ol className="divide-y divide-line overflow-hidden rounded-lg border border-line bg-surface">
        {found.slice(0, shown).map((event) => <RawEvent key={event.seq} event={event} />)}
      </ol>
      {found.length > shown && <Button size="sm" variant="quiet" className="self-center" onClick={() => setShown(shown + STEP)}>{t("more")}</Button>}
    </div>
  );
}

function RawEvent({ event }: { event: RunEvent }) {
  const [open, setOpen] = useState(false);
  const { run_id: _run, seq, at, epoch: _epoch, type, ...body } = event;
  const text = JSON.stringify(event, null, 2);
  return (
    <li>
      <button type="button" aria-expanded={open} onClick={() => setOpen(!open)} className="flex w-full min-w-0 items-baseline gap-3 px-3 py-1.5 text-left font-mono text-sm hover:bg-hover focus-visible:outline-offset-[-2px]">
        <span className="w-9 shrink-0 text-right text-ink-3 tabular">{seq}</span>
        <span className="shrink-0 font-medium">{type}</span>
        <span className="min-w-0 flex-1 truncate text-ink-3 max-md:hidden">{JSON.stringify(body)}</span>
        <time dateTime={new Date(at).toISOString()} title={formatExact(at)} className="ml-auto shrink-0 text-xs text-ink-3 tabular">{new Date(at).toISOString().slice(11, 23)}</time>
      </button>
      {open && (
        <div className="relative border-t border-line bg-sunken">
          <span className="absolute top-1 right-1"><CopyButton text={text} /></span>
          <pre tabIndex={0} className="max-h-[30rem] overflow-auto py-2 pr-10 pl-15 font-mono text-sm leading-[1.5] whitespace-pre-wrap wrap-anywhere focus-visible:outline-offset-[-2px] max-md:pl-3">{text}</pre>
        </div>
      )}
    </li>
  );
}
