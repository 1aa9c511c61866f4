import { PlugZap } from "lucide-react";
import { useState } from "react";
import { useTrial } from "@/api/hooks";
import type { TriedLogin } from "@/api/types";
import { useT } from "@/i18n";
import { Button, ErrorState } from "@/ui";

/** Tries what is typed in, saved or not, and says what was found. */
export function Trial({ run }: { run: (trial: ReturnType<typeof useTrial>) => Promise<TriedLogin | null> }) {
  const t = useT("settings");
  const trial = useTrial();
  const [found, setFound] = useState<TriedLogin | null>(null);
  const go = async () => {
    setFound(null);
    setFound(await run(trial));
  };
  return (
    <div className="flex flex-col gap-2">
      <div><Button type="button" icon={<PlugZap aria-hidden className="size-4" />} loading={trial.busy} onClick={() => void go()}>{t("sso_try")}</Button></div>
      {trial.error !== null && <ErrorState inline error={trial.error} />}
      {found && (
        <div role="status" className={`rounded-md px-3 py-2 text-sm ${found.works ? "bg-ok-soft text-ok" : "bg-bad-soft text-bad"}`}>
          <p className="font-medium">{t(found.works ? "sso_try_works" : "sso_try_fails")}</p>
          <ul>{found.found.map((line) => <li key={line} className="wrap-anywhere">{line}</li>)}</ul>
        </div>
      )}
    </div>
  );
}
