import { useBlocker } from "@tanstack/react-router";
import { FileLock, Plus } from "lucide-react";
import { type ReactNode, useEffect, useMemo, useState } from "react";
import { ApiError } from "@/api/client";
import { isAdmin, useDataRules, useMe, useReplaceDataRules } from "@/api/hooks";
import type { DataRulesView } from "@/api/types";
import { useShortcut } from "@/frame/shortcuts";
import { useT } from "@/i18n";
import { Button, Card, Dialog, Dot, EmptyState, ErrorState, Page, Skeleton, toast } from "@/ui";
import { changesOf, exampleOf, type Form, formOf, isNew, joined, labelOf, newLabel, newPolicy, policyOf, problemsOf, savedOf, sentOf, valuesOf } from "./parts/form";
import { LabelEditor, LabelView } from "./parts/Labels";
import { PolicyEditor, PolicyView } from "./parts/Policies";
import { Retention } from "./parts/Retention";
import { TryIt } from "./parts/TryIt";

/** Which data is confidential, and what follows for runs that have seen it. */
export default function GovernancePage() {
  const t = useT("governance");
  const me = useMe();
  const rules = useDataRules();
  const body = rules.error && !rules.data ? <ErrorState error={rules.error} onRetry={() => void rules.refetch()} />
    : !rules.data || !me.data ? <Skeleton rows={8} />
    : isAdmin(me.data) ? <div className="flex flex-col gap-6"><Editor newest={rules.data} onNewest={() => void rules.refetch()} /><Retention /></div>
    : <Reader rules={rules.data} />;
  return <Page title={t("title")} lead={t("lead")}>{body}</Page>;
}

function Reader({ rules }: { rules: DataRulesView }) {
  const t = useT("governance");
  if (rules.labels.length + rules.policies.length === 0) return <div className="rounded-lg border border-line bg-surface"><EmptyState icon={<FileLock />} title={t("empty")}>{t("empty_reader")}</EmptyState></div>;
  return (
    <div className="flex flex-col gap-6">
      <p className="rounded-lg bg-sunken px-4 py-2.5 text-base text-ink-2">{t("read_only")}</p>
      <Section title={t("labels")} text={t("labels_text")}>{rules.labels.length === 0 ? <p className="text-base text-ink-3">{t("labels_none")}</p> : rules.labels.map((label) => <LabelView key={label.name} label={label} />)}</Section>
      <Section title={t("policies")} text={t("policies_text")}>{rules.policies.length === 0 ? <p className="text-base text-ink-3">{t("policies_none")}</p> : rules.policies.map((policy) => <PolicyView key={policy.name} policy={policy} />)}</Section>
      <TryIt rules={rules} unsaved={false} />
    </div>
  );
}

