import { ArrowUp, CornerDownRight, ListPlus, Paperclip, Square, X } from "lucide-react";
import { type ClipboardEvent, type KeyboardEvent, useEffect, useRef } from "react";
import { useT } from "@/i18n";
import { Button, cx, formatRange, IconButton, Spinner, Textarea, Tooltip } from "@/ui";
import { useDropped } from "../documents/parts/dropped";
import { useUploads } from "./attachments";
import { Attachment } from "./attachment";
import { MOST, tooMuch } from "./most";
import { useReading } from "./reading";
import { ConnectionPicker, ModePicker } from "./pickers";
import { type Attached, setDraft, useDraft } from "./stored";

export type Sending = "send" | "steer" | "queue";
type Props = {
  conversation: string;
  busy: boolean; stopping: boolean; sending: boolean; disabled: boolean;
  /** What the text is for while the run waits. */
  wanted: "answer" | "refine" | null;
  onSend: (text: string, attachments: Attached[], how: Sending) => void;
  onStop: () => void;
};

/** Where the user writes. */
export function Composer({ conversation, busy, stopping, sending, disabled, wanted, onSend, onStop }: Props) {
  const t = useT("chat");
  const draft = useDraft(conversation);
  const { uploading, start, cancel } = useUploads(conversation);
  // Anywhere on the page: what misses the composer would else take the browser away from it. Also before the page knows its agent.
  const over = useDropped(start);
  const area = useRef<HTMLTextAreaElement>(null);
  const picker = useRef<HTMLInputElement>(null);
  const reading = useReading(draft.attachments);
  const excess = tooMuch(draft.text.trim(), draft.attachments);
  const ready = !sending && !excess && !reading.open && !reading.failed && !disabled && uploading.length === 0 && draft.text.trim() !== "";
  const steering = busy && wanted === null;
  const send = (how: Sending) => ready && onSend(draft.text.trim(), draft.attachments, how);

  // Also once it is enabled: a disabled field takes no focus.
  useEffect(() => {
    // Taking the focus would close a menu or a dialog that was just opened.
    const free = !document.activeElement?.closest('[role="menu"], [role="dialog"]');
    if (!disabled && free && matchMedia("(hover: hover)").matches) area.current?.focus();
  }, [conversation, disabled]);

  // What is typed after attaching belongs into the text, not to the shortcuts of the page. On a phone that would open its keyboard.
  const toText = () => matchMedia("(hover: hover)").matches && area.current?.focus();
  const onKey = (event: KeyboardEvent) => {
    if (event.key !== "Enter" || event.shiftKey || event.nativeEvent.isComposing) return;
    event.preventDefault();
    send(steering ? (event.ctrlKey || event.metaKey ? "steer" : "queue") : "send");
  };
  const onPaste = (event: ClipboardEvent) => {
    const files = [...event.clipboardData.files];
    if (files.length === 0) return;
    event.preventDefault();
    start(files);
  };
  const placeholder = wanted === "answer" ? t("placeholder.answer") : wanted === "refine" ? t("placeholder.refine") : steering ? t("placeholder.steer") : t("placeholder");
  return (
    <div
      data-composer
      className={cx("rounded-xl border bg-surface shadow-1 transition-colors focus-within:border-ink-3", over ? "border-accent bg-accent-soft" : "border-line-2")}
    >
      {(draft.attachments.length > 0 || uploading.length > 0) && (
        <ul className="flex flex-wrap gap-1.5 px-3 pt-3" aria-label={t("attachments")}>
          {draft.attachments.map((file) => (
            <Attachment key={file.path ?? file.document} file={file} onDetach={() => (setDraft(conversation, { ...draft, attachments: draft.attachments.filter((other) => other !== file) }), toText())} />
          ))}
          {uploading.map((file) => (
            <li key={file.id} className="relative flex max-w-64 items-center gap-1.5 overflow-hidden rounded-md border border-line bg-bg py-0.5 pr-0.5 pl-2 text-sm">
              <Spinner className="text-ink-3" />
              <span className="truncate">{file.name}</span>
              <span className="text-xs text-ink-3 tabular">{Math.round(file.share * 100)} %</span>
              <IconButton size="sm" className="size-6!" label={t("cancelUpload", { name: file.name })} onClick={() => (cancel(file.id), toText())}><X /></IconButton>
              <span aria-hidden className="absolute bottom-0 left-0 h-0.5 bg-accent" style={{ width: `${file.share * 100}%` }} />
            </li>
          ))}
        </ul>
      )}
      {(reading.open || reading.failed) && <p role="status" className="px-4 pt-2 text-sm text-ink-3">{t(reading.failed ? "attach.failedHint" : "attach.readingHint")}</p>}
      {excess && <p role="status" className="px-4 pt-2 text-sm text-bad">{t(`most.${excess}`, formatRange({ least: 0, most: MOST[excess] }))}</p>}
      <Textarea
        ref={area}
        rows={1}
        maxRows={12}
        aria-label={placeholder}
        placeholder={over ? t("drop") : placeholder}
        value={draft.text}
        disabled={disabled}
        onChange={(event) => setDraft(conversation, { ...draft, text: event.target.value })}
        onKeyDown={onKey}
        onPaste={onPaste}
        className="block border-0! bg-transparent! px-4! pt-3! pb-1! text-[0.9375rem]! leading-6 outline-none! max-md:text-lg!"
      />
      <div className="flex items-center gap-0.5 px-2 pt-0.5 pb-2">
        <input ref={picker} type="file" multiple hidden onChange={(event) => (start(event.target.files ?? []), (event.target.value = ""), toText())} />
        <IconButton size="sm" label={t("attach")} disabled={disabled} onClick={() => (toText(), picker.current?.click())}><Paperclip /></IconButton>
        {!busy && <><ModePicker /><ConnectionPicker /></>}
        <span className="flex-1" />
        {steering && draft.text.trim() !== "" ? (
          <>
            <Tooltip text={t("steerHint")} keys="Mod+Enter"><Button size="sm" variant="quiet" disabled={!ready} icon={<CornerDownRight className="size-3.5" />} onClick={() => send("steer")}>{t("steer")}</Button></Tooltip>
            <Tooltip text={t("queueHint")} keys="Enter"><Button size="sm" disabled={!ready} icon={<ListPlus className="size-3.5" />} onClick={() => send("queue")}>{t("queue")}</Button></Tooltip>
          </>
        ) : null}
        {busy && (
          <Button size="sm" className="ml-1.5" loading={stopping} icon={<Square aria-hidden className="size-3 fill-current" />} aria-keyshortcuts="Escape" onClick={onStop}>{t("stop")}</Button>
        )}
        {!steering && (
          <IconButton label={t(wanted === "answer" ? "answerSend" : wanted === "refine" ? "refineSend" : "send")} keys="Enter" disabled={!ready} onClick={() => send("send")} className="ml-1.5 size-8! rounded-lg! bg-accent text-on-accent! hover:not-disabled:bg-accent-hover! disabled:bg-active disabled:text-ink-3! max-md:size-10!">
            {sending ? <Spinner /> : <ArrowUp />}
          </IconButton>
        )}
      </div>
    </div>
  );
}
