import { useNavigate } from "@tanstack/react-router";
import { Paperclip, Pencil } from "lucide-react";
import { memo, useCallback, useEffect, useRef, useState } from "react";
import { useConnections, useConversationActions, useRunActions } from "@/api/hooks";
import type { GivenDocument, Run } from "@/api/types";
import { useT } from "@/i18n";
import { Button, Dialog, ErrorState, IconButton, Select, Skeleton, Textarea, toast, useErrorText } from "@/ui";
import { RunEnd } from "@/run/end";
import { CitedSources } from "@/run/cited";
import { FileLink } from "@/run/file-open";
import { RunItems } from "@/run/items";
import type { ClaimTarget } from "@/run/rehype-claims";
import { useRunStream } from "@/run/stream";
import type { RunView } from "@/run/view";
import { GivenChip } from "./attachment";

/** The server puts the paths of attached files under the message. */
function attachedIn(text: string): { words: string; files: string[] } {
  const found = /\n\nAttached files:\n((?:- .+(?:\n|$))+)$/.exec(text);
  return found ? { words: text.slice(0, found.index), files: found[1]!.trim().split("\n").map((line) => line.slice(2)) } : { words: text, files: [] };
}

/** What the user said. */
export function Said({ text, documents = [], onEdit, pending }: { text: string; documents?: readonly GivenDocument[] | undefined; onEdit?: (() => void) | undefined; pending?: boolean }) {
  const t = useT("chat");
  const { words, files } = attachedIn(text);
  return (
    <div className="group/said flex items-start justify-end gap-1">
      {onEdit && <span className="mt-0.5 opacity-0 group-focus-within/said:opacity-100 group-hover/said:opacity-100 max-md:hidden"><IconButton size="sm" label={t("editResend")} onClick={onEdit}><Pencil /></IconButton></span>}
      <div className={`max-w-[85%] rounded-xl rounded-br-sm bg-active px-3.5 py-2 text-[0.9375rem] leading-6 whitespace-pre-wrap wrap-anywhere`} aria-busy={pending || undefined}><span className="sr-only">{t("youSaid")}: </span>{words}
        {files.length + documents.length > 0 && (
          <ul className="mt-1.5 flex flex-wrap gap-1.5" aria-label={t("attachments")}>
            {files.map((file) => <li key={file}><FileLink path={file} className="flex items-center gap-1.5 rounded-md border border-line bg-surface px-2 py-0.5 text-sm text-ink-2 hover:border-line-2 hover:text-ink"><Paperclip aria-hidden className="size-3.5 text-ink-3" />{file}</FileLink></li>)}
            {documents.map((document) => <li key={document.id}><GivenChip document={document} /></li>)}
          </ul>
        )}
      </div>
    </div>
  );
}

/** The answer, as far as it has come. */
function saidIn(view: RunView): string {
  const last = view.items.at(-1);
  return view.answer || (last?.kind === "text" ? last.text : "");
}

type Props = { run: { id: string; title: string; answer: string | null }; conversation: string | null; next: string | undefined; latest: boolean; onView?: (view: RunView) => void; onSay?: (text: string) => void };

/** One request and all that came of it. Older ones are read when they come into sight. */
export const Exchange = memo((props: Props) => {
  const [near, setNear] = useState(props.latest);
  const box = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (near || !box.current) return;
    const watch = new IntersectionObserver((entries) => entries.some((entry) => entry.isIntersecting) && setNear(true), { rootMargin: "800px" });
    watch.observe(box.current);
    return () => watch.disconnect();
  }, [near]);
  if (near || props.latest) return <Full {...props} />;
  return (
    <div ref={box} className="flex flex-col gap-4">
      <Said text={props.run.title} />
      <div className="prose whitespace-pre-wrap">{props.run.answer}</div>
    </div>
  );
});

