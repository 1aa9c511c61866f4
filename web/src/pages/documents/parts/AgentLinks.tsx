import { Link } from "@tanstack/react-router";
import { X } from "lucide-react";
import { isOperator, useAgents, useDocumentActions, useHeldGrants, useMe } from "@/api/hooks";
import { reaches } from "@/api/reach";
import type { DocumentDetails } from "@/api/types";
import { useT } from "@/i18n";
import { IconButton, Select, toast } from "@/ui";
import { useFailed } from "./failed";

/** Which agents have the document as theirs; linking and unlinking is done at once. */
export function AgentLinks({ document }: { document: DocumentDetails }) {
  const t = useT("documents");
  const { data: me } = useMe();
  const held = useHeldGrants(isOperator(me) ? undefined : me?.id);
  const agents = useAgents();
  const failed = useFailed();
  const { link } = useDocumentActions();
  const nameOf = (id: string) => agents.items.find((one) => one.id === id)?.name ?? t("agent_unseen");
  const mayLink = (id: string) => reaches(me, held.data, "agent", id, "edit");
  const others = agents.items.filter((one) => !document.agents.includes(one.id) && mayLink(one.id));
  const set = (agent: string, linked: boolean, back = false): Promise<void> =>
    link.mutateAsync({ document_id: document.id, agent_id: agent, linked }).then(() => toast({ title: t(linked ? "linked" : "unlinked", { agent: nameOf(agent) }), about: `${document.id}${agent}`, ...(!back && { undo: () => void set(agent, !linked, true) }) }), failed);
  return (
    <section className="flex flex-col gap-2">
      <h3 className="text-sm font-medium">{t("agents")}</h3>
      {document.agents.length === 0 ? (
        <p className="text-sm text-ink-3">{t("agents_none")}</p>
      ) : (
        <ul aria-label={t("agents")} className="divide-y divide-line rounded-lg border border-line bg-surface">
          {document.agents.map((id) => (
            <li key={id} className="flex min-h-10 items-center gap-2 py-1 pr-1.5 pl-3">
              <Link to="/agents/$agentId" params={{ agentId: id }} className="min-w-0 flex-1 truncate text-base text-accent-ink hover:underline">{nameOf(id)}</Link>
              {mayLink(id) && <IconButton size="sm" label={t("unlink", { agent: nameOf(id) })} disabled={link.isPending} onClick={() => void set(id, false)}><X /></IconButton>}
            </li>
          ))}
        </ul>
      )}
      {others.length > 0 && (
        <Select aria-label={t("link_to")} className="self-start" disabled={link.isPending} value="" onChange={(event) => event.target.value && void set(event.target.value, true)}>
          <option value="">{t("link_choose")}</option>
          {others.map((agent) => <option key={agent.id} value={agent.id}>{agent.name}</option>)}
        </Select>
      )}
    </section>
  );
}
