import { Wrench } from "lucide-react";
import { useState } from "react";
import { useMcpSkills } from "@/api/hooks";
import type { McpServer } from "@/api/types";
import { useT } from "@/i18n";
import { Button, Card, EmptyState, SearchInput } from "@/ui";
import { AcceptAll } from "./AcceptAll";
import { inOrder, skillOf, toolState } from "./state";
import { ToolRow } from "./ToolRow";

/** From how many tools on they can be searched. */
const MANY = 8;

/** A server's tools as last seen, those that wait for a person first. */
export function Tools({ server, operator }: { server: McpServer; operator: boolean }) {
  const t = useT("mcp");
  const who = useMcpSkills().data;
  const [words, setWords] = useState("");
  const [all, setAll] = useState(false);
  const fresh = server.tools.filter((tool) => toolState(tool) === "new");
  const found = inOrder(server.tools).filter((tool) => `${tool.name} ${tool.description}`.toLowerCase().includes(words.trim().toLowerCase()));
  const ownersOf = (name: string) => {
    const skill = who && skillOf(who.skills, server.name, name);
    return skill ? { skill, agents: who.agents.filter((agent) => agent.skills?.includes(skill.id)) } : null;
  };
  return (
    <Card title={t("tools")} pad={false} actions={operator && fresh.length > 1 && <Button size="sm" onClick={() => setAll(true)}>{t("accept_all", { count: fresh.length })}</Button>}>
      {server.tools.length === 0 ? (
        <EmptyState icon={<Wrench />} title={t(server.checked_at === null || server.error !== null ? "tools_unknown" : "tools_none")}>{t(server.error !== null ? "tools_failed_text" : server.checked_at === null ? "tools_unknown_text" : "tools_none_text")}</EmptyState>
      ) : (
        <>
          {server.tools.length > MANY && <div className="border-b border-line p-3"><SearchInput label={t("tools_search")} value={words} onChange={setWords} /></div>}
          <ul aria-label={t("tools")} className="divide-y divide-line">{found.map((tool) => <ToolRow key={tool.name} server={server} tool={tool} operator={operator} owners={ownersOf(tool.name)} />)}</ul>
          {found.length === 0 && <p className="px-4 py-6 text-center text-base text-ink-3">{t("tools_nothing")}</p>}
        </>
      )}
      {all && <AcceptAll server={server} tools={fresh} onClose={() => setAll(false)} />}
    </Card>
  );
}
