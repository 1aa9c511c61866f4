import { Link } from "@tanstack/react-router";
import { useState } from "react";
import { useAgents, useMcpActions, useMcpSkills } from "@/api/hooks";
import type { McpServer, McpTool, Skill } from "@/api/types";
import { useT } from "@/i18n";
import { Button, Checkbox, Dialog, ErrorState, Field, Select, Skeleton } from "@/ui";
import { skillOf, visible } from "./state";

/** Gives accepted tools to an agent: each becomes a skill. */
export function Attach({ server, tools, onClose }: { server: McpServer; tools: McpTool[]; onClose: () => void }) {
  const t = useT("mcp");
  const agents = useAgents();
  const who = useMcpSkills();
  const { attach } = useMcpActions();
  const [agent, setAgent] = useState("");
  const [chosen, setChosen] = useState<string[]>([]);
  const [tried, setTried] = useState(false);
  const [made, setMade] = useState<Skill[] | null>(null);
  const skills = agents.items.find((one) => one.id === agent)?.skills ?? [];
  const has = (tool: McpTool) => {
    const skill = skillOf(who.data?.skills ?? [], server.name, tool.name);
    return skill !== undefined && skills.includes(skill.id);
  };
  const open = tools.filter((tool) => !has(tool));
  const wanted = chosen.filter((name) => open.some((tool) => tool.name === name));
  const give = () => {
    setTried(true);
    if (agent !== "" && wanted.length > 0) attach.mutate({ id: server.id, agent, tools: wanted }, { onSuccess: setMade });
  };
  if (made) {
    const name = agents.items.find((one) => one.id === agent)?.name ?? "";
    return (
      <Dialog open onOpenChange={onClose} title={t("attached", { count: made.length, agent: name })} description={t("attached_text")} footer={<Button variant="primary" onClick={onClose}>{t("done")}</Button>}>
        <ul className="flex flex-col gap-1 pb-1">{made.map((skill) => <li key={skill.id}><Link to="/skills/$skillId" params={{ skillId: skill.id }} className="font-mono text-sm text-accent-ink underline underline-offset-2 wrap-anywhere">{skill.name}</Link></li>)}</ul>
      </Dialog>
    );
  }
  return (
    <Dialog open onOpenChange={onClose} title={t("attach_title")} description={t("attach_text", { name: server.name })} footer={<><Button onClick={onClose}>{t("cancel")}</Button><Button variant="primary" loading={attach.isPending} onClick={give}>{t("attach_confirm")}</Button></>}>
      <div className="flex flex-col gap-4 pb-1">
        {attach.error && <ErrorState inline error={attach.error} />}
        {agents.error ? <ErrorState inline error={agents.error} onRetry={agents.retry} /> : (
          <Field label={t("agent")} error={tried && agent === "" ? t("agent_missing") : undefined}>
            {(p) => (
              <Select {...p} value={agent} onChange={(event) => setAgent(event.target.value)}>
                <option value="">{t("agent_choose")}</option>
                {agents.items.map((one) => <option key={one.id} value={one.id}>{one.name}</option>)}
              </Select>
            )}
          </Field>
        )}
        {agents.hasMore && <Button size="sm" variant="quiet" className="self-start" loading={agents.loadingMore} onClick={agents.more}>{t("agents_more")}</Button>}
        {who.isLoading ? <Skeleton rows={3} /> : (
          <fieldset className="min-w-0">
            <legend className="mb-1.5 text-sm font-medium">{t("tools")}</legend>
            {tried && wanted.length === 0 && <p role="alert" className="mb-1.5 text-xs text-bad">{t("tools_missing")}</p>}
            {open.length > 1 && <Checkbox className="mb-2" checked={wanted.length === open.length} onChange={(on) => setChosen(on ? open.map((tool) => tool.name) : [])} label={t("attach_all")} />}
            <div className="flex max-h-72 flex-col gap-2 overflow-y-auto rounded-lg border border-line p-3">
              {tools.map((tool) => (
                <Checkbox key={tool.name} checked={has(tool) || wanted.includes(tool.name)} disabled={has(tool)} onChange={(on) => setChosen(on ? [...wanted, tool.name] : wanted.filter((name) => name !== tool.name))} label={visible(tool.name)} hint={has(tool) ? t("has_it") : visible(tool.description.split("\n")[0] ?? "")} />
              ))}
            </div>
          </fieldset>
        )}
      </div>
    </Dialog>
  );
}
