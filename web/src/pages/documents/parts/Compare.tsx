import { ArrowDown, ArrowUp, Equal, SearchX, Sparkle } from "lucide-react";
import { useDocumentSearch } from "@/api/hooks";
import type { DocumentSearch, FoundChunk } from "@/api/types";
import { useT } from "@/i18n";
import { cx, EmptyState, ErrorState, formatDuration, formatNumber, Select, Skeleton } from "@/ui";
import { MODES, movesOf, type Moved, sameSetting, type Setting, shared } from "./compare";
import { FoundBy, Score } from "./FoundBy";
import { Marked, pagesOf } from "./labels";
import { excerpt, marked } from "./marks";
import { useRemoved } from "./removing";
import { weightsOf } from "./tuning-form";

/** Characters of a passage that are shown. */
const EXCERPT = 180;

const searchOf = (search: DocumentSearch, { mode, meaning }: Setting): DocumentSearch => ({ ...search, ...(mode === "hybrid" ? { weights: { ...weightsOf(meaning), exact_first: true } } : { mode }) });

type Props = { search: DocumentSearch; first: Setting; second: Setting; onFirst: (setting: Setting) => void; onSecond: (setting: Setting) => void; onOpen: (one: FoundChunk) => void };

/** The same question with two settings, side by side. */
export function Compare({ search, first, second, onFirst, onSecond, onOpen }: Props) {
  const t = useT("documents");
  const removed = useRemoved();
  const one = useDocumentSearch(searchOf(search, first));
  const other = useDocumentSearch(searchOf(search, second));
  const rows = (found: typeof one) => (found.data?.found ?? []).filter((hit) => !removed.has(hit.document));
  const [a, b] = [rows(one), rows(other)];
  const [movesA, movesB] = [movesOf(a, b), movesOf(b, a)];
  const done = one.data && other.data && !one.isPlaceholderData && !other.isPlaceholderData;
  const equal = done && a.length === b.length && movesA.every((move) => move.kind === "same");
  const said = !done || search.query === "" ? "" : equal ? t("compare_equal") : t("compare_shared", { count: shared(movesA), of: formatNumber(Math.max(a.length, b.length)) });
  return (
    <section aria-label={t("compare")} className="flex flex-col gap-3">
      <p role="status" className={cx("text-sm text-ink-3", !said && "sr-only")}>{said}{sameSetting(first, second) && said ? ` ${t("compare_same_settings")}` : ""}</p>
      <div className="grid items-start gap-4 lg:grid-cols-2">
        <Side name={t("setting_a")} setting={first} onSetting={onFirst} found={one} rows={a} moves={movesA} question={search.query} onOpen={onOpen} />
        <Side name={t("setting_b")} setting={second} onSetting={onSecond} found={other} rows={b} moves={movesB} question={search.query} onOpen={onOpen} />
      </div>
    </section>
  );
}

type SideProps = { name: string; setting: Setting; onSetting: (setting: Setting) => void; found: ReturnType<typeof useDocumentSearch>; rows: FoundChunk[]; moves: Moved[]; question: string; onOpen: (one: FoundChunk) => void };

