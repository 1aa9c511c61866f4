import { useEffect, useRef, useState } from "react";
import { useCollectionActions } from "@/api/hooks";
import type { Collection } from "@/api/types";
import { useT } from "@/i18n";
import { Button, Checkbox, Dialog, ErrorState, Field, formatNumber, formatRange, Input, Meter, toast } from "@/ui";
import { LENGTH, overlapMost, problemsOf, shareOf, weightsOf } from "./tuning-form";

/** How a collection's documents are cut, and how what is found is ranked. */
export function Tuning({ collection, onClose }: { collection: Collection; onClose: () => void }) {
  const t = useT("documents");
  const { update, reread } = useCollectionActions();
  const [length, setLength] = useState(String(collection.chunking.max_chars));
  const [overlap, setOverlap] = useState(String(collection.chunking.overlap));
  const [meaning, setMeaning] = useState(shareOf(collection.weights));
  const [exact, setExact] = useState(collection.weights.exact_first);
  const [apply, setApply] = useState(false);
  const [tried, setTried] = useState(false);
  const [progress, setProgress] = useState<[done: number, of: number] | null>(null);
  const stop = useRef(new AbortController());
  useEffect(() => () => stop.current.abort(), []);
  const wrong = problemsOf(length, overlap);
  const cut = { max_chars: Number(length), overlap: Number(overlap) };
  const cutChanged = cut.max_chars !== collection.chunking.max_chars || cut.overlap !== collection.chunking.overlap;
  const busy = update.isPending || reread.isPending;
  const save = async () => {
    setTried(true);
    if (wrong.length || wrong.overlap) return void setTimeout(() => document.querySelector<HTMLElement>("[role=dialog] [aria-invalid]")?.focus());
    try {
      const weighed = meaning !== shareOf(collection.weights) || exact !== collection.weights.exact_first;
      if (cutChanged || weighed) await update.mutateAsync({ id: collection.id, ...(cutChanged && { chunking: cut }), ...(weighed && { weights: { ...weightsOf(meaning), exact_first: exact } }) });
      if (apply) {
        stop.current = new AbortController();
        const count = await reread.mutateAsync({ collection: collection.id, onProgress: (done, of) => setProgress([done, of]), signal: stop.current.signal });
        toast({ title: t("rereading", { count }) });
      } else toast({ title: t("saved") });
      onClose();
    } catch {
      // Shown below.
    }
  };
  const error = update.error ?? reread.error;
  return (
    <Dialog open onOpenChange={onClose} title={t("tuning_title", { name: collection.name })} footer={<><Button onClick={onClose}>{t("cancel")}</Button><Button variant="primary" loading={busy} onClick={() => void save()}>{t("save")}</Button></>}>
      <form noValidate className="flex flex-col gap-5 pb-1" onSubmit={(event) => (event.preventDefault(), void save())}>
        {error && !busy && <ErrorState inline error={error} />}
        <fieldset className="flex flex-col gap-3">
          <legend className="text-base font-semibold">{t("cutting")}</legend>
          <p className="text-sm text-ink-2">{t("cutting_text")}</p>
          <div className="grid grid-cols-2 gap-3">
            <Field label={t("chunk_length")} hint={t("chunk_length_hint")} error={tried && wrong.length ? t("chunk_length_wrong", formatRange(LENGTH)) : null}>{(p) => <Input {...p} type="number" inputMode="numeric" min={LENGTH.least} max={LENGTH.most} step={100} value={length} onChange={(event) => setLength(event.target.value)} />}</Field>
            <Field label={t("chunk_overlap")} hint={t("chunk_overlap_hint")} error={tried && wrong.overlap ? t("chunk_overlap_wrong", { most: formatNumber(overlapMost(length)) }) : null}>{(p) => <Input {...p} type="number" inputMode="numeric" min={0} max={overlapMost(length)} step={50} value={overlap} onChange={(event) => setOverlap(event.target.value)} />}</Field>
          </div>
          {collection.documents > 0 && <Checkbox label={t("apply", { count: collection.documents })} hint={t("apply_hint")} checked={apply} onChange={setApply} disabled={busy} />}
        </fieldset>
        <fieldset className="flex flex-col gap-3">
          <legend className="text-base font-semibold">{t("weighing")}</legend>
          <p className="text-sm text-ink-2">{t("weighing_text")}</p>
          <Field label={t("weights")} hint={t("weights_hint")}>
            {(p) => (
              <>
                <input {...p} type="range" min={0} max={100} step={5} value={meaning} aria-valuetext={t("weights_value", { words: 100 - meaning, meaning })} onChange={(event) => setMeaning(Number(event.target.value))} className="w-full accent-accent" />
                <output htmlFor={p.id} className="flex justify-between text-sm text-ink-2 tabular"><span>{t("weight_words", { share: 100 - meaning })}</span><span>{t("weight_meaning", { share: meaning })}</span></output>
              </>
            )}
          </Field>
          <Checkbox label={t("exact_first")} hint={t("exact_first_hint")} checked={exact} onChange={setExact} disabled={busy} />
        </fieldset>
        {progress && busy && (
          <div role="status" className="flex items-center gap-3 text-sm text-ink-3 tabular">
            <Meter label={t("reread_progress")} text={`${progress[0]} / ${progress[1]}`} parts={[{ share: progress[1] ? progress[0] / progress[1] : 1, tone: "accent" }]} />
            {formatNumber(progress[0])}/{formatNumber(progress[1])}
          </div>
        )}
        <button type="submit" hidden tabIndex={-1} aria-hidden />
      </form>
    </Dialog>
  );
}
