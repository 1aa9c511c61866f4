import { Columns2, FileSearch, Lightbulb, Search, SearchX } from "lucide-react";
import { useEffect, useState } from "react";
import { useDocumentSearch } from "@/api/hooks";
import { limits } from "@/api/limits";
import type { Collection, FoundChunk } from "@/api/types";
import { useT } from "@/i18n";
import { Button, cx, EmptyState, ErrorState, formatDuration, formatNumber, Input, Select, Skeleton, Table } from "@/ui";
import { useFilters } from "../../runs/parts/filters";
import { Compare } from "./Compare";
import { MODES, type Setting, settingOf, USUAL } from "./compare";
import { FoundBy, Score } from "./FoundBy";
import { KINDS, Marked, pagesOf, useKindName } from "./labels";
import { excerpt, marked } from "./marks";
import { useRemoved } from "./removing";
import { shareOf } from "./tuning-form";

const LIMIT = 20;
/** Characters of a passage that are shown. */
const EXCERPT = 320;

type Props = { collections: Collection[]; onOpen: (document: string, chunk: string) => void; onAdd: () => void };

/** A question, and what each ranking makes of it. The address carries it, so that it can be sent to somebody. */
export function TrySearch({ collections, onOpen, onAdd }: Props) {
  const t = useT("documents");
  const kindName = useKindName();
  const [{ q, collection, kind, mode, compare, meaning, mode_b, meaning_b }, set] = useFilters(["q", "collection", "kind", "mode", "compare", "meaning", "mode_b", "meaning_b"] as const);
  const [typed, setTyped] = useState(q);
  useEffect(() => setTyped(q), [q]);
  const how = MODES.find((one) => one === mode) ?? "hybrid";
  const comparing = compare !== "";
  const search = { query: q.trim(), limit: LIMIT, ...(collection && { collections: [collection] }), ...(kind && { doc_type: kind }) };
  const found = useDocumentSearch({ ...search, ...(how !== "hybrid" && { mode: how }), ...(comparing && { query: "" }) });
  const chosen = collections.find((one) => one.id === collection);
  const usual: Setting = { mode: "hybrid", meaning: chosen ? shareOf(chosen.weights) : USUAL };
  const first = settingOf(mode, meaning, usual);
  const second = settingOf(mode_b, meaning_b, { mode: "text", meaning: usual.meaning });
  const removed = useRemoved();
  const rows = (found.data?.found ?? []).filter((one) => !removed.has(one.document));
  const open = (one: FoundChunk) => onOpen(one.document, String(one.chunk.index));
  const nothing = collections.every((one) => one.documents === 0);
  const send = () => {
    if (!comparing && typed.trim() === q.trim() && q.trim() !== "") void found.refetch();
    set({ q: typed.trim() });
  };
  const nameOf = (id: string) => collections.find((one) => one.id === id)?.name ?? "";
  return (
    <div className="flex flex-col gap-4">
      <form role="search" noValidate className="flex flex-col gap-2" onSubmit={(event) => (event.preventDefault(), send())}>
        <div className="flex gap-2">
          <Input type="search" autoFocus={q === ""} aria-label={t("question")} placeholder={t("question_placeholder")} maxLength={limits.DocumentSearch.query.maxLength} autoComplete="off" value={typed} onChange={(event) => setTyped(event.target.value)} className="min-w-0 flex-1 [&::-webkit-search-cancel-button]:hidden" />
          <Button type="submit" variant="primary" icon={<Search aria-hidden className="size-4" />} loading={found.isFetching && q !== ""}>{t("search")}</Button>
        </div>
        <div className="flex flex-wrap gap-2 max-md:grid max-md:grid-cols-2 [&_select]:max-md:h-10">
          <Select small aria-label={t("collection")} className="max-w-full" value={collection} onChange={(event) => set({ collection: event.target.value })}>
            <option value="">{t("any_collection")}</option>
            {collections.map((one) => <option key={one.id} value={one.id}>{one.name}</option>)}
          </Select>
          <Select small aria-label={t("kind")} value={kind} onChange={(event) => set({ kind: event.target.value })}>
            <option value="">{t("any_kind")}</option>
            {kind && !(KINDS as readonly string[]).includes(kind) && <option value={kind}>{kindName(kind)}</option>}
            {KINDS.map((one) => <option key={one} value={one}>{kindName(one)}</option>)}
          </Select>
          {!comparing && (
            <Select small aria-label={t("ranked_by")} value={how} onChange={(event) => set({ mode: event.target.value === "hybrid" ? "" : event.target.value })}>
              {MODES.map((one) => <option key={one} value={one}>{t(`mode_${one}`)}</option>)}
            </Select>
          )}
          <Button size="sm" variant={comparing ? "default" : "quiet"} className="max-md:h-10!" aria-pressed={comparing} icon={<Columns2 aria-hidden className="size-3.5" />} onClick={() => set(comparing ? { compare: "", meaning: "", mode_b: "", meaning_b: "" } : { compare: "1" })}>{t("compare")}</Button>
        </div>
      </form>
      {found.data?.notice && q && <p role="status" className="flex items-start gap-2 rounded-lg border border-warn-line/40 bg-warn-soft px-3 py-2.5 text-base text-warn"><Lightbulb aria-hidden className="mt-0.5 size-4 shrink-0" /><span className="wrap-anywhere">{t("words_only")} {found.data.notice}</span></p>}
      {q === "" ? (
        nothing ? (
          <EmptyState icon={<FileSearch />} title={t("search_nothing")} action={<Button onClick={onAdd}>{t("choose_files")}</Button>}>{t("empty_text")}</EmptyState>
        ) : (
          <EmptyState icon={<FileSearch />} title={t("search_title")}>{t("search_text")}</EmptyState>
        )
      ) : comparing ? (
        <Compare search={search} first={first} second={second} onFirst={(to) => set({ mode: to.mode, meaning: String(to.meaning) })} onSecond={(to) => set({ mode_b: to.mode, meaning_b: String(to.meaning) })} onOpen={open} />
      ) : found.error ? (
        <ErrorState error={found.error} onRetry={() => void found.refetch()} />
      ) : !found.data ? (
        <Skeleton rows={8} />
      ) : (
        <section aria-label={t("results")} className={cx("transition-opacity", found.isPlaceholderData && "opacity-60")}>
          <p role="status" className="mb-2 text-sm text-ink-3">{t("found_count", { count: rows.length })} · {t("looked_into", { count: found.data.documents })} · {formatDuration(found.data.took_ms)}</p>
          {rows.length === 0 ? (
            <div className="rounded-lg border border-line bg-surface"><EmptyState icon={<SearchX />} title={t("found_none")} {...((collection || kind || how !== "hybrid") && { action: <Button onClick={() => set({ collection: "", kind: "", mode: "" })}>{t("search_everywhere")}</Button> })}>{t("found_none_text")}</EmptyState></div>
          ) : (
            <div className="overflow-hidden rounded-lg border border-line bg-surface">
              <div className="max-md:hidden">
                <Table<FoundChunk>
                  caption={t("results")}
                  rows={rows}
                  rowKey={(one) => `${one.document} ${one.chunk.index}`}
                  onRow={open}
                  columns={[
                    { key: "place", head: t("place"), className: "align-top text-right", cell: (one) => <span className="text-sm text-ink-3">{formatNumber(rows.indexOf(one) + 1)}</span> },
                    { key: "passage", head: t("passage_head"), className: "w-full max-w-0 align-top", cell: (one) => <Hit one={one} question={q} collection={nameOf(one.collection)} onOpen={() => open(one)} /> },
                    { key: "by", head: t("found_by"), className: "align-top", cell: (one) => <FoundBy one={one} /> },
                    { key: "score", head: t("joined"), className: "align-top text-right", cell: (one) => <Score value={one.score} digits={3} /> },
                  ]}
                />
              </div>
              <ol className="divide-y divide-line md:hidden">
                {rows.map((one) => (
                  <li key={`${one.document} ${one.chunk.index}`} className="flex flex-col gap-1.5 px-4 py-3">
                    <Hit one={one} question={q} collection={nameOf(one.collection)} onOpen={() => open(one)} />
                    <div className="flex flex-wrap items-end gap-x-4"><FoundBy one={one} /><span className="text-sm text-ink-3">{t("joined")} <Score value={one.score} digits={3} /></span></div>
                  </li>
                ))}
              </ol>
            </div>
          )}
        </section>
      )}
    </div>
  );
}

function Hit({ one, question, collection, onOpen }: { one: FoundChunk; question: string; collection: string; onOpen: () => void }) {
  const t = useT("documents");
  const { chunk } = one;
  return (
    <div className="min-w-0">
      <p className="flex flex-wrap items-baseline gap-x-2 text-sm text-ink-3">
        <button type="button" className="max-w-full text-left text-base font-medium text-accent-ink wrap-anywhere hover:underline max-md:py-1" onClick={(event) => (event.stopPropagation(), onOpen())}>{one.name}</button>
        {chunk.first_page > 0 && <span className="tabular">{t("page", { pages: pagesOf(chunk.first_page, chunk.last_page) })}</span>}
        {collection && <span className="truncate">{collection}</span>}
      </p>
      {chunk.headings.length > 0 && <p className="text-sm text-ink-2 wrap-anywhere">{chunk.headings.join(" › ")}</p>}
      <p className="mt-0.5 text-sm whitespace-pre-line text-ink-2 wrap-anywhere"><Marked pieces={excerpt(marked(chunk.text, question), EXCERPT)} /></p>
    </div>
  );
}