function Side({ name, setting, onSetting, found, rows, moves, question, onOpen }: SideProps) {
  const t = useT("documents");
  return (
    <section aria-label={name} className="min-w-0 overflow-hidden rounded-lg border border-line bg-surface">
      <header className="flex flex-wrap items-center gap-x-3 gap-y-2 border-b border-line bg-sunken px-3 py-2">
        <h2 className="text-base font-semibold">{name}</h2>
        <Select small aria-label={`${name}: ${t("ranked_by")}`} className="[&_select]:max-md:h-10" value={setting.mode} onChange={(event) => onSetting({ ...setting, mode: MODES.find((one) => one === event.target.value) ?? "hybrid" })}>
          {MODES.map((one) => <option key={one} value={one}>{t(`mode_${one}`)}</option>)}
        </Select>
        {setting.mode === "hybrid" && (
          <label className="flex min-w-0 flex-1 max-md:basis-full items-center gap-2 text-xs whitespace-nowrap text-ink-2 tabular">
            <span className="sr-only">{name}: {t("weights")}</span>
            <input type="range" min={0} max={100} step={5} value={setting.meaning} aria-valuetext={t("weights_value", { words: 100 - setting.meaning, meaning: setting.meaning })} onChange={(event) => onSetting({ ...setting, meaning: Number(event.target.value) })} className="min-w-16 flex-1 accent-accent max-md:h-10" />
            {t("weight_meaning", { share: setting.meaning })}
          </label>
        )}
      </header>
      {question === "" ? null : found.error ? (
        <div className="p-3"><ErrorState inline error={found.error} onRetry={() => void found.refetch()} /></div>
      ) : !found.data ? (
        <Skeleton rows={8} className="p-3" />
      ) : rows.length === 0 ? (
        <EmptyState icon={<SearchX />} title={t("found_none")}>{t("found_none_text")}</EmptyState>
      ) : (
        <>
          {found.data.notice && <p className="border-b border-line bg-warn-soft px-3 py-1.5 text-sm text-warn wrap-anywhere">{t("words_only")} {found.data.notice}</p>}
          <ol className={cx("divide-y divide-line transition-opacity", found.isPlaceholderData && "opacity-60")}>
            {rows.map((one, index) => (
              <li key={`${one.document} ${one.chunk.index}`} data-move={moves[index]?.kind} className={cx("flex gap-3 px-3 py-2.5", moves[index]?.kind === "alone" && "bg-accent-soft/50")}>
                <span className="w-5 shrink-0 pt-0.5 text-right text-sm text-ink-3 tabular">{formatNumber(index + 1)}</span>
                <div className="min-w-0 flex-1">
                  <p className="flex flex-wrap items-baseline gap-x-2 text-sm text-ink-3">
                    <button type="button" className="max-w-full text-left text-base font-medium text-accent-ink wrap-anywhere hover:underline max-md:py-1" onClick={() => onOpen(one)}>{one.name}</button>
                    {one.chunk.first_page > 0 && <span className="tabular">{t("page", { pages: pagesOf(one.chunk.first_page, one.chunk.last_page) })}</span>}
                    <Move move={moves[index] ?? { kind: "same" }} />
                  </p>
                  {one.chunk.headings.length > 0 && <p className="truncate text-sm text-ink-2">{one.chunk.headings.join(" › ")}</p>}
                  <p className="mt-0.5 text-sm text-ink-2 wrap-anywhere"><Marked pieces={excerpt(marked(one.chunk.text, question), EXCERPT)} /></p>
                  <div className="mt-1 flex flex-wrap items-end justify-between gap-x-4"><FoundBy one={one} /><span className="text-sm text-ink-3">{t("joined")} <Score value={one.score} digits={3} /></span></div>
                </div>
              </li>
            ))}
          </ol>
          <p className="border-t border-line px-3 py-1.5 text-xs text-ink-3 tabular">{t("looked_into", { count: found.data.documents })} · {formatDuration(found.data.took_ms)}</p>
        </>
      )}
    </section>
  );
}

const looks = { same: { icon: Equal, className: "text-ink-3" }, up: { icon: ArrowUp, className: "text-ok" }, down: { icon: ArrowDown, className: "text-ink-2" }, alone: { icon: Sparkle, className: "text-accent-ink font-medium" } } as const;

/** How it stands compared with the other side. */
function Move({ move }: { move: Moved }) {
  const t = useT("documents");
  const { icon: Icon, className } = looks[move.kind];
  const text = move.kind === "up" || move.kind === "down" ? t(`moved_${move.kind}`, { count: move.places }) : t(`moved_${move.kind}`);
  return <span className={cx("inline-flex items-center gap-1 text-xs whitespace-nowrap tabular", className)}><Icon aria-hidden className="size-3" />{text}</span>;
}
