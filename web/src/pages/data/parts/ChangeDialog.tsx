import { CircleCheck, Undo2 } from "lucide-react";
import type { ChangeInfo } from "@/api/types";
import { useT } from "@/i18n";
import { Button, cx, Dialog, ErrorState, useArmed } from "@/ui";
import { Difference } from "./Difference";
import type { Changing } from "./useChange";

/** Where a change stands: what it does and the way to confirm it, then what became of it. `onLook` reads the record again; what was typed stays. */
export function ChangeDialog({ changing, onLook }: { changing: Changing; onLook?: () => void }) {
  const { info } = changing;
  return info && <Shown changing={changing} info={info} {...(onLook && { onLook })} />;
}

function Shown({ changing, info, onLook }: { changing: Changing; info: ChangeInfo; onLook?: () => void }) {
  const t = useT("data");
  const { change, difference, undoable } = info;
  const armed = useArmed(change.id);
  const { state } = change;
  const verb = change.change.change;
  const dangerous = verb === "delete";
  const failed = state === "failed";
  return (
    <Dialog
      open
      wide
      locked={state === "proposed" && !changing.error}
      onOpenChange={changing.close}
      title={t(state === "proposed" ? `confirm_${verb}` : `state_title_${state}`, { domain: change.domain })}
      description={t(state === "proposed" ? "confirm_text" : `state_text_${state}`)}
      footer={
        state === "proposed" ? (
          <>
            <Button disabled={changing.busy !== null} loading={changing.busy === "discard"} onClick={changing.discard}>{t("discard")}</Button>
            <Button variant={dangerous ? "danger" : "primary"} disabled={!armed || changing.busy !== null} loading={changing.busy === "confirm"} onClick={changing.confirm}>{t("confirm")}</Button>
          </>
        ) : (
          <>
            {state === "done" && undoable && <Button icon={<Undo2 aria-hidden className="size-4" />} loading={changing.busy === "undo"} onClick={changing.undo}>{t("undo")}</Button>}
            {failed && onLook && <Button variant="primary" onClick={() => (changing.close(), onLook())}>{t("look_again")}</Button>}
            <Button {...(!failed && { variant: "primary" as const })} onClick={changing.close}>{t("close")}</Button>
          </>
        )
      }
    >
      <div className="flex flex-col gap-3 pb-1">
        {changing.error ? <ErrorState inline error={changing.error} /> : null}
        {change.outcome && <p role="status" className={cx("flex items-start gap-2 rounded-md px-3 py-2 text-base wrap-anywhere", failed ? "bg-bad-soft" : "bg-ok-soft")}>{!failed && <CircleCheck aria-hidden className="mt-0.5 size-4 shrink-0 text-ok" />}{change.outcome}</p>}
        <Difference items={difference} caption={t("difference_of", { domain: change.domain })} />
      </div>
    </Dialog>
  );
}
