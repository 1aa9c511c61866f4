import type { NewSecondFactor } from "@/api/types";
import { useT } from "@/i18n";
import { CopyButton } from "@/ui";

/** What an app is set up with, this once. */
export function AppSecret({ made }: { made: NewSecondFactor }) {
  const t = useT("auth");
  const spaced = made.secret.replace(/(.{4})/g, "$1 ").trim();
  return (
    <div className="flex flex-col gap-2 text-base text-ink-2">
      <p>{t("factor.secret")}</p>
      <p className="flex items-center gap-2"><code className="rounded-md border border-line bg-sunken px-3 py-2 font-mono text-sm select-all wrap-anywhere">{spaced}</code><CopyButton text={made.secret} label={t("factor.copy")} /></p>
      <p className="text-sm"><a href={made.uri} className="text-accent-ink hover:underline">{t("factor.open")}</a></p>
    </div>
  );
}

/** Shown this once. */
export function RecoveryCodes({ codes }: { codes: string[] }) {
  const t = useT("auth");
  return (
    <div className="flex flex-col gap-3">
      <p className="text-base text-ink-2">{t("codes.text")}</p>
      <ul aria-label={t("codes.label")} className="grid grid-cols-1 gap-1 rounded-md border border-line bg-sunken px-3 py-2.5 font-mono text-sm sm:grid-cols-2">{codes.map((code) => <li key={code} className="select-all">{code}</li>)}</ul>
      <CopyButton text={codes.join("\n")} label={t("codes.copy")} />
    </div>
  );
}
