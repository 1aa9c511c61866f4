import { Ban, Ellipsis, KeyRound, Pencil, Plus } from "lucide-react";
import { useState } from "react";
import { mayWork, useKeyActions, useKeys, useMe } from "@/api/hooks";
import { nameOf } from "@/api/named";
import type { NamedRef, NewVirtualKey, VirtualKey } from "@/api/types";
import { useT } from "@/i18n";
import { Badge, Button, ConfirmDialog, EmptyState, formatExact, formatNumber, formatTokens, IconButton, Menu, MenuItem, MenuSeparator, PagedList, Time, toast, useErrorText } from "@/ui";
import { KeyDialog } from "./KeyDialog";
import { Secret } from "./Secret";

/** Keys by which other programs use Steward as their gateway. */
export function Keys() {
  const t = useT("usage");
  const list = useKeys();
  const me = useMe().data;
  const errorText = useErrorText();
  const { revoke } = useKeyActions();
  const [editing, setEditing] = useState<VirtualKey | "new" | null>(null);
  const [ending, setEnding] = useState<VirtualKey | null>(null);
  const [made, setMade] = useState<NewVirtualKey | null>(null);
  const end = () =>
    ending && revoke.mutate(ending.id, {
      onSuccess: () => toast({ title: t("key_revoked", { name: ending.name }) }),
      onError: (error) => toast({ title: errorText(error).title, tone: "bad" }),
      onSettled: () => setEnding(null),
    });
  return (
    <div className="flex max-w-3xl flex-col gap-4">
      <div className="flex flex-wrap items-center justify-between gap-3">
        <p className="max-w-prose text-base text-ink-2">{t("keys_lead")}</p>
        {mayWork(me) && list.items.length > 0 && <Button size="sm" variant="primary" icon={<Plus aria-hidden className="size-4" />} onClick={() => setEditing("new")}>{t("key_new")}</Button>}
      </div>
      <PagedList list={list} empty={<div className="rounded-lg border border-line bg-surface"><EmptyState icon={<KeyRound />} title={t("keys_empty")} action={mayWork(me) && <Button variant="primary" onClick={() => setEditing("new")}>{t("key_new")}</Button>}>{t("keys_empty_text")}</EmptyState></div>}>
        <ul className="divide-y divide-line rounded-lg border border-line bg-surface">{list.items.map((key) => <KeyRow key={key.id} entry={key} mine={key.user === me?.id} onEdit={() => setEditing(key)} onEnd={() => setEnding(key)} />)}</ul>
      </PagedList>
      {editing && <KeyDialog entry={editing === "new" ? null : editing} onClose={() => setEditing(null)} onMade={setMade} />}
      <ConfirmDialog open={ending !== null} onOpenChange={() => setEnding(null)} title={t("key_revoke_title", { name: ending?.name ?? "" })} description={t("key_revoke_text")} confirm={t("key_revoke")} danger busy={revoke.isPending} onConfirm={end} />
      {made && <Secret made={made} onDone={() => setMade(null)} />}
    </div>
  );
}

function KeyRow({ entry, mine, onEdit, onEnd }: { entry: VirtualKey; mine: boolean; onEdit: () => void; onEnd: () => void }) {
  const t = useT("usage");
  const revoked = entry.revoked_at != null;
  const names = (all: readonly NamedRef[]) => all.map((one) => nameOf(one, t("listed_deleted"))).join(", ");
  const expired = !revoked && entry.expires_at != null && entry.expires_at <= Date.now();
  const agents = entry.agents == null ? t("agents_none") : entry.agents.length === 0 ? t("agents_all") : names(entry.agents);
  const limits = [entry.requests_per_minute != null && t("rpm", { n: formatNumber(entry.requests_per_minute) }), entry.tokens_per_minute != null && t("tpm", { n: formatTokens(entry.tokens_per_minute) })].filter(Boolean).join(" · ");
  return (
    <li className="flex items-start gap-3 px-4 py-3">
      <div className="min-w-0 flex-1">
        <h2 className="flex flex-wrap items-center gap-2 text-base font-semibold"><span className="wrap-anywhere">{entry.name}</span><code className="font-mono text-xs font-normal text-ink-3">{entry.prefix}…</code>{revoked && <Badge>{t("revoked")}</Badge>}{expired && <Badge>{t("expired")}</Badge>}{!mine && <Badge>{t("of_another")}</Badge>}</h2>
        <p className="text-sm text-ink-2 wrap-anywhere">{t("may_connections", { names: entry.connections.length === 0 ? t("connections_all") : names(entry.connections) })} · {t("may_agents", { names: agents })}</p>
        <p className="text-sm text-ink-3">{limits || t("no_limits")} · {t("made")} <Time relative at={entry.created_at} />{entry.expires_at != null && !expired && !revoked && <> · {t("ends", { time: formatExact(entry.expires_at) })}</>}</p>
      </div>
      {!revoked && (
        <Menu trigger={<IconButton size="sm" label={t("key_actions", { name: entry.name })}><Ellipsis /></IconButton>}>
          <MenuItem icon={<Pencil />} onSelect={onEdit}>{t("key_edit")}</MenuItem>
          <MenuSeparator />
          <MenuItem icon={<Ban />} danger onSelect={onEnd}>{t("key_revoke")}</MenuItem>
        </Menu>
      )}
    </li>
  );
}
