import { useNavigate, useSearch } from "@tanstack/react-router";
import { Ellipsis, KeyRound, Plus, RotateCw, TriangleAlert } from "lucide-react";
import { useEffect, useState } from "react";
import { isOperator, mayWork, useCredentialKinds, useCredentials, useMe } from "@/api/hooks";
import type { Credential } from "@/api/types";
import { useT } from "@/i18n";
import { Button, EmptyState, IconButton, Menu, MenuItem, Page, PagedList, SearchInput, Select, Skeleton } from "@/ui";
import { CredentialDialog } from "./parts/CredentialDialog";
import { CredentialRow } from "./parts/CredentialRow";
import { expiryOf, fits, type Purpose } from "./parts/form";
import { Removal } from "./parts/Removal";
import { Rotation } from "./parts/Rotation";

/** What is in the vault. */
export function CredentialsPage() {
  const t = useT("credentials");
  const { data: me } = useMe();
  if (me && mayWork(me)) return <Listed admin={me.role === "admin"} operator={isOperator(me)} />;
  return <Page title={t("title")} width="text">{me ? <EmptyState icon={<KeyRound />} title={t("not_allowed")}>{t("not_allowed_text")}</EmptyState> : <Skeleton rows={6} />}</Page>;
}

type Changing = { credential: Credential | null; purpose: Purpose };

function Listed({ admin, operator }: { admin: boolean; operator: boolean }) {
  const t = useT("credentials");
  const navigate = useNavigate();
  const search = useSearch({ strict: false }) as Record<string, unknown>;
  const words = typeof search.q === "string" ? search.q : "";
  const kind = typeof search.kind === "string" ? search.kind : "";
  const due = search.due === 1;
  const filtered = words !== "" || kind !== "" || due;
  const filter = (change: { q?: string; kind?: string; due?: boolean }) => {
    const next = { q: words, kind, due, ...change };
    void navigate({ to: ".", replace: true, search: { ...(next.q && { q: next.q }), ...(next.kind && { kind: next.kind }), ...(next.due && { due: 1 }) } });
  };
  const list = useCredentials();
  const kinds = useCredentialKinds();
  const [changing, setChanging] = useState<Changing | null>(null);
  const [removing, setRemoving] = useState<Credential | null>(null);
  const [rotating, setRotating] = useState(false);
  // The list comes by pages, and a search is to find what is on the later ones.
  const { hasMore, loadingMore, more } = list;
  useEffect(() => {
    if (filtered && hasMore && !loadingMore && !list.error) more();
  }, [filtered, hasMore, loadingMore, list.error, more]);
  const now = Date.now();
  const isDue = (one: Credential) => ["soon", "past"].includes(expiryOf(one.expires_at, now));
  const waiting = list.items.filter(isDue);
  const shown = list.items.filter((one) => (words.trim() === "" || fits(one, words.trim())) && (kind === "" || one.kind === kind) && (!due || isDue(one)));
  const add = operator && <Button size="sm" variant="primary" icon={<Plus aria-hidden className="size-4" />} onClick={() => setChanging({ credential: null, purpose: "add" })}>{t("add")}</Button>;
  const empty = (
    <div className="rounded-lg border border-line bg-surface">
      <EmptyState icon={<KeyRound />} title={t("empty_title")} action={operator && <Button variant="primary" onClick={() => setChanging({ credential: null, purpose: "add" })}>{t("add")}</Button>}>
        <p>{t("empty_text")}</p>
        <p className="mt-2">{t(operator ? "empty_do" : "empty_ask")}</p>
      </EmptyState>
    </div>
  );
  return (
    <Page
      title={t("title")}
      lead={t("lead")}
      width="text"
      actions={
        <>
          {list.items.length > 0 && add}
          {admin && <Menu trigger={<IconButton size="sm" label={t("vault_actions")}><Ellipsis /></IconButton>}><MenuItem icon={<RotateCw />} onSelect={() => setRotating(true)}>{t("rotate")}</MenuItem></Menu>}
        </>
      }
    >
      <PagedList list={filtered ? { ...list, hasMore: false } : list} empty={empty}>
        {waiting.length > 0 && (
          <p className="mb-3 flex flex-wrap items-center gap-2.5 rounded-lg bg-warn-soft px-3 py-2 text-base">
            <TriangleAlert aria-hidden className="size-4 shrink-0 text-warn" />
            <span className="min-w-0 flex-1">{t("due", { count: waiting.length })}</span>
            <Button size="sm" aria-pressed={due} onClick={() => filter({ due: !due })}>{t(due ? "due_all" : "due_only")}</Button>
          </p>
        )}
        <div className="mb-3 flex flex-wrap gap-2">
          <SearchInput className="min-w-48 flex-1" label={t("search")} value={words} onChange={(q) => filter({ q })} />
          <Select small aria-label={t("kind_filter")} className="max-md:w-full" value={kind} onChange={(event) => filter({ kind: event.target.value })}>
            <option value="">{t("kind_all")}</option>
            {(kinds.data ?? []).map((one) => <option key={one.kind} value={one.kind}>{t(`kind_${one.kind}`)}</option>)}
          </Select>
        </div>
        {shown.length > 0 ? (
          <ul aria-label={t("title")} className="divide-y divide-line rounded-lg border border-line bg-surface">
            {shown.map((one) => <CredentialRow key={one.id} credential={one} operator={operator} onChange={(purpose) => setChanging({ credential: one, purpose })} onRemove={() => setRemoving(one)} />)}
          </ul>
        ) : loadingMore ? <Skeleton rows={3} /> : <EmptyState title={t("none_found")} action={<Button size="sm" onClick={() => filter({ q: "", kind: "", due: false })}>{t("show_all")}</Button>} />}
      </PagedList>
      {changing && <CredentialDialog {...changing} onClose={() => setChanging(null)} />}
      {removing && <Removal credential={removing} onClose={() => setRemoving(null)} />}
      {rotating && <Rotation onClose={() => setRotating(false)} />}
    </Page>
  );
}
