import { useBlocker, useNavigate } from "@tanstack/react-router";
import { Copy, Ellipsis, Eye, MessageSquare, Trash2 } from "lucide-react";
import { type ReactNode, useMemo, useState } from "react";
import { mayWork, useAgentActions, useConnections, useMe, useTools } from "@/api/hooks";
import type { Agent, AgentInput } from "@/api/types";
import { useShortcut } from "@/frame/shortcuts";
import { useT } from "@/i18n";
import { Button, Dialog, ErrorState, Field, formatRange, IconButton, Input, Menu, MenuItem, MenuSeparator, Page, Sheet, Switch, Textarea, toast } from "@/ui";
import { AccessButton } from "../access/AccessButton";
import { useDeleting } from "./AgentsPage";
import { DeepForm } from "./parts/DeepForm";
import { problemsOf, RANGES, rangeOf, sent, SWITCHED } from "./parts/form";
import { Limits } from "./parts/Limits";
import { AgentDatabase } from "./parts/AgentDatabase";
import { AgentDocuments } from "./parts/Documents";
import { AgentMemory } from "./parts/AgentMemory";
import { OwnDataForm } from "./parts/OwnDataForm";
import { PolicyForm } from "./parts/Policy";
import { Preview } from "./parts/Preview";
import { RoutingForm } from "./parts/Routing";
import { SkillPicker } from "./parts/Skills";
import { ToolPicker } from "./parts/Tools";

type Props = { agent: Agent | undefined; start: AgentInput; back: ReactNode; mayEdit: boolean; operator: boolean };

