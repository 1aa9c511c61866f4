import { Check, Copy } from "lucide-react";
import { useState } from "react";
import type { InvitedUser } from "@/api/types";
import { useT } from "@/i18n";
import { Button, copyText, Dialog, formatExact, toast } from "@/ui";
import { invitationLink } from "./link";

/** The link of an invitation: this once. */
export function InvitationLink({ invited, onDone }: { invited: InvitedUser; onDone: () => void }) {
  const t = useT("users");
  const [copied, setCopied] = useState(false);
  const { user, invitation } = invited;
  const link = invitation.token === null ? null : invitationLink(window.location.origin, invitation.token, user.email);
  const copy = async () => {
    if (link && (await copyText(link))) setCopied(true);
    else toast({ title: t("copy_failed"), tone: "bad" });
  };
  return (
    <Dialog
      open
      locked
      onOpenChange={onDone}
      title={t("link_title", { email: user.email })}
      description={link === null ? t("link_gone") : t("link_once", { time: formatExact(invitation.expires_at) })}
      footer={<>{link !== null && <Button autoFocus icon={copied ? <Check aria-hidden className="size-4 text-ok" /> : <Copy aria-hidden className="size-4" />} onClick={() => void copy()}>{t(copied ? "copied" : "copy_link")}</Button>}<Button variant="primary" onClick={onDone}>{t("done")}</Button></>}
    >
      {link !== null && <code data-link className="block rounded-md border border-line bg-sunken px-3 py-2.5 font-mono text-sm select-all wrap-anywhere">{link}</code>}
    </Dialog>
  );
}
