import type { ReactNode } from "react";
import { useT } from "@/i18n";
import { useTitle } from "@/ui";
import { Logo } from "@/frame/logo";

/** The frame of the pages before login. */
export function Gate({ title, lead, children }: { title: string; lead?: ReactNode; children: ReactNode }) {
  const t = useT("auth");
  useTitle(title);
  return (
    <main className="flex h-full flex-col items-center overflow-y-auto px-5 py-10">
      <div className="my-auto w-full max-w-sm">
        <div className="mb-7 flex items-center gap-3">
          <Logo className="size-9" />
          <div>
            <p className="text-lg leading-tight font-semibold">Steward</p>
            <p className="text-sm text-ink-3">{t("lead")}</p>
          </div>
        </div>
        <section className="rounded-xl border border-line bg-surface p-6 shadow-1">
          <h1 className="mb-4 text-xl font-semibold">{title}</h1>
          {lead && <div className="-mt-3 mb-5 text-base text-ink-2">{lead}</div>}
          {children}
        </section>
      </div>
    </main>
  );
}
