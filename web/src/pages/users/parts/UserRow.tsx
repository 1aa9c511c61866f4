import { Ban, Ellipsis, Eraser, Link2, LockKeyhole, LogOut, Pencil, ShieldOff, Trash2, UserCheck } from "lucide-react";
import type { User } from "@/api/types";
import { useT } from "@/i18n";
import { Badge, formatExact, IconButton, Menu, MenuItem, MenuSeparator, Time } from "@/ui";

type Props = { user: User; mine: boolean; onEdit: () => void; onAccess: () => void; onLink: () => void; onEndSessions: () => void; onResetFactor: () => void; onDisable: (disabled: boolean) => void; onRemove: () => void; onErase: () => void };

export function UserRow(props: Props) {
  const t = useT("users");
  const { user, mine } = props;
  return (
    <li className="flex items-start gap-3 px-4 py-3">
      <div className="min-w-0 flex-1">
        <h2 className="flex flex-wrap items-center gap-2 text-base font-semibold">
          <span className="wrap-anywhere">{user.name}</span>
          <Badge>{t(`role_${user.role}`)}</Badge>
          {user.state !== "active" && <Badge tone={user.state === "invited" ? "accent" : "bad"}>{t(`state_${user.state}`)}</Badge>}
          {mine && <Badge tone="accent">{t("you")}</Badge>}
        </h2>
        <p className="text-sm text-ink-2 wrap-anywhere">{user.email}</p>
        <p className="text-sm text-ink-3">{user.built_in ? t("built_in") : <Since user={user} />}</p>
      </div>
      {!user.built_in && <UserMenu {...props} />}
    </li>
  );
}

function Since({ user }: { user: User }) {
  const t = useT("users");
  if (user.disabled_at !== null) return <>{t("disabled_since")} <Time relative at={user.disabled_at} /></>;
  if (user.state === "invited" && user.invitation_expires_at !== null) {
    return <>{user.invitation_expires_at <= Date.now() ? t("link_expired") : t("link_until", { time: formatExact(user.invitation_expires_at) })}</>;
  }
  return user.last_login_at === null ? <>{t("never_logged_in")}</> : <>{t("last_login")} <Time relative at={user.last_login_at} /></>;
}

function UserMenu({ user, mine, onEdit, onAccess, onLink, onEndSessions, onResetFactor, onDisable, onRemove, onErase }: Props) {
  const t = useT("users");
  const disabled = user.state === "disabled";
  return (
    <Menu trigger={<IconButton size="sm" label={t("actions", { email: user.email })}><Ellipsis /></IconButton>}>
      <MenuItem icon={<Pencil />} onSelect={onEdit}>{t("edit")}</MenuItem>
      <MenuItem icon={<LockKeyhole />} onSelect={onAccess}>{t("access")}</MenuItem>
      {!disabled && <MenuItem icon={<Link2 />} hint={user.state === "active" ? t("new_link_hint") : undefined} onSelect={onLink}>{t("new_link")}</MenuItem>}
      {user.state === "active" && <MenuItem icon={<LogOut />} onSelect={onEndSessions}>{t("end_sessions")}</MenuItem>}
      {user.state === "active" && <MenuItem icon={<ShieldOff />} onSelect={onResetFactor}>{t("reset_factor")}</MenuItem>}
      {!mine && (disabled ? <MenuItem icon={<UserCheck />} onSelect={() => onDisable(false)}>{t("enable")}</MenuItem> : <MenuItem icon={<Ban />} onSelect={() => onDisable(true)}>{t("disable")}</MenuItem>)}
      {!mine && (
        <>
          <MenuSeparator />
          {user.state !== "active" && <MenuItem icon={<Trash2 />} danger onSelect={onRemove}>{t("remove")}</MenuItem>}
          <MenuItem icon={<Eraser />} danger onSelect={onErase}>{t("erase")}</MenuItem>
        </>
      )}
    </Menu>
  );
}
