import { useQueryClient } from "@tanstack/react-query";
import { setSession } from "@/api/client";
import { useT } from "@/i18n";
import type { Me } from "@/api/types";
import { Button, Dialog } from "@/ui";
import { LoginForm } from "./form";
import { useAuthState } from "./state";

/** Over the page when the session has ended; calls wait for it (api/client.ts). */
export function ExpiredDialog() {
  const t = useT("auth");
  const state = useAuthState();
  const me = useQueryClient().getQueryData<Me>(["me"]);
  return (
    <Dialog locked open={state === "expired"} onOpenChange={() => {}} title={t("expired")} description={t("expiredLead")} footer={<Button size="sm" variant="quiet" onClick={() => setSession(null)}>{t("otherAccount")}</Button>}>
      <div className="py-2"><LoginForm {...(me && { email: me.email })} /></div>
    </Dialog>
  );
}