function Full({ run, conversation, next, onView, onSay }: Props) {
  const t = useT("chat");
  const errorText = useErrorText();
  const navigate = useNavigate();
  const [again, setAgain] = useState(0);
  const { view, error } = useRunStream(run.id, again);
  const actions = useRunActions(run.id);
  const { fork } = useConversationActions();
  const [highlight, setHighlight] = useState<string | null>(null);
  const [editing, setEditing] = useState<"text" | "connection" | null>(null);
  useEffect(() => onView?.(view), [onView, view]);

  const fail = useCallback((problem: unknown) => {
    const { title, hint } = errorText(problem);
    toast({ tone: "bad", title, ...(hint && { detail: hint }) });
    // eslint-disable-next-line react-hooks/exhaustive-deps
  }, []);
  const goTo = (id: string | null, runId?: string) => void (id ? navigate({ to: "/chat/$conversationId", params: { conversationId: id } }) : runId && navigate({ to: "/runs/$runId", params: { runId } }));
  const onClaim = useCallback((target: ClaimTarget) => {
    const call = target.calls[0];
    if (!call) return;
    setHighlight(call);
    document.getElementById(`call-${run.id}-${call}`)?.scrollIntoView({ block: "center", behavior: "smooth" });
    setTimeout(() => setHighlight(null), 2200);
  }, [run.id]);
  const undo = actions.undo;
  const { mutate: undoCall } = undo;
  const onUndo = useCallback((callId?: string) => undoCall(callId, {
    onError: fail,
    onSuccess: (page) => {
      setAgain((n) => n + 1);
      for (const entry of page.items) toast({ title: t(entry.undone ? "undoDone" : "undoNot", { tool: entry.tool }), detail: entry.detail, tone: entry.undone ? "ok" : "bad" });
      if (page.items.length === 0) toast({ title: t("undoNothing") });
    },
  }), [undoCall, fail, t]);
  const branch = (body: { connection_id?: string; input?: string }) =>
    actions.fork.mutate(body, { onError: fail, onSuccess: (started) => (setEditing(null), goTo(started.conversation_id, started.run_id), toast({ title: t("branched") })) });

  const done = view.status === "finished";
  const undoable = view.items.filter((item) => item.kind === "tool" && item.undo?.kind === "snapshot" && item.undone === null).length;
  return (
    <article aria-label={run.title} className="group/run flex flex-col gap-4">
      <Said text={view.input || run.title} documents={view.documents} onEdit={done && conversation ? () => setEditing("text") : undefined} />
      {error ? <ErrorState inline error={error} /> : view.status === "empty" ? <Skeleton rows={3} className="max-w-md" /> : (
        <>
          <RunItems view={view} highlight={highlight} onUndo={done ? onUndo : undefined} undoing={undo.isPending ? (undo.variables ?? null) : null} onClaim={onClaim} />
          <CitedSources text={saidIn(view)} passages={view.passages} />
          {done && (
            <RunEnd
              view={view}
              onClaim={onClaim}
              busy={actions.fork.isPending || fork.isPending}
              actions={conversation ? {
                regenerate: () => branch({}),
                fork: () => fork.mutate({ id: conversation, ...(next && { before_run: next }) }, { onError: fail, onSuccess: (made) => (goTo(made.id), toast({ title: t("branched") })) }),
                forkWith: () => setEditing("connection"),
                undoAll: undoable > 1 ? () => onUndo() : undefined,
                again: onSay && (() => onSay(view.input)),
                goOn: onSay && view.answer ? () => onSay(t("continueMessage")) : undefined,
              } : null}
            />
          )}
        </>
      )}
      {editing === "text" && <EditDialog text={view.input} busy={actions.fork.isPending} onClose={() => setEditing(null)} onSend={(input) => branch({ input })} />}
      {editing === "connection" && <ConnectionDialog busy={actions.fork.isPending} onClose={() => setEditing(null)} onSend={(connection_id) => branch({ connection_id })} />}
    </article>
  );
}

function EditDialog({ text, busy, onClose, onSend }: { text: string; busy: boolean; onClose: () => void; onSend: (text: string) => void }) {
  const t = useT("chat");
  const [value, setValue] = useState(text);
  return (
    <Dialog open onOpenChange={(open) => !open && onClose()} title={t("editResend")} description={t("editResendHint")} footer={<Button variant="primary" loading={busy} disabled={!value.trim()} onClick={() => onSend(value.trim())}>{t("send")}</Button>}>
      <Textarea aria-label={t("message")} value={value} onChange={(event) => setValue(event.target.value)} />
    </Dialog>
  );
}

function ConnectionDialog({ busy, onClose, onSend }: { busy: boolean; onClose: () => void; onSend: (id: string) => void }) {
  const t = useT("chat");
  const { items } = useConnections();
  const [chosen, setChosen] = useState("");
  return (
    <Dialog open onOpenChange={(open) => !open && onClose()} title={t("forkWith")} description={t("forkWithHint")} footer={<Button variant="primary" loading={busy} disabled={!chosen} onClick={() => onSend(chosen)}>{t("forkSend")}</Button>}>
      <Select aria-label={t("connection")} className="w-full" value={chosen} onChange={(event) => setChosen(event.target.value)}>
        <option value="">{t("connectionChoose")}</option>
        {items.map((entry) => <option key={entry.id} value={entry.id}>{entry.name} · {entry.model.split("/").at(-1)}</option>)}
      </Select>
    </Dialog>
  );
}

export const titleOnly = (run: Run) => ({ id: run.id, title: run.title, answer: run.answer });
