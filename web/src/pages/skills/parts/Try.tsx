import { Link } from "@tanstack/react-router";
import { CircleCheck, CircleX, Play, Square } from "lucide-react";
import { useRef, useState } from "react";
import { ApiError } from "@/api/client";
import { isOperator, mayWork, useAgents, useMe, useSkillActions } from "@/api/hooks";
import type { SkillDetail, SkillTested } from "@/api/types";
import { useT } from "@/i18n";
import { Button, ButtonLink, Card, CopyButton, Dialog, Duration, Elapsed, EmptyState, ErrorState, Field, isDiff, DiffView, JsonView, RiskBadge, Select } from "@/ui";
import { DataTable, rowsOf } from "@/run/cards/data";
import { PreviewView } from "@/run/cards/preview";
import { callable, hostOf } from "./form";
import { JsonField } from "./JsonField";
import { completed, type Json, missing, saidOf, shapeOf } from "./schema";
import { useSound } from "./sound";
import { SchemaForm } from "./SchemaForm";

type Phase = { is: "idle" } | { is: "working"; what: "preview" | "run"; since: number } | { is: "done"; what: "preview" | "run"; tested: SkillTested } | { is: "stopped" };

/** Tries the saved skill: what it would do, then what it does. */
export function Try({ skill, dirty }: { skill: SkillDetail; dirty: boolean }) {
  const t = useT("skills");
  const me = useMe().data;
  const agents = useAgents();
  const { test } = useSkillActions();
  const shape = shapeOf(skill.parameters);
  const fields = shape.is === "object" ? shape.fields : [];
  const [args, setArgs] = useState<Json>({});
  const [raw, setRaw] = useState(shape.is !== "object");
  const { sound, onSound } = useSound();
  const [agent, setAgent] = useState("");
  const [tried, setTried] = useState(false);
  const [phase, setPhase] = useState<Phase>({ is: "idle" });
  const [asking, setAsking] = useState<SkillTested | null>(null);
  const stop = useRef<AbortController | null>(null);

  if (!callable(skill.type)) return <div className="rounded-lg border border-line bg-surface"><EmptyState title={t("try_not")} action={<Link to="/chat" {...(skill.agents[0] && { search: { agent: skill.agents[0] } })} className="text-accent-ink hover:underline">{t("try_chat")}</Link>}>{t(`try_not_${skill.type === "internal" ? "internal" : "agent"}`)}</EmptyState></div>;
  if (!mayWork(me)) return <p className="text-base text-ink-2">{t("try_viewer")}</p>;
  const looks = skill.risk === "read";
  const mayRun = looks || isOperator(me);
  const lacking = missing(fields, args);
  const said = test.error instanceof ApiError && test.error.field === "arguments" ? saidOf(test.error.message) : {};
  const problems = { ...(tried ? Object.fromEntries(lacking.map((name) => [name, t("needed")])) : {}), ...said };
  const working = phase.is === "working";

  const go = async (what: "preview" | "run", confirm = false): Promise<SkillTested | null> => {
    setTried(true);
    if (!sound || (!raw && lacking.length > 0)) {
      setTimeout(() => document.querySelector<HTMLElement>("main [aria-invalid]")?.focus());
      return null;
    }
    const control = new AbortController();
    stop.current = control;
    setPhase({ is: "working", what, since: Date.now() });
    try {
      const tested = await test.mutateAsync({ id: skill.id, body: { arguments: completed(fields, args), dry_run: what === "preview", ...(confirm && { confirm }), ...(agent && { agent }) }, signal: control.signal });
      setPhase({ is: "done", what, tested });
      return tested;
    } catch {
      // The error itself is shown from the mutation.
      setPhase(control.signal.aborted ? { is: "stopped" } : { is: "idle" });
      if (control.signal.aborted) test.reset();
      return null;
    }
  };
  const run = async () => {
    if (looks) return void (await go("run"));
    const tested = await go("preview");
    if (tested) setAsking(tested);
  };
  return (
    <div className="flex flex-col gap-5">
      {dirty && <p className="rounded-lg bg-warn-soft px-4 py-2.5 text-base text-warn">{t("try_dirty")}</p>}
      <form className="flex flex-col gap-4" aria-label={t("tab_try")} onSubmit={(event) => (event.preventDefault(), void go("preview"))}>
        {shape.is === "object" && <Button size="sm" variant="quiet" className="self-end" aria-pressed={raw} onClick={() => setRaw(!raw)}>{t(raw ? "as_form" : "as_json_button")}</Button>}
        {raw ? <JsonField object label={t("arguments")} error={test.error instanceof ApiError && test.error.field === "arguments" ? test.error.message : undefined} value={args} onChange={(next) => setArgs(next as Json)} onSound={onSound} /> : fields.length === 0 ? <p className="text-base text-ink-2">{t("try_no_inputs")}</p> : <SchemaForm fields={fields} value={args} onChange={(next) => (setArgs(next), test.error && test.reset())} problems={problems} onSound={onSound} />}
        {(skill.credential || skill.type === "mcp") && <Field label={t("try_agent")} hint={t("try_agent_hint")}>{(p) => <Select {...p} value={agent} onChange={(event) => setAgent(event.target.value)}><option value="">{t("try_agent_none")}</option>{agents.items.map((one) => <option key={one.id} value={one.id}>{one.name}</option>)}</Select>}</Field>}
        <div className="flex flex-wrap items-center gap-2">
          <Button type="submit" variant="primary" loading={working && phase.what === "preview"} disabled={working}>{t("try_preview")}</Button>
          {mayRun && <Button icon={<Play aria-hidden className="size-3.5" />} loading={working && phase.what === "run"} disabled={working} onClick={() => void run()}>{t("try_run")}</Button>}
          {working && <Button variant="quiet" icon={<Square aria-hidden className="size-3.5" />} onClick={() => stop.current?.abort()}>{t("try_stop")}</Button>}
          {working && <span role="status" className="text-sm text-ink-3">{t("try_working")} <Elapsed from={phase.since} /></span>}
          <RiskBadge risk={skill.risk} />
        </div>
        {!mayRun && <p className="text-sm text-ink-3">{t("try_operator")}</p>}
      </form>
      {test.error && phase.is === "idle" && <ErrorState inline error={test.error} />}
      {phase.is === "stopped" && <p role="status" className="rounded-lg bg-sunken px-4 py-2.5 text-base text-ink-2">{t("try_stopped")}</p>}
      {phase.is === "done" && <Outcome what={phase.what} tested={phase.tested} />}
      {asking && (
        <Dialog open wide onOpenChange={() => setAsking(null)} title={t("try_sure", { name: skill.name })} description={t("try_sure_text")} footer={<><Button onClick={() => setAsking(null)}>{t("cancel")}</Button><Button variant={skill.risk === "destructive" ? "danger" : "primary"} onClick={() => (setAsking(null), void go("run", true))}>{t("try_do")}</Button></>}>
          <div className="flex flex-col gap-3 pb-1"><p><RiskBadge risk={skill.risk} /></p><PreviewView preview={asking.change} /></div>
        </Dialog>
      )}
    </div>
  );
}

