import { useNavigate } from "@tanstack/react-router";
import { Bot, Cable, CalendarClock, Database, Keyboard, MessageSquare, MoonStar, Plus, SunMedium, UserPlus, Webhook } from "lucide-react";
import { Dialog as Radix } from "radix-ui";
import { type KeyboardEvent, type ReactNode, useDeferredValue, useEffect, useId, useMemo, useRef, useState } from "react";
import { isAdmin, isOperator, mayWork, useAgents, useConversations, useMe } from "@/api/hooks";
import { useT } from "@/i18n";
import { cx } from "@/ui";
import { maySee, NAVIGATION } from "./pages";
import { found as find } from "./finding";
import { openOverlay, useOverlay } from "./overlays";
import { setTheme } from "./theme";

type Command = { id: string; group: string; label: string; also?: string; detail?: string; icon: ReactNode; run: () => void };

/** Ctrl+K: go anywhere, do anything. */
export function CommandPalette() {
  const t = useT("frame");
  const open = useOverlay() === "palette";
  return (
    <Radix.Root open={open} onOpenChange={(next) => openOverlay(next ? "palette" : null)}>
      <Radix.Portal>
        <Radix.Overlay className="fixed inset-0 z-40 animate-fade bg-scrim" />
        <Radix.Content aria-describedby={undefined} className="fixed top-[12vh] left-1/2 z-50 flex max-h-[min(30rem,76dvh)] w-[min(36rem,calc(100vw-1.5rem))] -translate-x-1/2 animate-fade flex-col overflow-hidden rounded-xl border border-line bg-raised shadow-2">
          <Radix.Title className="sr-only">{t("palette")}</Radix.Title>
          <Body />
        </Radix.Content>
      </Radix.Portal>
    </Radix.Root>
  );
}

