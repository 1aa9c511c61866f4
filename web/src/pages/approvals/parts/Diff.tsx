import { useT } from "@/i18n";
import { cx } from "@/ui";
import { diffCount, diffLines } from "./diff";

/** A unified diff with line numbers. */
export function Diff({ text }: { text: string }) {
  const t = useT("approvals");
  const lines = diffLines(text);
  const { added, removed } = diffCount(lines);
  const file = lines.filter((line) => line.kind === "file").at(-1)?.text.replace(/^b\//, "");
  return (
    <figure className="overflow-hidden rounded-lg border border-line bg-surface">
      <figcaption className="flex items-center gap-3 border-b border-line bg-sunken px-3 py-1.5 text-sm">
        <code className="min-w-0 flex-1 truncate font-mono">{file}</code>
        <span className="text-ok tabular" aria-label={t("lines_added", { count: added })}>+{added}</span>
        <span className="text-bad tabular" aria-label={t("lines_removed", { count: removed })}>−{removed}</span>
      </figcaption>
      <div tabIndex={0} role="region" aria-label={t("changes")} className="max-h-[26rem] overflow-auto font-mono text-sm leading-[1.55] focus-visible:outline-offset-[-2px]">
        <table className="w-full min-w-max border-collapse">
          <tbody>
            {lines.filter((line) => line.kind !== "file").map((line, index) => (
              <tr key={index} className={cx(line.kind === "add" && "bg-ok-soft", line.kind === "del" && "bg-bad-soft", line.kind === "hunk" && "bg-sunken text-ink-3")}>
                <td aria-hidden className="w-9 pr-1.5 text-right text-xs text-ink-3 select-none">{line.old ?? ""}</td>
                <td aria-hidden className="w-9 pr-2.5 text-right text-xs text-ink-3 select-none">{line.now ?? ""}</td>
                <td className="w-4 text-ink-3 select-none">{line.kind === "add" ? "+" : line.kind === "del" ? "−" : ""}</td>
                <td className="pr-4 whitespace-pre">{line.text || " "}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </figure>
  );
}
