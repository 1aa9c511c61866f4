import { useBlocker, useNavigate } from "@tanstack/react-router";
import { Copy, Ellipsis, Power, PowerOff, Trash2 } from "lucide-react";
import { type ReactNode, useMemo, useState } from "react";
import { ApiError } from "@/api/client";
import { isOperator, useMe, useSkillActions } from "@/api/hooks";
import type { SkillDetail, SkillInput, SkillKindInfo } from "@/api/types";
import { useShortcut } from "@/frame/shortcuts";
import { useT } from "@/i18n";
import { Button, Dialog, ErrorState, formatRange, IconButton, Menu, MenuItem, MenuSeparator, Page, Tabs, toast } from "@/ui";
import { useFilters } from "../runs/parts/filters";
import { AccessButton } from "../access/AccessButton";
import { Agents } from "./parts/Agents";
import { DeleteDialog, useSwitching } from "./parts/actions";
import { problemsOf, rangeOf, refusedOf, sent } from "./parts/form";
import { SkillForm } from "./parts/SkillForm";
import { SkillBadges } from "./parts/labels";
import { useSound } from "./parts/sound";
import { Try } from "./parts/Try";
import { Versions } from "./parts/Versions";

const TABS = ["settings", "try", "versions", "agents"] as const;
type Props = { skill: SkillDetail | undefined; start: SkillInput; kind: SkillKindInfo | undefined; back: ReactNode; mayEdit: boolean; agent?: string; example?: boolean; onEmpty?: () => void; onKind?: () => void };

