import type { FoundChunk } from "@/api/types";
import { currentLanguage, useT } from "@/i18n";
import { formatNumber } from "@/ui";

/** A score with as many digits as tell one from the next. */
export const Score = ({ value, digits }: { value: number; digits: number }) => <span className="text-sm tabular">{new Intl.NumberFormat(currentLanguage(), { maximumSignificantDigits: digits, minimumSignificantDigits: digits }).format(value)}</span>;

/** Which place each ranking gives it, and by what. */
export function FoundBy({ one }: { one: FoundChunk }) {
  const t = useT("documents");
  const lines = [
    { key: "words", rank: one.text_rank, score: one.text_score },
    { key: "meaning", rank: one.vector_rank, score: one.vector_score },
  ] as const;
  return (
    <ul className="text-sm whitespace-nowrap text-ink-2 tabular">
      {lines.map(({ key, rank, score }) => (
        <li key={key}>
          {rank === undefined ? <span className="text-ink-3">{t(`by_${key}_not`)}</span> : t(`by_${key}`, { place: formatNumber(rank) })}
          {score !== undefined && <span className="text-ink-3" title={t(`score_${key}`)}> · <Score value={score} digits={3} /></span>}
        </li>
      ))}
      {one.exact && one.exact.length > 0 && <li className="whitespace-normal wrap-anywhere" title={t("by_exact_why")}>{t("by_exact", { words: one.exact.join(", ") })}</li>}
    </ul>
  );
}
