import { Link, useNavigate } from "@tanstack/react-router";
import { MessagesSquare, MoreHorizontal, Pencil, Plus, Trash2 } from "lucide-react";
import { useDeferredValue, useEffect, useRef, useState } from "react";
import { useConversationActions, useConversations } from "@/api/hooks";
import { limits } from "@/api/limits";
import type { Conversation } from "@/api/types";
import { useT } from "@/i18n";
import { ButtonLink, cx, Dot, EmptyState, IconButton, Input, Menu, MenuItem, MenuSeparator, PagedList, SearchInput, toast, useErrorText } from "@/ui";

const DAY = 86_400_000;
const ageOf = (time: number): "today" | "yesterday" | "week" | "older" => {
  const midnight = new Date().setHours(0, 0, 0, 0);
  return time >= midnight ? "today" : time >= midnight - DAY ? "yesterday" : time >= midnight - 6 * DAY ? "week" : "older";
};

/** Conversations: search, rename, delete. */
export function ConversationList({ current, onPicked }: { current: string | undefined; onPicked?: () => void }) {
  const t = useT("chat");
  const [query, setQuery] = useState("");
  const words = useDeferredValue(query.trim());
  const list = useConversations(words ? { q: words } : {});
  return (
    <div className="flex h-full flex-col">
      <div className="flex flex-col gap-2 p-3">
        <ButtonLink to="/chat" variant="default" className="h-8! justify-start! px-2.5! max-md:h-10!" icon={<Plus className="size-4 text-ink-3" />} onClick={onPicked}>{t("new")}</ButtonLink>
        <SearchInput id="conversation-search" label={t("search")} value={query} onChange={setQuery} />
      </div>
      <nav aria-label={t("conversations")} className="min-h-0 flex-1 overflow-y-auto px-2 pb-3">
        <PagedList list={list} empty={<EmptyState icon={<MessagesSquare />} title={t(words ? "noneFound" : "none")}>{t(words ? "noneFoundHint" : "noneHint")}</EmptyState>}>
          <ul className={cx(list.isFetching && !list.isLoading && words !== "" && "opacity-60")}>
            {list.items.map((entry, index) => {
              const age = ageOf(entry.updated_at);
              const before = list.items[index - 1];
              return (
                <li key={entry.id}>
                  {(!before || ageOf(before.updated_at) !== age) && <p className="px-2.5 pt-3 pb-1 text-xs text-ink-3">{t(`age.${age}`)}</p>}
                  <Row entry={entry} current={entry.id === current} {...(onPicked && { onPicked })} />
                </li>
              );
            })}
          </ul>
        </PagedList>
      </nav>
    </div>
  );
}

function Row({ entry, current, onPicked }: { entry: Conversation; current: boolean; onPicked?: () => void }) {
  const t = useT("chat");
  const common = useT("common");
  const navigate = useNavigate();
  const errorText = useErrorText();
  const { rename, remove, restore } = useConversationActions();
  const [title, setTitle] = useState<string | null>(null);
  const fail = (error: unknown) => {
    const { title, hint } = errorText(error);
    toast({ tone: "bad", title, ...(hint && { detail: hint }) });
  };
  const drop = () =>
    remove.mutate(entry.id, {
      onError: fail,
      onSuccess: () => {
        if (current) void navigate({ to: "/chat" });
        toast({ title: t("deleted", { title: entry.title }), undo: () => restore.mutate(entry.id, { onError: fail }) });
      },
    });
  if (title !== null) return <Rename value={title} onChange={setTitle} onDone={(next) => (setTitle(null), next && next !== entry.title && rename.mutate({ id: entry.id, title: next }, { onError: fail }))} />;
  return (
    <div className={cx("group relative flex items-center rounded-md", current ? "bg-active" : "hover:bg-hover")}>
      <Link to="/chat/$conversationId" params={{ conversationId: entry.id }} onClick={onPicked} aria-current={current ? "page" : undefined} className="flex min-w-0 flex-1 items-center gap-2 rounded-md py-1.5 pr-8 pl-2.5 text-sm max-md:py-2.5 max-md:text-base">
        {entry.open_run && <><Dot tone={entry.waits ? "warn" : "accent"} busy={!entry.waits} /><span className="sr-only">{common(entry.waits ? "state.parked" : "state.running")}: </span></>}
        <span className={cx("truncate", current ? "text-ink" : "text-ink-2")}>{entry.title}</span>
      </Link>
      <span className="absolute right-0.5 opacity-0 group-focus-within:opacity-100 group-hover:opacity-100 max-md:opacity-100 has-[[data-state=open]]:opacity-100">
        <Menu trigger={<IconButton size="sm" label={t("conversationActions", { title: entry.title })}><MoreHorizontal /></IconButton>}>
          <MenuItem icon={<Pencil />} onSelect={() => setTimeout(() => setTitle(entry.title))}>{common("rename")}</MenuItem>
          <MenuSeparator />
          <MenuItem danger icon={<Trash2 />} disabled={entry.open_run !== null} {...(entry.open_run && { hint: t("deleteBusy") })} onSelect={drop}>{common("delete")}</MenuItem>
        </Menu>
      </span>
    </div>
  );
}

function Rename({ value, onChange, onDone }: { value: string; onChange: (value: string) => void; onDone: (title: string | null) => void }) {
  const t = useT("chat");
  const input = useRef<HTMLInputElement>(null);
  useEffect(() => {
    // After the menu has given the focus back.
    const timer = setTimeout(() => input.current?.select(), 30);
    return () => clearTimeout(timer);
  }, []);
  return (
    <Input
      ref={input}
      aria-label={t("title")}
      className="h-8! text-sm"
      value={value}
      maxLength={limits.Rename.title.maxLength}
      onChange={(event) => onChange(event.target.value)}
      onBlur={() => onDone(value.trim())}
      onKeyDown={(event) => {
        if (event.key === "Enter") onDone(value.trim());
        if (event.key === "Escape") (event.stopPropagation(), onDone(null));
      }}
    />
  );
}
