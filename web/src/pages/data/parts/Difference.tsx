import type { FieldDifference } from "@/api/types";
import { cellText } from "@/answer/cell";
import { useT } from "@/i18n";

const Value = ({ value, kind, gone }: { value: unknown; kind: string; gone?: boolean }) => {
  const t = useT("data");
  const text = cellText(value, kind, null, { yes: t("yes"), no: t("no") });
  if (text === "") return <span className="text-ink-3">{t("nothing")}</span>;
  return gone ? <del className="text-bad no-underline">{text}</del> : <ins className="text-ok no-underline">{text}</ins>;
};

/** What a change does, field by field. */
export function Difference({ items, caption }: { items: readonly FieldDifference[]; caption: string }) {
  const t = useT("data");
  if (items.length === 0) return <p className="text-base text-ink-2">{t("no_difference")}</p>;
  return (
    <div className="overflow-x-auto rounded-md border border-line">
      <table className="w-full border-collapse text-base tabular">
        <caption className="sr-only">{caption}</caption>
        <thead><tr className="border-b border-line text-left text-xs text-ink-3">{(["field", "before", "after"] as const).map((name) => <th key={name} scope="col" className="px-3 py-1.5 font-medium">{t(name)}</th>)}</tr></thead>
        <tbody>
          {items.map((one) => (
            <tr key={one.field} className="border-b border-line last:border-0">
              <th scope="row" className="px-3 py-1.5 text-left align-top font-mono text-sm font-normal">{one.field}</th>
              <td className="px-3 py-1.5 align-top whitespace-pre-wrap wrap-anywhere"><Value value={one.before} kind={one.kind} gone /></td>
              <td className="px-3 py-1.5 align-top whitespace-pre-wrap wrap-anywhere"><Value value={one.after} kind={one.kind} /></td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
