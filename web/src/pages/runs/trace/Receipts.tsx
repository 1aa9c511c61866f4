import { BadgeCheck, CircleHelp } from "lucide-react";
import { useT } from "@/i18n";
import { Badge, Card, cx, VerdictBadge } from "@/ui";
import { pieces } from "./bytes";
import type { Trace } from "./nodes";

type Props = { trace: Trace; ended: boolean; onShow: (key: string) => void };

/** What the answer claims, and the tool result that proves it or what is missing. */
export function ReceiptsPanel({ trace, ended, onShow }: Props) {
  const t = useT("runs");
  const { finish } = trace;
  if (!ended || !finish) return <p className="text-base text-ink-3">{t("receipts_pending")}</p>;
  const { receipts } = finish;
  if (!receipts) return <p className="text-base text-ink-3">{t("receipts_old")}</p>;
  const claims = receipts.claims ?? [];
  const proven = (index: number | null) => index !== null && (claims[index]?.calls?.length ?? 0) > 0;
  return (
    <div className="flex max-w-3xl flex-col gap-4">
      <p className="flex flex-wrap items-center gap-3 text-base"><VerdictBadge verdict={receipts.verdict} /><span className="min-w-0">{t(`receipts_${receipts.verdict}`)}</span></p>
      {finish.answer && (
        <Card title={t("answer")}>
          <p className="text-[0.9375rem] leading-relaxed whitespace-pre-wrap wrap-anywhere">
            {pieces(finish.answer, claims).map((piece, index) =>
              piece.claim === null ? (
                piece.text
              ) : (
                <mark key={index} className={cx("rounded-[3px] px-0.5 text-ink underline decoration-2 underline-offset-4", proven(piece.claim) ? "bg-ok-soft decoration-ok" : "bg-warn-soft decoration-warn-line")}>
                  {piece.text}
                  <sup className="ml-0.5 text-2xs font-semibold no-underline">{piece.claim + 1}</sup>
                </mark>
              ),
            )}
          </p>
        </Card>
      )}
      <ol className="flex flex-col gap-2">
        {claims.map((claim, index) => (
          <li key={index} className="flex gap-3 rounded-lg border border-line bg-surface px-4 py-3">
            {proven(index) ? <BadgeCheck aria-hidden className="mt-0.5 size-4.5 shrink-0 text-ok" /> : <CircleHelp aria-hidden className="mt-0.5 size-4.5 shrink-0 text-warn" />}
            <div className="min-w-0 flex-1">
              <p className="flex flex-wrap items-baseline gap-2 text-xs text-ink-3">{t("claim", { n: index + 1 })}<Badge tone={proven(index) ? "ok" : "warn"}>{proven(index) ? t("proven") : t("not_proven")}</Badge></p>
              <blockquote className="mt-0.5 text-base font-medium wrap-anywhere">“{claim.text}”</blockquote>
              <p className="text-sm text-ink-2 wrap-anywhere">{claim.why}</p>
              {claim.calls?.map((id) => {
                const call = trace.calls.get(id);
                const receipt = call?.result?.outcome === "ok" ? call.result.receipt : undefined;
                return (
                  <p key={id} className="mt-1.5 flex flex-wrap items-center gap-x-2 text-sm">
                    <button type="button" onClick={() => onShow(`call-${id}`)} className="font-medium text-accent-ink hover:underline">{t("show_step")}: <code className="font-mono">{call?.tool ?? id}</code></button>
                    {receipt && <span className="min-w-0 text-ink-2 wrap-anywhere">{receipt.action} {receipt.object}{receipt.evidence && <code className="ml-1.5 font-mono text-xs text-ink-3">{receipt.evidence.slice(0, 28)}</code>}</span>}
                  </p>
                );
              })}
            </div>
          </li>
        ))}
      </ol>
    </div>
  );
}
