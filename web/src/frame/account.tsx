import { BookOpen, CircleUserRound, Keyboard, LogOut, Monitor, Moon, Sun } from "lucide-react";
import { useAccountActions, useMe } from "@/api/hooks";
import { LANGUAGES, type Language, setLanguage, useLanguage, useT } from "@/i18n";
import { Menu, MenuItem, MenuLabel, MenuSeparator } from "@/ui";
import { setTheme, type Theme, THEMES, useTheme } from "./theme";
import { openOverlay } from "./overlays";

const icons: Record<Theme, React.ReactNode> = { light: <Sun />, dark: <Moon />, system: <Monitor /> };

/** Who is in, theme, language, help, sign out. */
export function AccountMenu({ wide }: { wide?: boolean }) {
  const t = useT("frame");
  const { data: me } = useMe();
  const theme = useTheme();
  const language = useLanguage();
  const { logout } = useAccountActions();
  const initial = (me?.name || me?.email || "").trim().slice(0, 1).toUpperCase();
  return (
    <Menu
      side={wide ? "top" : "right"}
      className="w-60"
      trigger={
        <button type="button" aria-label={wide ? undefined : t("account")} className={wide ? "flex w-full items-center gap-3 rounded-lg px-3 py-2.5 text-lg hover:bg-hover" : "mt-1 rounded-full p-1 hover:bg-hover"}>
          <span className="flex size-8 items-center justify-center rounded-full border border-line-2 bg-surface text-sm font-semibold text-ink-2">{initial || <CircleUserRound aria-hidden className="size-4" />}</span>
          {wide && <span className="min-w-0 truncate"><span className="sr-only">{t("account")}: </span>{me?.email}</span>}
        </button>
      }
    >
      {me && <MenuLabel><span className="block truncate text-base text-ink">{me.name || me.email}</span>{me.name ? `${me.email} · ` : ""}{me.role}</MenuLabel>}
      <MenuSeparator />
      <MenuLabel>{t("theme")}</MenuLabel>
      {THEMES.map((value) => <MenuItem key={value} icon={icons[value]} checked={theme === value} onSelect={() => setTheme(value)}>{t(`theme.${value}`)}</MenuItem>)}
      <MenuSeparator />
      <MenuLabel>{t("language")}</MenuLabel>
      {(Object.keys(LANGUAGES) as Language[]).map((value) => <MenuItem key={value} checked={language === value} onSelect={() => void setLanguage(value)}>{LANGUAGES[value]}</MenuItem>)}
      <MenuSeparator />
      <MenuItem icon={<Keyboard />} onSelect={() => openOverlay("shortcuts")}>{t("shortcuts")}</MenuItem>
      <MenuItem icon={<BookOpen />} onSelect={() => window.open("/docs", "_blank", "noopener")}>{t("docs")}</MenuItem>
      <MenuItem icon={<LogOut />} onSelect={() => logout.mutate()}>{t("signOut")}</MenuItem>
    </Menu>
  );
}
