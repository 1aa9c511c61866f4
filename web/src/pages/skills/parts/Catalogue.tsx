import { Link, useNavigate } from "@tanstack/react-router";
import { Copy, Ellipsis, FlaskConical, Pencil, Power, PowerOff, Puzzle, SearchX, Trash2 } from "lucide-react";
import { useState } from "react";
import { mayWork, useAgents, useAllSkills, useMe, useReach, useSkillKinds, useSkills } from "@/api/hooks";
import type { Skill } from "@/api/types";
import { useT } from "@/i18n";
import { Button, ButtonLink, cx, EmptyState, IconButton, Menu, MenuItem, MenuSeparator, PagedList, SearchInput, Select } from "@/ui";
import { useFilters, useTyped } from "../../runs/parts/filters";
import { DeleteDialog, useSwitching } from "./actions";
import { callable, mayChange, mayWrite } from "./form";
import { KindIcon, SkillBadges } from "./labels";

const FILTERS = ["q", "kind", "category", "package", "agent"] as const;

/** All skills, with filters that can be linked. */
export function Catalogue({ onImport }: { onImport: () => void }) {
  const t = useT("skills");
  const me = useMe().data;
  const [filters, set] = useFilters(FILTERS);
  const [q, setQ] = useTyped(filters.q, (value) => set({ q: value }));
  const list = useSkills({ text: filters.q, kind: filters.kind, category: filters.category, package: filters.package, agent: filters.agent });
  const all = useAllSkills();
  const kinds = useSkillKinds();
  const agents = useAgents();
  const [deleting, setDeleting] = useState<Skill | null>(null);
  const filtered = FILTERS.some((name) => filters[name] !== "");
  const clear = () => (setQ(""), set({ q: "", kind: "", category: "", package: "", agent: "" }));
  // What is chosen stays a choice, also where nothing has it any more.
  const known = (name: "category" | "package") => [...new Set([...(all.data ?? []).map((skill) => skill[name] ?? ""), filters[name]])].filter(Boolean).sort();
  const choice = (name: "category" | "package") => known(name).length > 0 && <Select small aria-label={t(`filter_${name}`)} value={filters[name]} onChange={(event) => set({ [name]: event.target.value })}><option value="">{t(`any_${name}`)}</option>{known(name).map((one) => <option key={one} value={one}>{one}</option>)}</Select>;
  return (
    <>
      {(filtered || list.items.length > 0 || list.error !== null) && (
        <div role="search" className="mb-4 flex flex-wrap items-center gap-2">
          <SearchInput className="w-full max-w-64 max-md:max-w-none" label={t("search")} maxLength={200} value={q} onChange={setQ} />
          <Select small aria-label={t("filter_kind")} value={filters.kind} onChange={(event) => set({ kind: event.target.value })}><option value="">{t("any_kind")}</option>{kinds.data?.map((kind) => <option key={kind.type} value={kind.type}>{t(`kind_${kind.type}`)}</option>)}</Select>
          {choice("category")}
          {choice("package")}
          <Select small aria-label={t("filter_agent")} className="max-w-48" value={filters.agent} onChange={(event) => set({ agent: event.target.value })}><option value="">{t("any_agent")}</option>{agents.items.map((agent) => <option key={agent.id} value={agent.id}>{agent.name}</option>)}</Select>
          {filtered && <Button size="sm" variant="quiet" onClick={clear}>{t("clear")}</Button>}
        </div>
      )}
      <PagedList
        list={list}
        empty={
          <div className="rounded-lg border border-line bg-surface">
            {filtered ? (
              <EmptyState icon={<SearchX />} title={t("none_title")} action={<Button onClick={clear}>{t("clear")}</Button>}>{t("none_text")}</EmptyState>
            ) : (
              <EmptyState icon={<Puzzle />} title={t("empty_title")} action={mayWork(me) && <span className="flex flex-wrap justify-center gap-2"><ButtonLink to="/skills/new">{t("new")}</ButtonLink>{me?.role !== "developer" && <Button onClick={onImport}>{t("import")}</Button>}</span>}>{t(mayWork(me) ? "empty_text" : "empty_viewer")}</EmptyState>
            )}
          </div>
        }
      >
        <ul aria-label={t("title")} className="divide-y divide-line rounded-lg border border-line bg-surface">{list.items.map((skill) => <Row key={skill.id} skill={skill} onDelete={() => setDeleting(skill)} />)}</ul>
      </PagedList>
      {deleting && <DeleteDialog skill={deleting} onClose={() => setDeleting(null)} />}
    </>
  );
}

function Row({ skill, onDelete }: { skill: Skill; onDelete: () => void }) {
  const t = useT("skills");
  const navigate = useNavigate();
  const me = useMe().data;
  const granted = useReach("skill", skill.id, "edit");
  const editable = granted && mayChange(me, skill);
  const switching = useSwitching();
  const open = (tab?: string) => void navigate({ to: "/skills/$skillId", params: { skillId: skill.id }, search: tab ? { tab } : {} });
  return (
    <li className={cx("relative flex items-start gap-3 px-4 py-3 transition-colors first:rounded-t-lg last:rounded-b-lg hover:bg-hover", !skill.enabled && "bg-sunken")}>
      <span className="mt-0.5 shrink-0 text-ink-3 [&>svg]:size-4.5"><KindIcon kind={skill.type} /></span>
      <div className="min-w-0 flex-1">
        <h2 className="text-base font-semibold">
          {/* The whole row opens the skill. */}
          <Link to="/skills/$skillId" params={{ skillId: skill.id }} className="font-mono wrap-anywhere after:absolute after:inset-0 focus-visible:outline-none focus-visible:after:outline-2 focus-visible:after:outline-focus">{skill.name}</Link>
        </h2>
        <p className="mt-0.5 line-clamp-2 text-sm text-ink-2 wrap-anywhere">{skill.description}</p>
        <p className="mt-1.5 flex flex-wrap items-center gap-1.5"><SkillBadges skill={skill} />{skill.category && <span className="text-xs text-ink-3">{skill.category}</span>}</p>
      </div>
      {mayWork(me) && (
        <div className="relative z-1 -mr-2 flex">
          {callable(skill.type) && <IconButton size="sm" label={t("try_name", { name: skill.name })} onClick={() => open("try")}><FlaskConical /></IconButton>}
          {mayWrite(me, skill.type) && granted !== null && (
            <Menu trigger={<IconButton size="sm" label={t("actions_for", { name: skill.name })}><Ellipsis /></IconButton>}>
              {editable && <MenuItem icon={<Pencil />} onSelect={() => open()}>{t("edit")}</MenuItem>}
              <MenuItem icon={<Copy />} onSelect={() => void navigate({ to: "/skills/new", search: { from: skill.id } })}>{t("duplicate")}</MenuItem>
              {editable && (
                <>
                  <MenuItem icon={skill.enabled ? <PowerOff /> : <Power />} onSelect={() => void switching(skill)}>{t(skill.enabled ? "disable" : "enable")}</MenuItem>
                  <MenuSeparator />
                  <MenuItem icon={<Trash2 />} danger onSelect={onDelete}>{t("delete")}</MenuItem>
                </>
              )}
            </Menu>
          )}
        </div>
      )}
    </li>
  );
}
