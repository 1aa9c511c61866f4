import { FolderOpen, FolderPlus, MessageSquare } from "lucide-react";
import { useMe, useSample, useStart } from "@/api/hooks";
import { useLanguage, useT } from "@/i18n";
import { Button, cx } from "@/ui";

/** An empty conversation: what can be asked here, and a sample to ask about where nothing is. */
export function Welcome({ onExample }: { onExample: (text: string) => void }) {
  const t = useT("chat");
  const { data: me } = useMe();
  const { data: start } = useStart(useLanguage());
  const sample = useSample();
  const name = me?.name?.split(" ")[0];
  const mayChange = me && me.role !== "viewer";
  return (
    <div className="mx-auto flex w-full max-w-[46rem] flex-col px-5 pt-[max(2rem,14vh)] pb-8">
      <h2 className="text-2xl font-semibold tracking-tight">{name ? t("welcomeName", { name }) : t("welcome")}</h2>
      <p className="mt-1.5 max-w-prose text-base text-ink-2">{t("welcomeLead")}</p>
      {start?.empty && mayChange ? (
        <div className="mt-7 flex flex-wrap items-center gap-3 rounded-lg border border-line bg-surface px-3.5 py-3">
          <FolderOpen aria-hidden className="size-4 shrink-0 text-accent-ink" />
          <p className="min-w-0 flex-1 text-base">{t("emptyWorkspace")}</p>
          <Button size="sm" disabled={sample.isPending} onClick={() => sample.mutate("add")}><FolderPlus aria-hidden className="size-4" />{t("addSample")}</Button>
        </div>
      ) : null}
      <ul className="mt-7 grid gap-2 sm:grid-cols-2">
        {start?.tries.map((text) => (
          <li key={text}>
            <button type="button" onClick={() => onExample(text)} className={cx("flex h-full w-full items-start gap-3 rounded-lg border border-line bg-surface px-3.5 py-3 text-left transition-colors hover:border-line-2 hover:bg-hover")}>
              <MessageSquare aria-hidden className="mt-0.5 size-4 shrink-0 text-accent-ink" />
              <span className="block min-w-0 text-base">{text}</span>
            </button>
          </li>
        ))}
      </ul>
      {start?.sample && mayChange ? (
        <p className="mt-4 text-sm text-ink-3">{t("sampleHere")} <button type="button" className="underline" disabled={sample.isPending} onClick={() => sample.mutate("remove")}>{t("removeSample")}</button></p>
      ) : null}
    </div>
  );
}