/** `newest`: as last read from the server, which may be newer than what the form began with. */
function Editor({ newest, onNewest }: { newest: DataRulesView; onNewest: () => void }) {
  const t = useT("governance");
  const replace = useReplaceDataRules();
  const [base, setBase] = useState(newest);
  const [form, setForm] = useState<Form>(() => formOf(newest));
  const [tried, setTried] = useState(false);
  const saved = useMemo(() => savedOf(base), [base]);
  const changes = changesOf(form, saved);
  const dirty = changes > 0;
  const begin = (rules: DataRulesView) => (setBase(rules), setForm(formOf(rules)), setTried(false), replace.reset());
  const outdated = newest.version > base.version;
  useEffect(() => {
    if (outdated && !dirty) begin(newest);
    // eslint-disable-next-line react-hooks/exhaustive-deps
  }, [outdated, dirty]);
  const blocker = useBlocker({ shouldBlockFn: ({ current, next }) => dirty && current.pathname !== next.pathname, enableBeforeUnload: () => dirty, withResolver: true });

  const problems = useMemo(() => problemsOf(form), [form]);
  const conflict = replace.error instanceof ApiError && replace.error.code === "changed_meanwhile";
  const refused = replace.error instanceof ApiError && replace.error.field ? { [replace.error.field]: replace.error.message } : {};
  const problem = (field: string): string | undefined => (tried && problems[field] ? t(problems[field], valuesOf(problems[field])) : refused[field]);
  const edit = (change: Partial<Form>) => {
    setForm((old) => ({ ...old, ...change }));
    if (replace.error) replace.reset();
  };
  const one = <K extends keyof Form>(kind: K, index: number, change: Partial<Form[K][number]>) => edit({ [kind]: form[kind].map((entry, at) => (at === index ? { ...entry, ...change } : entry)) } as Partial<Form>);
  const without = (kind: keyof Form, index: number) => edit({ [kind]: (form[kind] as { key: number }[]).filter((_, at) => at !== index) } as Partial<Form>);

  const save = () => {
    setTried(true);
    const focus = () => setTimeout(() => document.querySelector<HTMLElement>("main [aria-invalid]")?.focus());
    if (Object.keys(problems).length > 0) return (toast({ about: "governance", title: t("fix_first"), tone: "bad" }), void focus());
    replace.mutate({ version: base.version, ...sentOf(form, base) }, {
      onSuccess: (now) => (begin(now), toast({ about: "governance", title: t("saved") })),
      onError: (error) => (error instanceof ApiError && error.code === "changed_meanwhile" ? onNewest() : void focus()),
    });
  };
  useShortcut("Mod+s", save, t("save"), { inFields: true, enabled: dirty });

  const empty = form.labels.length + form.policies.length === 0;
  const example = () => (edit(exampleOf(t("example_label"), t("example_policy"))), toast({ about: "governance", title: t("example_taken") }));
  return (
    <form className="flex flex-col gap-6" onSubmit={(event) => (event.preventDefault(), save())}>
      {(outdated && dirty) || conflict ? (
        <Conflict ready={outdated} onJoin={() => (setForm(joined(form, saved, savedOf(newest))), setBase(newest), replace.reset())} onDiscard={() => begin(newest)} onRead={onNewest} />
      ) : replace.error ? <ErrorState inline error={replace.error} /> : null}
      {empty && !dirty ? (
        <div className="rounded-lg border border-line bg-surface">
          <EmptyState icon={<FileLock />} title={t("empty")} action={<div className="flex flex-wrap justify-center gap-2"><Button variant="primary" onClick={example}>{t("example")}</Button><Button onClick={() => edit({ labels: [newLabel()] })}>{t("label_add")}</Button></div>}>
            <p>{t("empty_text")}</p>
            <p className="mt-2">{t("example_text")}</p>
          </EmptyState>
        </div>
      ) : (
        <>
          <Section title={t("labels")} text={t("labels_text")} action={<Button size="sm" icon={<Plus aria-hidden className="size-4" />} onClick={() => edit({ labels: [...form.labels, newLabel()] })}>{t("label_add")}</Button>}>
            {form.labels.length === 0 && <p className="text-base text-ink-3">{t("labels_none")}</p>}
            {form.labels.map((label, index) => <LabelEditor key={label.key} label={label} unsaved={isNew(labelOf(label), saved.labels)} problem={(name) => problem(name ? `labels.${index}.${name}` : `labels.${index}`)} onChange={(change) => one("labels", index, change)} onRemove={() => without("labels", index)} />)}
          </Section>
          <Section title={t("policies")} text={t("policies_text")} action={<Button size="sm" icon={<Plus aria-hidden className="size-4" />} onClick={() => edit({ policies: [...form.policies, newPolicy()] })}>{t("policy_add")}</Button>}>
            {form.policies.length === 0 && <p className="text-base text-ink-3">{t("policies_none")}</p>}
            {form.policies.map((policy, index) => <PolicyEditor key={policy.key} policy={policy} unsaved={isNew(policyOf(policy), saved.policies)} problem={(name) => problem(`policies.${index}.${name}`)} onChange={(change) => one("policies", index, change)} onRemove={() => without("policies", index)} />)}
          </Section>
        </>
      )}
      {/* No field of this form: Enter there tries, and does not save. */}
      <TryIt rules={base} unsaved={dirty} />
      {dirty && (
        <div className="sticky bottom-0 -mx-1 flex flex-wrap items-center gap-3 rounded-lg border border-line bg-raised px-4 py-3">
          <p role="status" className="flex min-w-0 flex-1 items-center gap-2 text-base"><Dot tone="warn" />{t("unsaved", { count: changes })}</p>
          <Button disabled={replace.isPending} onClick={() => begin(newest)}>{t("discard")}</Button>
          <Button type="submit" variant="primary" loading={replace.isPending}>{t("save")}</Button>
        </div>
      )}
      {blocker.status === "blocked" && <Dialog open onOpenChange={() => blocker.reset()} title={t("leave_title")} description={t("leave_text")} footer={<><Button onClick={() => blocker.proceed()}>{t("leave")}</Button><Button variant="primary" onClick={() => blocker.reset()}>{t("stay")}</Button></>} />}
    </form>
  );
}

function Section({ title, text, action, children }: { title: string; text: string; action?: ReactNode; children: ReactNode }) {
  return (
    <Card title={title} actions={action}>
      <div className="flex flex-col gap-4">
        <p className="max-w-prose text-base text-ink-2">{text}</p>
        {children}
      </div>
    </Card>
  );
}

/** Somebody else has saved meanwhile. `ready`: what they saved has been read. */
function Conflict({ ready, onJoin, onDiscard, onRead }: { ready: boolean; onJoin: () => void; onDiscard: () => void; onRead: () => void }) {
  const t = useT("governance");
  return (
    <div role="alert" className="flex flex-col gap-2 rounded-lg border border-warn-line/60 bg-warn-soft px-4 py-3 text-base">
      <p className="font-medium">{t("conflict")}</p>
      <p className="text-ink-2">{t("conflict_text")}</p>
      <div className="flex flex-wrap gap-2">
        {ready ? <><Button size="sm" onClick={onJoin}>{t("conflict_join")}</Button><Button size="sm" variant="quiet" onClick={onDiscard}>{t("conflict_discard")}</Button></> : <Button size="sm" onClick={onRead}>{t("conflict_read")}</Button>}
      </div>
    </div>
  );
}
