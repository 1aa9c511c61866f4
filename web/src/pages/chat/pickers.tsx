import { Bot, Cable, ChevronDown, Eye, ListChecks, Zap } from "lucide-react";
import { useAgents, useConnections } from "@/api/hooks";
import type { Agent, Mode } from "@/api/types";
import { useT } from "@/i18n";
import { Button, Menu, MenuItem, MenuLabel } from "@/ui";
import { setChoice, useChoice } from "./stored";

const modes: Partial<Record<Mode, React.ReactNode>> = { loop: <Zap />, plan: <ListChecks />, dry_run: <Eye /> };
const trigger = "px-2! text-xs! text-ink-3 [&>svg]:size-3.5";

/** How the request is done: at once, by a plan first, or dry. */
export function ModePicker() {
  const t = useT("chat");
  const { mode } = useChoice();
  return (
    <Menu align="start" side="top" className="w-72" trigger={<Button size="sm" variant="quiet" className={trigger} aria-label={`${t("mode")}: ${t(`mode.${mode}` as "mode.loop")}`}>{modes[mode]}<span className="max-sm:hidden">{t(`mode.${mode}` as "mode.loop")}</span></Button>}>
      <MenuLabel>{t("mode")}</MenuLabel>
      {(["loop", "plan", "dry_run"] as const).map((value) => <MenuItem key={value} icon={modes[value]} checked={mode === value} hint={t(`mode.${value}Hint`)} onSelect={() => setChoice({ mode: value })}>{t(`mode.${value}`)}</MenuItem>)}
    </Menu>
  );
}

export function ConnectionPicker() {
  const t = useT("chat");
  const { connection } = useChoice();
  const { items } = useConnections();
  const chosen = items.find((entry) => entry.id === connection);
  if (items.length < 2) return null;
  return (
    <Menu align="start" side="top" className="w-72" trigger={<Button size="sm" variant="quiet" className={trigger} aria-label={`${t("connection")}: ${chosen?.name ?? t("connection.auto")}`}><Cable /><span className="max-w-40 truncate max-sm:hidden">{chosen?.name ?? t("connection.auto")}</span></Button>}>
      <MenuLabel>{t("connection")}</MenuLabel>
      <MenuItem checked={!chosen} hint={t("connection.autoHint")} onSelect={() => setChoice({ connection: null })}>{t("connection.auto")}</MenuItem>
      {items.map((entry) => <MenuItem key={entry.id} checked={entry.id === connection} hint={entry.model.split("/").at(-1)} onSelect={() => setChoice({ connection: entry.id })}>{entry.name}</MenuItem>)}
    </Menu>
  );
}

/** The agent of a new conversation. */
export function AgentPicker({ agent, onChoose }: { agent: Agent | undefined; onChoose: (id: string) => void }) {
  const t = useT("chat");
  const { items } = useAgents();
  return (
    <Menu align="start" className="w-80" trigger={<Button variant="quiet" className="px-2! text-base font-semibold text-ink!" aria-label={`${t("agent")}: ${agent?.name ?? ""}`}><Bot aria-hidden className="size-4 text-ink-3" /><span className="max-w-52 truncate">{agent?.name ?? t("agent")}</span><ChevronDown aria-hidden className="size-3.5 text-ink-3" /></Button>}>
      <MenuLabel>{t("agent")}</MenuLabel>
      {items.map((entry) => <MenuItem key={entry.id} icon={<Bot />} checked={entry.id === agent?.id} hint={<span className="line-clamp-2">{entry.instructions}</span>} onSelect={() => onChoose(entry.id)}>{entry.name}</MenuItem>)}
    </Menu>
  );
}
