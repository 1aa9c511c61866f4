import { ArrowDown } from "lucide-react";
import { useCallback, useEffect, useLayoutEffect, useMemo, useRef, useState } from "react";
import { mayWork, useConversation, useMe, useRunActions } from "@/api/hooks";
import type { Agent } from "@/api/types";
import { useShortcut } from "@/frame/shortcuts";
import { useT } from "@/i18n";
import { Button, ErrorState, Skeleton, useErrorText, toast } from "@/ui";
import { Busy } from "@/run/cards/notice";
import { emptyRun, type RunView } from "@/run/view";
import { Composer, type Sending } from "./composer";
import { Earlier } from "./earlier";
import { Exchange, Said } from "./exchange";
import { Follow, isField, takesUp } from "./follow";
import { QueueChips } from "./queue";
import { type Message, useSending, useStarted } from "./send";
import { mayStop } from "./stop-key";
import { type Attached, readQueue, setDraft, setQueue, useChoice, useQueue } from "./stored";
import { Welcome } from "./welcome";

/** Keeps the end in sight while text comes in, unless the user has moved away. */
function useStickyEnd(key: string) {
  const box = useRef<HTMLDivElement>(null);
  const inner = useRef<HTMLDivElement>(null);
  const [follow] = useState(() => new Follow());
  const [away, setAway] = useState(false);
  const toEnd = useCallback((smooth?: boolean) => {
    follow.resume();
    box.current?.scrollTo({ top: box.current.scrollHeight, behavior: smooth ? "smooth" : "auto" });
  }, [follow]);
  useLayoutEffect(() => {
    if (key) toEnd();
  }, [toEnd, key]);
  useEffect(() => {
    const outer = box.current;
    if (!outer || !inner.current) return;
    const place = () => ({ top: outer.scrollTop, height: outer.scrollHeight, view: outer.clientHeight });
    const look = () => setAway(follow.away(place()));
    const grow = new ResizeObserver(() => {
      if (follow.following) outer.scrollTo({ top: outer.scrollHeight });
      else look();
    });
    grow.observe(inner.current);
    grow.observe(outer);
    const stop = new AbortController();
    const on = <K extends keyof HTMLElementEventMap>(name: K, heard: (event: HTMLElementEventMap[K]) => void) => outer.addEventListener(name, heard, { passive: true, signal: stop.signal });
    on("scroll", () => (follow.scrolled(place()), look()));
    const taken = ({ target }: Event) => takesUp(target as Element | null, outer, (block) => getComputedStyle(block as Element).overflowY);
    on("wheel", (event) => taken(event) || follow.wheel(event.deltaY, place()));
    on("keydown", (event) => isField(event.target as HTMLElement | null) || taken(event) || follow.key(event.key, event.shiftKey, place()));
    on("touchmove", () => follow.held());
    on("touchend", () => (follow.released(place()), look()));
    // On the box itself and not on what is in it: its scrollbar.
    let held = false;
    on("pointerdown", (event) => {
      held = event.target === outer && event.offsetX >= outer.clientWidth;
      if (held) follow.held();
    });
    const letGo = () => {
      if (held) (follow.released(place()), look());
      held = false;
    };
    window.addEventListener("pointerup", letGo, { signal: stop.signal });
    return () => (grow.disconnect(), stop.abort());
  }, [follow]);
  return { box, inner, away, toEnd };
}