function Outcome({ what, tested }: { what: "preview" | "run"; tested: SkillTested }) {
  const t = useT("skills");
  const rows = rowsOf(tested.data);
  const operator = isOperator(useMe().data);
  const host = operator && tested.error ? hostOf(tested.error) : null;
  if (what === "preview") return <Card title={t("try_would")}><PreviewView preview={tested.change} /><p className="mt-2 text-xs text-ink-3">{t("try_nothing_done")}</p></Card>;
  const title = <span className="inline-flex items-center gap-2">{tested.ok ? <CircleCheck aria-hidden className="size-4 text-ok" /> : <CircleX aria-hidden className="size-4 text-bad" />}{t(tested.ok ? "try_ok" : "try_failed")} <span className="text-sm font-normal text-ink-3"><Duration ms={tested.ms} /></span></span>;
  return (
    <Card title={title} actions={tested.output && <CopyButton text={tested.output} />}>
      <div role="status" className="flex flex-col gap-3">
        {tested.error && <p className="text-base whitespace-pre-wrap text-bad wrap-anywhere">{tested.error}</p>}
        {host && <ButtonLink to="/skills" search={{ tab: "hosts", ...host }} size="sm" className="self-start">{t("host_look")}</ButtonLink>}
        {rows && <DataTable {...rows} />}
        {!rows && tested.output && (isDiff(tested.output) ? <DiffView diff={tested.output} /> : <JsonView value={tested.output} />)}
        {tested.ok && !tested.output && !rows && <p className="text-base text-ink-2">{t("try_no_output")}</p>}
      </div>
    </Card>
  );
}