/** The form of an agent with its prompt beside it. What it may do and spend unasked is for operators to change. */
export function Builder({ agent, start, back, mayEdit, operator }: Props) {
  const t = useT("agents");
  const navigate = useNavigate();
  const deleting = useDeleting();
  const { create, update } = useAgentActions();
  const { data: me } = useMe();
  const tools = useTools();
  const connections = useConnections();
  const [saved, setSaved] = useState(start);
  const [form, setForm] = useState(start);
  const [all, setAll] = useState(start.tools.length === 0);
  const [tried, setTried] = useState(false);
  const [peek, setPeek] = useState(false);
  const patch = (change: Partial<AgentInput>) => setForm((old) => ({ ...old, ...change }));
  const input = useMemo<AgentInput>(() => ({ ...form, name: form.name.trim(), tools: all ? [] : form.tools }), [form, all]);
  const dirty = JSON.stringify(input) !== JSON.stringify({ ...saved, name: saved.name.trim() });
  const problems = problemsOf(form, all);
  const sound = Object.keys(problems).length === 0;
  // A name is no part of the prompt: the preview can do without.
  const { name: _name, ...others } = problems;
  const previewed = useMemo(() => (Object.keys(others).length === 0 ? { ...input, name: input.name || "?" } : null), [JSON.stringify(others), input]);
  const blocker = useBlocker({ shouldBlockFn: () => dirty && mayEdit, enableBeforeUnload: () => dirty && mayEdit, withResolver: true });
  const problem = (name: keyof typeof problems) => (tried || name !== "name" ? problems[name] && t(problems[name], formatRange(rangeOf(name))) : undefined);
  const writing = create.isPending || update.isPending;

  const save = () => {
    setTried(true);
    if (!sound) {
      toast({ about: "agent", title: t("fix_first"), tone: "bad" });
      setTimeout(() => document.querySelector<HTMLElement>("[aria-invalid]")?.focus());
      return;
    }
    if (agent) update.mutate({ ...sent(input, saved), id: agent.id }, { onSuccess: () => (setSaved(input), toast({ about: "agent", title: t("saved") })) });
    else create.mutate(input, { onSuccess: (made) => (setSaved(input), toast({ about: "agent", title: t("created") }), setTimeout(() => void navigate({ to: "/agents/$agentId", params: { agentId: made.id }, ignoreBlocker: true }))) });
  };
  useShortcut("Mod+s", save, t("save"), { inFields: true, enabled: mayEdit });

  return (
    <Page
      title={agent ? agent.name : t("new_title")}
      back={back}
      width="full"
      actions={
        <>
          {mayEdit && dirty && <span className="text-sm text-warn max-md:hidden">{t("unsaved")}</span>}
          <Button size="sm" className="xl:hidden" icon={<Eye aria-hidden className="size-3.5" />} onClick={() => setPeek(true)}>{t("preview")}</Button>
          {agent && !dirty && <Button size="sm" icon={<MessageSquare aria-hidden className="size-3.5" />} onClick={() => void navigate({ to: "/chat", search: { agent: agent.id } })}>{t("chat")}</Button>}
          {mayEdit && dirty && agent && <Button size="sm" onClick={() => (setForm(saved), setAll(saved.tools.length === 0))}>{t("discard")}</Button>}
          {mayEdit && (dirty || !agent) && <Button size="sm" variant="primary" loading={writing} onClick={save}>{agent ? t("save") : t("create")}</Button>}
          {agent && !dirty && <AccessButton kind="agent" id={agent.id} name={agent.name} />}
          {operator && agent && (
            <Menu trigger={<IconButton size="sm" label={t("edit")}><Ellipsis /></IconButton>}>
              <MenuItem icon={<Copy />} onSelect={() => void navigate({ to: "/agents/new", search: { from: agent.id } })}>{t("duplicate")}</MenuItem>
              <MenuSeparator />
              <MenuItem icon={<Trash2 />} danger onSelect={() => void navigate({ to: "/agents", ignoreBlocker: true }).then(() => deleting(agent))}>{t("delete")}</MenuItem>
            </Menu>
          )}
        </>
      }
    >
      <div className="grid items-start gap-8 xl:grid-cols-[minmax(0,1fr)_minmax(22rem,30rem)]">
        <form className="mx-auto flex w-full max-w-2xl min-w-0 flex-col gap-8" onSubmit={(event) => (event.preventDefault(), save())}>
          {!mayEdit && <p className="rounded-lg bg-sunken px-4 py-2.5 text-base text-ink-2">{t("read_only")}</p>}
          {mayEdit && !operator && <p className="rounded-lg bg-sunken px-4 py-2.5 text-base text-ink-2">{t("edit_only")}</p>}
          {(create.error ?? update.error) && <ErrorState inline error={create.error ?? update.error} />}
          <fieldset disabled={!mayEdit} className="contents">
            <Group title={t("sec_what")}>
              <Field label={t("name")} hint={t("name_hint")} error={problem("name")}>{(p) => <Input {...p} autoFocus={!agent} maxLength={RANGES.name.most + 16} value={form.name} onChange={(event) => patch({ name: event.target.value })} />}</Field>
              <Field label={t("instructions")} hint={t("instructions_hint")} error={problem("instructions")}>{(p) => <Textarea {...p} rows={6} maxRows={24} className="min-h-32" placeholder={t("instructions_placeholder")} value={form.instructions} onChange={(event) => patch({ instructions: event.target.value })} />}</Field>
            </Group>
            <Group title={t("sec_routing")}><RoutingForm form={form} connections={connections.items} loading={connections.isLoading} disabled={!mayEdit} fixed={!operator} problem={problem} onChange={patch} /></Group>
            <Group title={t("sec_deep")}><DeepForm form={form} problem={problem} onChange={patch} /></Group>
            <Group title={t("sec_tools")}>
              {tools.error ? <ErrorState inline error={tools.error} onRetry={() => void tools.refetch()} /> : <ToolPicker tools={tools.data?.filter((tool) => !SWITCHED.includes(tool.name))} all={all} chosen={form.tools} error={tried ? problem("tools") : undefined} onAll={setAll} onChange={(chosen) => patch({ tools: chosen })} />}
            </Group>
            <Group title={t("sec_skills")}><SkillPicker agent={agent} chosen={form.skills ?? []} disabled={!mayEdit} operator={operator} onChange={(skills) => patch({ skills })} onGiven={(skills) => (patch({ skills: [...new Set([...(form.skills ?? []), ...skills])] }), setSaved((old) => ({ ...old, skills: [...new Set([...(old.skills ?? []), ...skills])] })))} /></Group>
            <Group title={t("sec_own")}><fieldset disabled={!operator} className="contents"><OwnDataForm form={form} onChange={patch} /></fieldset></Group>
          </fieldset>
          {/* What it keeps for each user is the viewer's own, which they may change whatever they may do with the agent. */}
          {agent && (
            <Group title={t("sec_kept")}>
              <AgentMemory agent={agent.id} shared={saved.own_data.shared} disabled={!mayEdit && saved.own_data.shared} />
              <AgentDatabase agent={agent.id} disabled={!mayEdit && saved.own_data.shared} />
            </Group>
          )}
          <fieldset disabled={!mayEdit} className="contents">
            {mayWork(me) && (
              <Group title={t("sec_documents")}>
                {agent && <AgentDocuments agent={agent} disabled={!mayEdit} />}
                <Switch checked={form.auto_link_uploads ?? false} onChange={(take) => patch({ auto_link_uploads: take })} label={t("documents_take")} hint={t("documents_take_hint")} />
              </Group>
            )}
            <Group title={t("sec_policy")}><PolicyForm policy={form.policy} tools={tools.data ?? []} disabled={!operator} onChange={(policy) => patch({ policy })} /></Group>
            <Group title={t("sec_limits")}><fieldset disabled={!operator} className="contents"><Limits form={form} problem={problem} onChange={patch} /></fieldset></Group>
          </fieldset>
        </form>
        <aside aria-label={t("preview")} className="sticky top-0 hidden max-h-[calc(100dvh-6rem)] overflow-y-auto rounded-lg border border-line bg-surface p-4 xl:block">
          <h2 className="text-base font-semibold">{t("preview")}</h2>
          <p className="mb-4 text-sm text-ink-3">{t("preview_text")}</p>
          <Preview form={previewed} />
        </aside>
      </div>
      <Sheet open={peek} onOpenChange={setPeek} title={t("preview")} description={t("preview_text")}><div className="p-4">{peek && <Preview form={previewed} />}</div></Sheet>
      {blocker.status === "blocked" && (
        <Dialog open onOpenChange={() => blocker.reset()} title={t("leave_title")} description={t("leave_text")} footer={<><Button onClick={() => blocker.proceed()}>{t("leave")}</Button><Button variant="primary" onClick={() => blocker.reset()}>{t("stay")}</Button></>} />
      )}
    </Page>
  );
}

function Group({ title, children }: { title: string; children: ReactNode }) {
  return (
    <section className="flex flex-col gap-4">
      <h2 className="text-lg font-semibold">{title}</h2>
      {children}
    </section>
  );
}