/** A conversation: what was said and done, and where the user writes. */
export function Thread({ conversationId, agent }: { conversationId: string | undefined; agent: Agent | undefined }) {
  const t = useT("chat");
  const errorText = useErrorText();
  const { data: me } = useMe();
  const draftKey = conversationId ?? "new";
  const detail = useConversation(conversationId);
  const started = useStarted(conversationId);
  const choice = useChoice();
  const queue = useQueue(draftKey);
  const [latest, setLatest] = useState<RunView | null>(null);
  const sending = useSending(conversationId, detail.data?.agent_id ?? agent?.id);

  const runs = useMemo(() => {
    const known = detail.data?.runs ?? [];
    return [...known.map((run) => ({ id: run.id, title: run.title, answer: run.answer, ended: run.status === "finished" })), ...started.filter((run) => !known.some((other) => other.id === run.id)).map((run) => ({ ...run, answer: null, ended: false }))];
  }, [detail.data?.runs, started]);
  const last = runs.at(-1);
  const view = latest && last && latest.id === last.id && latest.status !== "empty" ? latest : null;
  const ended = !last || (view ? view.status === "finished" : last.ended);
  const { stop } = useRunActions(last?.id ?? "");
  const { box, inner, away, toEnd } = useStickyEnd(`${conversationId}:${last?.id}:${sending.pending ? 1 : 0}`);

  const asked = view?.waiting ? view.items.find((item) => (item.kind === "ask" || item.kind === "plan") && item.approvalId === view.waiting) : undefined;
  const wanted = asked?.kind === "plan" ? "refine" : asked?.kind === "ask" && asked.subject.kind === "question" ? "answer" : null;
  const held = ended && view?.outcome !== null && view?.outcome !== undefined && view.outcome.status !== "completed";

  const fail = useCallback((error: unknown) => {
    const { title, hint } = errorText(error);
    toast({ tone: "bad", title, ...(hint && { detail: hint }) });
  }, [errorText]);
  const stopRun = () => !ended && !stop.isPending && stop.mutate(undefined, { onError: fail });
  useShortcut("Esc", stopRun, t("stopRun"), { inFields: true, enabled: !ended, when: (event) => mayStop(event.target as HTMLElement) });

  const onSend = (text: string, attachments: Attached[], how: Sending) => {
    const message: Message = { text, attachments, mode: choice.mode, connection: choice.connection };
    toEnd();
    if (wanted && view?.waiting) void sending.answer(view.waiting, message);
    else if (how === "steer" && last) void sending.steer(last.id, message);
    else if (how === "queue") sending.later(message);
    else void sending.start(message);
  };
  const sendQueued = useCallback(async (entry: { id: string } & Message) => {
    const { id, ...message } = entry;
    if (await sending.start(message, id)) setQueue(draftKey, readQueue(draftKey).filter((other) => other.id !== id));
  }, [sending, draftKey]);

  // The run has ended well: the next message in line goes out.
  const next = queue[0];
  const mayGo = ended && !held && !sending.busy && !sending.error && (!last || view !== null) && (conversationId === undefined || detail.data !== undefined);
  useEffect(() => {
    if (next && mayGo) void sendQueued(next);
    // eslint-disable-next-line react-hooks/exhaustive-deps
  }, [next?.id, mayGo]);

  const { start } = sending;
  const latestSay = useRef((_: string) => {});
  latestSay.current = (text) => (toEnd(), void start({ text, attachments: [], mode: choice.mode, connection: choice.connection }));
  const onSay = useCallback((text: string) => latestSay.current(text), []);
  const onView = useCallback((seen: RunView) => setLatest(seen), []);
  const maySay = ended && !sending.busy && mayWork(me);
  const fresh = conversationId === undefined && !sending.pending;
  return (
    <div className="flex h-full min-h-0 flex-col" data-chat>
      <div ref={box} role="region" aria-label={t("log")} data-testid="chat-log" className="relative min-h-0 flex-1 overflow-y-auto focus-visible:outline-offset-[-2px]" tabIndex={0}>
        <div ref={inner}>
          {fresh ? <Welcome onExample={(text) => (setDraft(draftKey, { text, attachments: [] }), document.querySelector<HTMLTextAreaElement>("textarea")?.focus())} />
            : (
              <div className="mx-auto flex w-full max-w-[46rem] flex-col gap-8 px-5 pt-6 pb-8 max-md:px-4">
                {detail.isLoading && runs.length === 0 && <Skeleton rows={5} />}
                {detail.error && <ErrorState error={detail.error} onRetry={() => void detail.refetch()} />}
                {detail.data && <Earlier detail={detail.data} first={runs[0]?.id} />}
                {runs.map((run, index) => <Exchange key={run.id} run={run} conversation={conversationId ?? null} next={runs[index + 1]?.id} latest={index >= runs.length - 2} {...(index === runs.length - 1 && { onView, ...(maySay && { onSay }) })} />)}
                {sending.pending && (
                  <div className="flex flex-col gap-4"><Said pending text={sending.pending.text} /><Busy view={emptyRun("")} /></div>
                )}
              </div>
            )}
        </div>
      </div>
      <div className="relative mx-auto w-full max-w-[48rem] px-4 pb-3 before:pointer-events-none before:absolute before:inset-x-4 before:-top-6 before:h-6 before:bg-linear-to-t before:from-bg before:to-transparent max-md:px-2 max-md:pb-2">
        {away && !fresh && <Button size="sm" className="absolute -top-10 left-1/2 -translate-x-1/2 rounded-full! shadow-2" icon={<ArrowDown className="size-3.5" />} onClick={() => toEnd(true)}>{t("toEnd")}</Button>}
        {sending.error !== null && <ErrorState inline error={sending.error} className="mb-2" />}
        <QueueChips conversation={draftKey} held={held || sending.error !== null} onNext={(entry) => (sending.forget(), void sendQueued(entry))} />
        {me && !mayWork(me) ? <p className="rounded-xl border border-line bg-sunken px-4 py-3 text-center text-base text-ink-3">{t("mayNotChat")}</p>
          : <Composer conversation={draftKey} busy={!ended} stopping={stop.isPending || (view?.stopping ?? false)} sending={sending.busy} disabled={!(detail.data?.agent_id ?? agent?.id)} wanted={wanted} onSend={onSend} onStop={stopRun} />}
        <p className="mt-1.5 text-center text-2xs text-ink-3 max-md:hidden">{t("footnote")}</p>
      </div>
    </div>
  );
}
