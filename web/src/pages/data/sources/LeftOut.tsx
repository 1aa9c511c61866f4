import { useT } from "@/i18n";

/** What of a datasource can't be asked, each with the server's reason. */
export function LeftOut({ files }: { files: readonly string[] }) {
  const t = useT("data");
  if (files.length === 0) return null;
  return (
    <section aria-label={t("left_out", { count: files.length })} className="my-2 rounded-lg border border-warn-line/40 bg-warn-soft px-3 py-2">
      <p className="text-base text-warn">{t("left_out", { count: files.length })}</p>
      <ul className="mt-1 flex list-disc flex-col gap-0.5 pl-5 text-sm text-ink-2">
        {files.map((file) => <li key={file} className="wrap-anywhere">{file}</li>)}
      </ul>
    </section>
  );
}
