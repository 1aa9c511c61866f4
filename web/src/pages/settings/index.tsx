import { ToggleGroup } from "radix-ui";
import { useMe } from "@/api/hooks";
import { setTheme, THEMES, type Theme, useTheme } from "@/frame/theme";
import { type Language, LANGUAGES, setLanguage, useLanguage, useT } from "@/i18n";
import { ButtonLink, Card, ErrorState, Facts, Page, Select, Skeleton } from "@/ui";
import { NewResources, OwnGrants } from "./parts/Access";
import { ApiKey } from "./parts/ApiKey";
import { Password } from "./parts/Password";
import { Provisioning } from "./parts/Provisioning";
import { Rules } from "./parts/Rules";
import { SecondFactor } from "./parts/SecondFactor";
import { Sessions } from "./parts/Sessions";
import { SignOn } from "./parts/SignOn";

/** The account of whoever is logged in. */
export default function SettingsPage() {
  const t = useT("settings");
  return (
    <Page title={t("title")} width="text">
      <div className="flex flex-col gap-5">
        <Profile />
        <Look />
        <Password />
        <SecondFactor />
        <Sessions />
        <ApiKey />
        <OwnGrants />
        <Rules />
        <NewResources />
        <SignOn />
        <Provisioning />
        <Card title={t("sec_grants")}>
          <div className="flex flex-wrap items-center justify-between gap-3"><p className="text-base text-ink-2">{t("grants_text")}</p><ButtonLink to="/approvals" search={{ view: "grants" }}>{t("grants_open")}</ButtonLink></div>
        </Card>
      </div>
    </Page>
  );
}

function Profile() {
  const t = useT("settings");
  const me = useMe();
  return (
    <Card title={t("sec_profile")}>
      {me.error ? <ErrorState inline error={me.error} onRetry={() => void me.refetch()} /> : me.data ? <Facts items={[[t("name"), me.data.name || "–"], [t("email"), me.data.email], [t("role"), t(`role_${me.data.role}`)]]} /> : <Skeleton rows={3} />}
    </Card>
  );
}

function Look() {
  const t = useT("settings");
  const theme = useTheme();
  const language = useLanguage();
  return (
    <Card title={t("sec_look")}>
      <div className="flex flex-wrap gap-x-10 gap-y-4">
        <div className="flex flex-col gap-1.5">
          <span id="theme-label" className="text-sm font-medium">{t("theme")}</span>
          <ToggleGroup.Root type="single" aria-labelledby="theme-label" value={theme} onValueChange={(next) => next && setTheme(next as Theme)} className="inline-flex rounded-md border border-line-2 p-0.5">
            {THEMES.map((name) => <ToggleGroup.Item key={name} value={name} className="h-7.5 rounded-sm px-3 text-base text-ink-3 hover:text-ink data-[state=on]:bg-active data-[state=on]:font-medium data-[state=on]:text-ink max-md:h-10">{t(`theme_${name}`)}</ToggleGroup.Item>)}
          </ToggleGroup.Root>
        </div>
        <label className="flex flex-col gap-1.5">
          <span className="text-sm font-medium">{t("language")}</span>
          <Select value={language} onChange={(event) => void setLanguage(event.target.value as Language)} className="w-48">{Object.entries(LANGUAGES).map(([code, name]) => <option key={code} value={code} lang={code}>{name}</option>)}</Select>
        </label>
      </div>
    </Card>
  );
}
