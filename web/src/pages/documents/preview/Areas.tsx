import { useEffect, useRef } from "react";
import type { Chunk } from "@/api/types";
import { useT } from "@/i18n";
import { cx, formatNumber } from "@/ui";
import { boxesOn } from "./areas";

type Props = { chunks: readonly Chunk[]; page: number; chosen: number | null; onChoose: (index: number) => void; /** Changes when the page below has come to rest. */ rest: unknown };

/** The passages of a page, drawn over it; each can be chosen. */
export function Areas({ chunks, page, chosen, onChoose, rest }: Props) {
  const t = useT("documents");
  const here = useRef<HTMLButtonElement>(null);
  useEffect(() => {
    here.current?.scrollIntoView({ block: "center", inline: "nearest" });
  }, [chosen, page, rest, chunks]);
  return (
    <div className="absolute inset-0" role="group" aria-label={t("areas")}>
      {chunks.flatMap((chunk) =>
        boxesOn(chunk, page).map((box, index) => {
          const is = chunk.index === chosen;
          return (
            <button
              key={`${chunk.index}-${index}`}
              ref={is && index === 0 ? here : undefined}
              type="button"
              data-area={chunk.index}
              aria-label={t("passage", { n: formatNumber(chunk.index + 1) })}
              aria-pressed={is}
              // One stop for each passage, however many parts it has.
              {...(index > 0 && { tabIndex: -1, "aria-hidden": true })}
              onClick={() => onChoose(chunk.index)}
              className={cx("preview-area absolute rounded-xs", is && "preview-area-chosen")}
              style={{ left: `${box.x * 100}%`, top: `${box.y * 100}%`, width: `${box.width * 100}%`, height: `${box.height * 100}%` }}
            />
          );
        }),
      )}
    </div>
  );
}