/** A skill with all that belongs to it: settings, trial, versions, agents. */
export function Editor({ skill, start, kind, back, mayEdit, agent, example, onEmpty, onKind }: Props) {
  const t = useT("skills");
  const navigate = useNavigate();
  const operator = isOperator(useMe().data);
  const { create, update, attach } = useSkillActions();
  const switching = useSwitching();
  const [{ tab }, set] = useFilters(["tab"] as const);
  const shown = skill ? (TABS.find((name) => name === tab) ?? "settings") : "settings";
  const [saved, setSaved] = useState(start);
  const [form, setForm] = useState(start);
  const [giveTo, setGiveTo] = useState(agent ?? "");
  const [tried, setTried] = useState(false);
  const [deleting, setDeleting] = useState(false);
  // Counts what was taken back, so that fields with a text of their own begin anew.
  const [round, setRound] = useState(0);
  const { sound, onSound, forget } = useSound();
  const error = create.error ?? update.error;
  const patch = (change: Partial<SkillInput>) => {
    setForm((old) => ({ ...old, ...change }));
    if (error) (create.reset(), update.reset());
  };
  const dirty = mayEdit && (JSON.stringify(form) !== JSON.stringify(saved) || !sound);
  const problems = useMemo(() => problemsOf(form, kind), [form, kind]);
  const refused = refusedOf(error instanceof ApiError ? error : null);
  const problem = (name: string) => refused[name] ?? (tried && problems[name] ? t(problems[name], formatRange(rangeOf(name))) : undefined);
  const blocker = useBlocker({ shouldBlockFn: ({ current, next }) => dirty && current.pathname !== next.pathname, enableBeforeUnload: () => dirty, withResolver: true });
  const writing = create.isPending || update.isPending || attach.isPending;
  const taken = (next: SkillInput) => (setSaved(next), setForm(next));

  const save = () => {
    setTried(true);
    if (!sound || Object.keys(problems).length > 0) {
      set({ tab: "" });
      toast({ about: "skill", title: t("fix_first"), tone: "bad" });
      setTimeout(() => document.querySelector<HTMLElement>("main [aria-invalid]")?.focus());
      return;
    }
    const body = sent(form, kind);
    const focus = () => setTimeout(() => document.querySelector<HTMLElement>("main [aria-invalid]")?.focus());
    if (skill) return update.mutate({ id: skill.id, body }, { onSuccess: (next) => (taken(form), toast({ title: next.version === skill.version ? t("saved_same") : t("saved", { n: next.version }) })), onError: focus });
    create.mutate(body, {
      onError: focus,
      onSuccess: (made) => {
        taken(form);
        const open = () => setTimeout(() => void navigate({ to: "/skills/$skillId", params: { skillId: made.id }, search: { tab: "try" }, ignoreBlocker: true }));
        if (!giveTo) return (toast({ about: "skill", title: t("created", { name: made.name }) }), open());
        attach.mutate({ agent: giveTo, skill: made.id }, { onSuccess: () => toast({ about: "skill", title: t("created_given", { name: made.name }) }), onError: (why) => toast({ title: why.message, tone: "bad" }), onSettled: open });
      },
    });
  };
  useShortcut("Mod+s", save, t("save"), { inFields: true, enabled: mayEdit });

  const settings = <SkillForm key={round} form={form} kind={kind} disabled={!mayEdit} operator={operator} problem={problem} names={{ ...refused, ...(tried ? Object.fromEntries(Object.entries(problems).map(([name, why]) => [name, t(why, formatRange(rangeOf(name)))])) : {}) }} onChange={patch} onWhole={(next) => (setForm(next), create.reset(), update.reset())} onSound={onSound} giveTo={skill ? null : giveTo} onGiveTo={setGiveTo} {...(onKind && { onKind })} />;
  return (
    <Page
      title={skill ? skill.name : t("new_title")}
      back={back}
      width="text"
      actions={
        <>
          {dirty && skill && <span className="text-sm text-warn max-md:hidden">{t("unsaved")}</span>}
          {dirty && skill && <Button size="sm" onClick={() => (setForm(saved), setTried(false), forget(), create.reset(), update.reset(), setRound(round + 1))}>{t("discard")}</Button>}
          {mayEdit && (dirty || !skill) && <Button size="sm" variant="primary" loading={writing} onClick={save}>{skill ? t("save") : t("create")}</Button>}
          {skill && !dirty && <AccessButton kind="skill" id={skill.id} name={skill.name} />}
          {mayEdit && skill && (
            <Menu trigger={<IconButton size="sm" label={t("actions_for", { name: skill.name })}><Ellipsis /></IconButton>}>
              <MenuItem icon={<Copy />} onSelect={() => void navigate({ to: "/skills/new", search: { from: skill.id } })}>{t("duplicate")}</MenuItem>
              <MenuItem icon={skill.enabled ? <PowerOff /> : <Power />} disabled={dirty} onSelect={() => void switching(skill).then((next) => next && taken({ ...saved, enabled: next.enabled }))}>{t(skill.enabled ? "disable" : "enable")}</MenuItem>
              <MenuSeparator />
              <MenuItem icon={<Trash2 />} danger onSelect={() => setDeleting(true)}>{t("delete")}</MenuItem>
            </Menu>
          )}
        </>
      }
    >
      {skill && <p className="mb-3 flex flex-wrap items-center gap-1.5"><SkillBadges skill={skill} /></p>}
      {!mayEdit && <p className="mb-4 rounded-lg bg-sunken px-4 py-2.5 text-base text-ink-2">{t("read_only")}</p>}
      {skill?.package && mayEdit && <p className="mb-4 rounded-lg bg-sunken px-4 py-2.5 text-base text-ink-2">{t("of_package", { name: skill.package })}</p>}
      {example !== undefined && <p className="mb-4 flex flex-wrap items-center gap-3 rounded-lg bg-sunken px-4 py-2.5 text-base text-ink-2"><span className="min-w-0 flex-1">{t(example ? "is_example" : "is_empty")}</span>{example && onEmpty && <Button size="sm" onClick={onEmpty}>{t("start_empty")}</Button>}</p>}
      {error && <ErrorState inline error={error} className="mb-4" />}
      {skill ? (
        <Tabs
          label={skill.name}
          value={shown}
          onChange={(next) => set({ tab: next === "settings" ? "" : next })}
          tabs={[
            { value: "settings", label: t("tab_settings"), content: settings },
            { value: "try", label: t("tab_try"), content: <Try skill={skill} dirty={dirty} /> },
            { value: "versions", label: t("tab_versions"), content: <Versions skill={skill} mayEdit={mayEdit && !dirty} onBack={(next) => (taken(next), setRound(round + 1))} /> },
            { value: "agents", label: t("tab_agents", { count: skill.agents.length }), content: <Agents skill={skill} operator={operator} /> },
          ]}
        />
      ) : settings}
      {deleting && skill && <DeleteDialog skill={skill} onClose={() => setDeleting(false)} onDone={() => void navigate({ to: "/skills", ignoreBlocker: true })} />}
      {blocker.status === "blocked" && <Dialog open onOpenChange={() => blocker.reset()} title={t("leave_title")} description={t("leave_text")} footer={<><Button onClick={() => blocker.proceed()}>{t("leave")}</Button><Button variant="primary" onClick={() => blocker.reset()}>{t("stay")}</Button></>} />}
    </Page>
  );
}
