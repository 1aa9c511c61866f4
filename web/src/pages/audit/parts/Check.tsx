import { ShieldAlert, ShieldCheck } from "lucide-react";
import { useState } from "react";
import { useAuditActions } from "@/api/hooks";
import type { AuditReport } from "@/api/types";
import { useT } from "@/i18n";
import { Button, CopyButton, Dialog, ErrorState, formatNumber, Meter } from "@/ui";

/** Goes along the whole chain and says whether anything was changed. */
export function Check() {
  const t = useT("audit");
  const { verify } = useAuditActions();
  const [open, setOpen] = useState(false);
  const [done, setDone] = useState({ checked: 0, total: 0 });
  const start = () => {
    setOpen(true);
    setDone({ checked: 0, total: 0 });
    verify.mutate(setDone);
  };
  return (
    <>
      <Button size="sm" icon={<ShieldCheck aria-hidden className="size-3.5" />} onClick={start}>{t("verify")}</Button>
      <Dialog open={open} onOpenChange={setOpen} title={t("verify_title")} footer={<Button onClick={() => setOpen(false)}>{t("close")}</Button>}>
        <div aria-live="polite" className="pb-2">
          {verify.isPending && <Meter parts={[{ share: done.total > 0 ? done.checked / done.total : 0, tone: "accent" }]} label={t("verify_title")} text={t("verifying", { checked: formatNumber(done.checked), total: formatNumber(done.total) })} />}
          {verify.error && <ErrorState inline error={verify.error} onRetry={start} />}
          {verify.data && !verify.isPending && <Report report={verify.data} />}
        </div>
      </Dialog>
    </>
  );
}

function Report({ report }: { report: AuditReport }) {
  const t = useT("audit");
  const { broken, checked, head, anchor } = report;
  if (broken) {
    return (
      <div className="flex gap-3">
        <ShieldAlert aria-hidden className="size-5 shrink-0 text-bad" />
        <div>
          <p className="font-medium">{t("broken", { seq: broken.seq })}</p>
          <p className="mt-1 text-ink-2">{t(`broken_${broken.kind}`)}</p>
          <p className="mt-1 font-mono text-xs text-ink-3">{broken.message}</p>
          <p className="mt-2 text-sm text-ink-3">{t("checked", { count: checked, n: formatNumber(checked) })}</p>
        </div>
      </div>
    );
  }
  return (
    <div className="flex gap-3">
      <ShieldCheck aria-hidden className="size-5 shrink-0 text-ok" />
      <div className="min-w-0">
        <p className="font-medium">{t("whole")}</p>
        <p className="mt-1 text-ink-2">{t("checked", { count: checked, n: formatNumber(checked) })}</p>
        {anchor.seq > 0 && <p className="mt-1 text-sm text-ink-3">{t("anchored", { seq: anchor.seq })}</p>}
        {head.seq > 0 && (
          <div className="mt-3">
            <p className="flex items-center gap-2 text-sm font-medium">{t("head", { seq: head.seq })}<CopyButton text={`${head.seq}:${head.hash}`} label={t("copy_hash")} /></p>
            <p className="font-mono text-xs wrap-anywhere text-ink-2">{head.hash}</p>
            <p className="mt-1 text-sm text-ink-3">{t("head_hint")}</p>
          </div>
        )}
      </div>
    </div>
  );
}
