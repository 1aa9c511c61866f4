import { RotateCcw, TriangleAlert } from "lucide-react";
import type { Preview } from "@/api/types";
import { useT } from "@/i18n";
import { DiffView, isDiff, JsonView } from "@/ui";

/** What a call would change: its blast radius. */
export function PreviewView({ preview, bare }: { preview: Preview; bare?: boolean }) {
  const t = useT("chat");
  return (
    <div className="flex flex-col gap-2">
      {!bare && <p className="text-base wrap-anywhere">{preview.summary}</p>}
      {preview.detail && (isDiff(preview.detail) ? <DiffView diff={preview.detail} /> : <JsonView value={preview.detail} />)}
      <p className="flex flex-wrap items-center gap-x-4 gap-y-1 text-xs text-ink-2">
        {typeof preview.count === "number" && <span className="tabular">{t("touches", { count: preview.count })}</span>}
        <span className="inline-flex items-center gap-1.5">
          {preview.reversible ? <RotateCcw aria-hidden className="size-3.5 text-ok" /> : <TriangleAlert aria-hidden className="size-3.5 text-bad" />}
          {t(preview.reversible ? "reversible" : "irreversible")}
        </span>
      </p>
    </div>
  );
}