function Body() {
  const t = useT("frame");
  const id = useId();
  const navigate = useNavigate();
  const { data: me } = useMe();
  const [query, setQuery] = useState("");
  const words = useDeferredValue(query.trim());
  const [at, setAt] = useState(0);
  const agents = useAgents();
  const conversations = useConversations(words ? { q: words } : {});
  const list = useRef<HTMLDivElement>(null);

  const commands = useMemo(() => {
    const all: Command[] = [
      ...NAVIGATION.filter((entry) => maySee(entry, me)).map((entry) => ({ id: entry.to, group: t("palette.pages"), label: t(entry.key), also: t(`also.${entry.key}`), icon: <entry.icon />, run: () => void navigate({ to: entry.to }) })),
      { id: "new", group: t("palette.actions"), label: t("newConversation"), also: t("also.newConversation"), icon: <Plus />, run: () => void navigate({ to: "/chat" }) },
      ...(mayWork(me) ? [{ id: "schedule", group: t("palette.actions"), label: t("newSchedule"), also: t("also.newSchedule"), icon: <CalendarClock />, run: () => void navigate({ to: "/schedules", search: { new: 1 } }) },
        { id: "webhook", group: t("palette.actions"), label: t("newWebhook"), also: t("also.newWebhook"), icon: <Webhook />, run: () => void navigate({ to: "/webhooks", search: { new: 1 } }) }] : []),
      ...(isOperator(me) ? [{ id: "agent", group: t("palette.actions"), label: t("newAgent"), also: t("also.newAgent"), icon: <Bot />, run: () => void navigate({ to: "/agents/new" }) },
        { id: "connection", group: t("palette.actions"), label: t("addConnection"), also: t("also.addConnection"), icon: <Cable />, run: () => void navigate({ to: "/connections/new" }) },
        { id: "datasource", group: t("palette.actions"), label: t("addDatasource"), also: t("also.addDatasource"), icon: <Database />, run: () => void navigate({ to: "/data/sources", search: { add: 1 } }) }] : []),
      ...(isAdmin(me) ? [{ id: "invite", group: t("palette.actions"), label: t("invite"), also: t("also.invite"), icon: <UserPlus />, run: () => void navigate({ to: "/users", search: { add: 1 } }) }] : []),
      { id: "light", group: t("palette.actions"), label: `${t("theme")}: ${t("theme.light")}`, icon: <SunMedium />, run: () => setTheme("light") },
      { id: "dark", group: t("palette.actions"), label: `${t("theme")}: ${t("theme.dark")}`, icon: <MoonStar />, run: () => setTheme("dark") },
      { id: "keys", group: t("palette.actions"), label: t("shortcuts"), icon: <Keyboard />, run: () => openOverlay("shortcuts") },
      ...agents.items.map((agent) => ({ id: agent.id, group: t("palette.agents"), label: agent.name, icon: <Bot />, run: () => void navigate({ to: "/chat", search: { agent: agent.id } }) })),
    ];
    // What is typed, not what was: Enter may come before the list has followed.
    const found = find(all, query);
    // The server has searched these already.
    return [...found, ...conversations.items.slice(0, 12).map((entry) => ({ id: entry.id, group: t("palette.conversations"), label: entry.title, ...(entry.agent_name && { detail: entry.agent_name }), icon: <MessageSquare />, run: () => void navigate({ to: "/chat/$conversationId", params: { conversationId: entry.id } }) }))];
  }, [t, me, navigate, agents.items, conversations.items, query]);

  const current = Math.min(at, Math.max(commands.length - 1, 0));
  useEffect(() => setAt(0), [words]);
  useEffect(() => {
    // In braces: newer browsers return a promise here, which React would take for a clean-up.
    list.current?.querySelector('[aria-selected="true"]')?.scrollIntoView({ block: "nearest" });
  }, [current]);

  const choose = (command: Command | undefined) => {
    if (!command) return;
    openOverlay(null);
    command.run();
  };
  const onKey = (event: KeyboardEvent) => {
    const move = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (move) {
      event.preventDefault();
      setAt((current + move + commands.length) % Math.max(commands.length, 1));
    } else if (event.key === "Enter" && !event.nativeEvent.isComposing) {
      event.preventDefault();
      choose(commands[current]);
    }
  };
  return (
    <>
      <input
        autoFocus
        role="combobox"
        aria-expanded
        aria-controls={`${id}-list`}
        aria-activedescendant={commands[current] ? `${id}-${current}` : undefined}
        aria-label={t("palette")}
        placeholder={t("palette.placeholder")}
        value={query}
        onChange={(event) => setQuery(event.target.value)}
        onKeyDown={onKey}
        className="h-13 shrink-0 border-b border-line bg-transparent px-4 text-lg outline-none"
      />
      <div ref={list} id={`${id}-list`} role="listbox" aria-label={t("palette")} className="min-h-0 flex-1 overflow-y-auto p-1.5">
        {commands.length === 0 && <p className="px-3 py-6 text-center text-base text-ink-3">{t("palette.nothing", { query })}</p>}
        {commands.map((command, index) => (
          <div key={`${command.group}${command.id}`}>
            {command.group !== commands[index - 1]?.group && <p aria-hidden className="px-2.5 pt-2 pb-1 text-xs text-ink-3">{command.group}</p>}
            <div
              id={`${id}-${index}`}
              role="option"
              aria-selected={index === current}
              onMouseMove={() => setAt(index)}
              onClick={() => choose(command)}
              className={cx("flex cursor-pointer items-center gap-2.5 rounded-md px-2.5 py-1.5 text-base max-md:py-2.5 [&>svg]:size-4 [&>svg]:shrink-0 [&>svg]:text-ink-3", index === current && "bg-active")}
            >
              {command.icon}
              <span className="min-w-0 flex-1 truncate">{command.label}</span>
              {command.detail && <span className="shrink-0 text-xs text-ink-3">{command.detail}</span>}
            </div>
          </div>
        ))}
      </div>
      <p aria-hidden className="border-t border-line px-4 py-1.5 text-xs text-ink-3 max-md:hidden">{t("palette.hint")}</p>
    </>
  );
}
