import { SlidersHorizontal } from "lucide-react";
import { useState } from "react";
import { useT } from "@/i18n";
import { Button, cx, Input, SearchInput, Select } from "@/ui";
import { useTyped } from "../../runs/parts/filters";

export const NAMES = ["q", "actor", "action", "target", "result", "run", "from", "to"] as const;
export type Wanted = Record<(typeof NAMES)[number], string>;

const RESULTS = ["ok", "asked", "refused", "failed", "stopped", "limited", "uncertain"] as const;
/** What most people look for; any other action can be typed into the search. */
const ACTIONS = ["auth", "run", "tool", "approval", "credential", "credentials", "agents", "connections", "skills", "mcp", "users", "keys", "budgets", "grants", "data", "data_governance", "audit"] as const;

export function Filters({ wanted, set }: { wanted: Wanted; set: (patch: Partial<Wanted>) => void }) {
  const t = useT("audit");
  const [q, setQ] = useTyped(wanted.q, (value) => set({ q: value }));
  const [actor, setActor] = useTyped(wanted.actor, (value) => set({ actor: value }));
  const [shown, setShown] = useState(false);
  const count = NAMES.filter((name) => name !== "q" && wanted[name] !== "").length;
  const chosen = (name: keyof Wanted) => cx("max-md:w-full [&>select]:max-md:h-10", wanted[name] !== "" && "[&>select]:border-accent [&>select]:text-accent-ink");
  const known = wanted.action === "" || (ACTIONS as readonly string[]).includes(wanted.action);
  return (
    <div role="search" className="mb-4 flex flex-wrap items-center gap-2">
      <div className="flex w-full gap-2 md:w-44">
        <SearchInput className="min-w-0 flex-1" label={t("search")} value={q} onChange={setQ} />
        <Button className="md:hidden" aria-expanded={shown} icon={<SlidersHorizontal aria-hidden className="size-4" />} onClick={() => setShown(!shown)}>{count > 0 ? t("filters_count", { count }) : t("filters")}</Button>
      </div>
      <div className={cx("items-center gap-2 md:contents", shown ? "grid w-full grid-cols-2" : "hidden")}>
        <SearchInput className="md:w-44" label={t("actor")} value={actor} onChange={setActor} />
        <Select small aria-label={t("action")} value={wanted.action} onChange={(event) => set({ action: event.target.value })} className={chosen("action")}>
          <option value="">{t("action")}: {t("any")}</option>
          {!known && <option value={wanted.action}>{wanted.action}</option>}
          {ACTIONS.map((value) => <option key={value} value={value}>{t(`action_${value}`)}</option>)}
        </Select>
        <Select small aria-label={t("result")} value={wanted.result} onChange={(event) => set({ result: event.target.value })} className={chosen("result")}>
          <option value="">{t("result")}: {t("any")}</option>
          {RESULTS.map((value) => <option key={value} value={value}>{t(`result_${value}`)}</option>)}
        </Select>
        <Input type="date" aria-label={t("from")} value={wanted.from} max={wanted.to || undefined} onChange={(event) => set({ from: event.target.value })} className="h-7 w-auto px-2 text-sm max-md:h-10 max-md:w-full" />
        <Input type="date" aria-label={t("to")} value={wanted.to} min={wanted.from || undefined} onChange={(event) => set({ to: event.target.value })} className="h-7 w-auto px-2 text-sm max-md:h-10 max-md:w-full" />
        {wanted.target && <Button size="sm" onClick={() => set({ target: "" })}>{t("only_target", { target: wanted.target })} ×</Button>}
        {wanted.run && <Button size="sm" onClick={() => set({ run: "" })}>{t("only_run", { run: wanted.run.slice(-6) })} ×</Button>}
        {count > 0 && <Button size="sm" variant="quiet" onClick={() => set(Object.fromEntries(NAMES.map((name) => [name, ""])))}>{t("clear")}</Button>}
      </div>
    </div>
  );
}
