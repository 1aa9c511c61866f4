import { Database, FileSearch, FilePen, NotebookPen } from "lucide-react";
import { useMe } from "@/api/hooks";
import { useT } from "@/i18n";
import { cx } from "@/ui";

const examples = [
  { icon: FileSearch, key: "example.files" },
  { icon: Database, key: "example.data" },
  { icon: FilePen, key: "example.write" },
  { icon: NotebookPen, key: "example.note" },
] as const;

/** An empty conversation: what can be asked here. */
export function Welcome({ onExample }: { onExample: (text: string) => void }) {
  const t = useT("chat");
  const { data: me } = useMe();
  const name = me?.name?.split(" ")[0];
  return (
    <div className="mx-auto flex w-full max-w-[46rem] flex-col px-5 pt-[max(2rem,14vh)] pb-8">
      <h2 className="text-2xl font-semibold tracking-tight">{name ? t("welcomeName", { name }) : t("welcome")}</h2>
      <p className="mt-1.5 max-w-prose text-base text-ink-2">{t("welcomeLead")}</p>
      <ul className="mt-7 grid gap-2 sm:grid-cols-2">
        {examples.map((example) => (
          <li key={example.key}>
            <button type="button" onClick={() => onExample(t(example.key))} className={cx("flex h-full w-full items-start gap-3 rounded-lg border border-line bg-surface px-3.5 py-3 text-left transition-colors hover:border-line-2 hover:bg-hover")}>
              <example.icon aria-hidden className="mt-0.5 size-4 shrink-0 text-accent-ink" />
              <span><span className="block text-base">{t(example.key)}</span><span className="mt-0.5 block text-xs text-ink-3">{t(`${example.key}Why`)}</span></span>
            </button>
          </li>
        ))}
      </ul>
    </div>
  );
}
