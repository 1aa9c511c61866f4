import { Link, useNavigate, useParams, useSearch } from "@tanstack/react-router";
import { GitBranch, MessageCircleQuestion, PanelLeft, SquarePen } from "lucide-react";
import { useEffect, useState } from "react";
import { ApiError } from "@/api/client";
import { useAgents, useConversation } from "@/api/hooks";
import { useShortcut } from "@/frame/shortcuts";
import { useT } from "@/i18n";
import { ButtonLink, EmptyState, IconButton, Sheet, useTitle } from "@/ui";
import { DocumentBeside } from "@/run/document-beside";
import { ConversationList } from "./list";
import { AgentPicker } from "./pickers";
import { setChoice, useChoice } from "./stored";
import { Thread } from "./thread";

export default function ChatPage() {
  const t = useT("chat");
  const { conversationId } = useParams({ strict: false });
  const { agent: wished } = useSearch({ strict: false }) as { agent?: string };
  const navigate = useNavigate();
  const choice = useChoice();
  const { items: agents } = useAgents();
  const { data: detail, error } = useConversation(conversationId);
  const gone = conversationId !== undefined && error instanceof ApiError && error.status === 404;
  const [drawer, setDrawer] = useState(false);
  useTitle(gone ? t("gone") : (detail?.title ?? t("title.page")));

  useEffect(() => {
    if (wished) setChoice({ agent: wished });
  }, [wished]);
  useShortcut("Mod+Shift+o", () => void navigate({ to: "/chat" }), t("new"), { inFields: true });
  useShortcut("/", () => document.getElementById("conversation-search")?.focus(), t("search"));

  // The one that comes with Steward, and not whoever is first in the alphabet since somebody made another.
  const agent = agents.find((entry) => entry.id === (wished ?? choice.agent)) ?? agents.find((entry) => entry.name === "steward") ?? agents[0];
  return (
    <div className="flex h-full">
      <aside aria-label={t("conversations")} className="w-68 shrink-0 border-r border-line bg-bg max-lg:hidden"><ConversationList current={conversationId} /></aside>
      <div className="flex min-w-0 flex-1 flex-col">
        <header className="flex h-13 shrink-0 items-center gap-1.5 border-b border-line px-3">
          <IconButton label={t("conversations")} className="lg:hidden" onClick={() => setDrawer(true)}><PanelLeft /></IconButton>
          {conversationId ? (
            <>
              <h1 className="min-w-0 truncate pl-2 text-base font-semibold">{gone ? t("gone") : (detail?.title ?? t("title.page"))}</h1>
              {detail?.forked_from && <Link to="/chat/$conversationId" params={{ conversationId: detail.forked_from }} className="inline-flex shrink-0 items-center gap-1 rounded-sm px-1 text-xs text-ink-3 hover:text-ink"><GitBranch aria-hidden className="size-3.5" />{t("branchOf")}</Link>}
              <span className="flex-1" />
              {detail?.agent_name && <span className="shrink-0 pr-1 text-sm text-ink-3 max-md:hidden">{detail.agent_name}</span>}
            </>
          ) : (
            <>
              <h1 className="sr-only">{t("new")}</h1>
              <AgentPicker agent={agent} onChoose={(id) => (setChoice({ agent: id }), wished && void navigate({ to: "/chat", search: {} }))} />
              <span className="flex-1" />
            </>
          )}
          <IconButton label={t("new")} keys="Mod+Shift+O" onClick={() => void navigate({ to: "/chat" })}><SquarePen /></IconButton>
        </header>
        <div className="min-h-0 flex-1">
          {gone ? <EmptyState icon={<MessageCircleQuestion />} title={t("goneTitle")} action={<ButtonLink to="/chat" variant="primary">{t("new")}</ButtonLink>}>{t("goneHint")}</EmptyState> : <Thread key={conversationId ?? "new"} conversationId={conversationId} agent={agent} />}
        </div>
      </div>
      <DocumentBeside />
      <Sheet side="left" bare open={drawer} onOpenChange={setDrawer} title={t("conversations")}><ConversationList current={conversationId} onPicked={() => setDrawer(false)} /></Sheet>
    </div>
  );
}
