import { ChevronLeft, ChevronRight, ZoomIn, ZoomOut } from "lucide-react";
import { useEffect, useState } from "react";
import { useT } from "@/i18n";
import { formatNumber, IconButton, Input } from "@/ui";

/** Of the width that there is. */
export const ZOOMS = [0.5, 0.75, 1, 1.5, 2, 3] as const;

type Props = { page: number; pages: number; zoom: number; onPage: (page: number) => void; onZoom: (zoom: number) => void };

/** Turns pages and makes them larger. */
export function Toolbar({ page, pages, zoom, onPage, onZoom }: Props) {
  const t = useT("documents");
  const [typed, setTyped] = useState(String(page));
  useEffect(() => setTyped(String(page)), [page]);
  const go = () => {
    const wanted = Number(typed);
    if (Number.isInteger(wanted) && wanted >= 1) onPage(Math.min(wanted, pages));
    setTyped(String(page));
  };
  const at = ZOOMS.findIndex((one) => one >= zoom);
  return (
    <div role="toolbar" aria-label={t("page_tools")} className="flex flex-wrap items-center gap-1">
      {pages > 1 && (
        <>
          <IconButton size="sm" label={t("page_before")} keys="PageUp" disabled={page <= 1} onClick={() => onPage(page - 1)}><ChevronLeft /></IconButton>
          <form className="flex items-center gap-1.5 text-sm text-ink-2 tabular" onSubmit={(event) => (event.preventDefault(), go())}>
            <Input aria-label={t("page_number")} inputMode="numeric" autoComplete="off" className="h-7! w-13! px-1.5! text-center" value={typed} onChange={(event) => setTyped(event.target.value)} onBlur={go} />
            <span className="whitespace-nowrap">{t("page_of", { of: formatNumber(pages) })}</span>
          </form>
          <IconButton size="sm" label={t("page_after")} keys="PageDown" disabled={page >= pages} onClick={() => onPage(page + 1)}><ChevronRight /></IconButton>
        </>
      )}
      <span className="flex-1" />
      <IconButton size="sm" label={t("zoom_out")} keys="-" disabled={at <= 0} onClick={() => onZoom(ZOOMS[at - 1] ?? zoom)}><ZoomOut /></IconButton>
      <span className="w-11 text-center text-sm text-ink-2 tabular" aria-live="polite">{Math.round(zoom * 100)} %</span>
      <IconButton size="sm" label={t("zoom_in")} keys="+" disabled={at >= ZOOMS.length - 1} onClick={() => onZoom(ZOOMS[at + 1] ?? zoom)}><ZoomIn /></IconButton>
    </div>
  );
}
