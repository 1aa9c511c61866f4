import { ArrowDown, ArrowUp, GripVertical, X } from "lucide-react";
import { type KeyboardEvent, useRef } from "react";
import { limits } from "@/api/limits";
import type { Connection } from "@/api/types";
import { useT } from "@/i18n";
import { IconButton, Select } from "@/ui";
import { moved } from "./form";

type Props = { chain: string[]; connections: Connection[]; disabled: boolean; onChange: (chain: string[]) => void };

/** Connections in the order in which they are tried; moved by buttons, or by Alt and the arrows. */
export function Chain({ chain, connections, disabled, onChange }: Props) {
  const t = useT("agents");
  const m = useT("models");
  const list = useRef<HTMLOListElement>(null);
  const said = useRef<HTMLParagraphElement>(null);
  const nameOf = (id: string) => connections.find((item) => item.id === id)?.name ?? t("connection_gone");
  const move = (from: number, to: number) => {
    if (to < 0 || to >= chain.length) return;
    const id = chain[from]!;
    onChange(moved(chain, from, to));
    if (said.current) said.current.textContent = t("chain_moved", { name: nameOf(id), place: to + 1, of: chain.length });
    // The row goes on having the focus.
    setTimeout(() => list.current?.querySelector<HTMLElement>(`[data-place="${to}"]`)?.focus());
  };
  const onKey = (event: KeyboardEvent, at: number) => {
    const step = { ArrowUp: -1, ArrowDown: 1 }[event.key];
    if (!step || disabled) return;
    event.preventDefault();
    if (event.altKey) move(at, at + step);
    else list.current?.querySelector<HTMLElement>(`[data-place="${at + step}"]`)?.focus();
  };
  const left = connections.filter((item) => !chain.includes(item.id));
  return (
    <div className="flex flex-col gap-2">
      <h3 id="chain" className="text-sm font-medium">{t("chain")}</h3>
      <p className="text-xs text-ink-3">{t("chain_hint")}</p>
      {chain.length > 0 && (
        <ol ref={list} aria-labelledby="chain" className="divide-y divide-line rounded-lg border border-line bg-surface">
          {chain.map((id, at) => (
            <li key={id} className="flex items-center gap-2 py-1.5 pr-1.5 pl-2">
              <button type="button" data-place={at} disabled={disabled} aria-describedby="chain-keys" onKeyDown={(event) => onKey(event, at)} className="flex min-w-0 flex-1 items-center gap-2 rounded-sm px-1 py-1 text-left text-base">
                <GripVertical aria-hidden className="size-3.5 shrink-0 text-ink-3" />
                <span className="w-5 shrink-0 text-ink-3 tabular">{at + 1}.</span>
                <span className="min-w-0 truncate">{nameOf(id)}</span>
              </button>
              <IconButton size="sm" disabled={disabled || at === 0} label={m("move_up", { name: nameOf(id) })} onClick={() => move(at, at - 1)}><ArrowUp /></IconButton>
              <IconButton size="sm" disabled={disabled || at === chain.length - 1} label={m("move_down", { name: nameOf(id) })} onClick={() => move(at, at + 1)}><ArrowDown /></IconButton>
              <IconButton size="sm" disabled={disabled} label={m("take_out", { name: nameOf(id) })} onClick={() => onChange(chain.filter((other) => other !== id))}><X /></IconButton>
            </li>
          ))}
        </ol>
      )}
      <p id="chain-keys" className="sr-only">{t("chain_keys")}</p>
      <p ref={said} role="status" className="sr-only" />
      {!disabled && left.length > 0 && chain.length < limits.Routing.fallback_chain.maxItems && (
        <Select small aria-label={t("chain_add")} className="self-start" value="" onChange={(event) => event.target.value && onChange([...chain, event.target.value])}>
          <option value="">{t("chain_add")}</option>
          {left.map((item) => <option key={item.id} value={item.id}>{item.name} · {item.model}</option>)}
        </Select>
      )}
    </div>
  );
}
