import { Link, useNavigate, useRouterState } from "@tanstack/react-router";
import { ChevronRight, Ellipsis, PanelLeftClose, PanelLeftOpen } from "lucide-react";
import { type ReactNode, useMemo, useState } from "react";
import { useMe, useOpenApprovals } from "@/api/hooks";
import { useT } from "@/i18n";
import { cx, Menu, MenuItem, MenuLabel, Sheet, Tooltip } from "@/ui";
import { AccountMenu } from "./account";
import { useFolding } from "./folding";
import { followed } from "./heading";
import { useLiveState } from "./live";
import { Logo } from "./logo";
import { type Entry, isAt, maySee, seenGroups, SET_ASIDE, SETTINGS, WORK } from "./pages";
import { RemindersButton } from "./reminders";
import { useShortcut } from "./shortcuts";

type Groups = ReturnType<typeof seenGroups>;
const usePath = () => useRouterState({ select: (state) => state.location.pathname });

const badge = "min-w-4 rounded-full bg-warn-line px-1 text-center text-[0.625rem] leading-4 font-semibold text-[#201400] tabular";

/** `name`: whether it stands beside the icon, below it, or only for readers of screens. */
function NavLink({ entry, count, name }: { entry: Entry; count?: number; name: "beside" | "below" | "hidden" }) {
  const t = useT("frame");
  const here = isAt(usePath(), entry);
  const Icon = entry.icon;
  const link = (
    <Link
      to={entry.to}
      onClick={followed}
      aria-current={here ? "page" : undefined}
      className={cx(
        "relative flex items-center transition-colors focus-visible:outline-offset-[-2px]",
        name === "beside" && "min-h-7 w-full gap-2.5 rounded-md px-2 py-1 text-sm",
        name === "below" && "min-w-0 flex-1 flex-col gap-1 py-2 text-2xs leading-tight",
        name === "hidden" && "size-9 justify-center rounded-lg",
        here ? "font-medium text-ink" : "text-ink-2 hover:text-ink",
        name !== "below" && (here ? "bg-active" : "hover:bg-hover"),
      )}
    >
      <span className="relative">
        <Icon aria-hidden className={cx(name === "beside" ? "size-4" : "size-[1.1875rem]", here ? "stroke-2 text-accent-ink" : "stroke-[1.6]")} />
        {!!count && name !== "beside" && <span aria-hidden className={cx(badge, "absolute -top-1.5 -right-2.5")}>{count > 99 ? "99+" : count}</span>}
      </span>
      <span className={name === "hidden" ? "sr-only" : "min-w-0 max-w-full truncate"}>{t(entry.key)}</span>
      {!!count && name === "beside" && <span aria-hidden className={cx(badge, "ml-auto")}>{count > 99 ? "99+" : count}</span>}
      {!!count && <span className="sr-only">{t("approvalsWaiting", { count })}</span>}
    </Link>
  );
  return name === "hidden" ? <Tooltip side="right" text={t(entry.key)}>{link}</Tooltip> : link;
}

function WorkLinks({ name }: { name: "beside" | "below" | "hidden" }) {
  const { data: waiting = 0 } = useOpenApprovals();
  const { data: me } = useMe();
  return WORK.filter((entry) => maySee(entry, me) && !(name === "below" && entry.to === SET_ASIDE)).map((entry) => <NavLink key={entry.to} entry={entry} name={name} {...(entry.key === "approvals" && { count: waiting })} />);
}

/** Headings that fold the pages below them away. */
function Folders({ groups }: { groups: Groups }) {
  const t = useT("frame");
  const path = usePath();
  const { isOpen, setOpen } = useFolding(groups);
  return groups.map(({ key, pages }) => {
    const holds = pages.some((entry) => isAt(path, entry));
    const open = isOpen(key, holds);
    return (
      <div key={key} className="mt-2 w-full">
        <button
          type="button"
          aria-expanded={open}
          aria-controls={`pages-${key}`}
          onClick={() => setOpen(key, !open)}
          className={cx("flex min-h-6 w-full items-center gap-1 rounded-md px-2 text-xs focus-visible:outline-offset-[-2px] hover:bg-hover hover:text-ink", holds && !open ? "font-medium text-ink" : "text-ink-3")}
        >
          <span className="min-w-0 flex-1 truncate text-left">{t(`group.${key}`)}</span>
          <ChevronRight aria-hidden className={cx("size-3.5 shrink-0 transition-transform", open && "rotate-90")} />
        </button>
        <div id={`pages-${key}`} hidden={!open}>{open && pages.map((entry) => <NavLink key={entry.to} entry={entry} name="beside" />)}</div>
      </div>
    );
  });
}

/** One button for each group, which opens a menu of its pages. */
function GroupMenus({ groups }: { groups: Groups }) {
  const t = useT("frame");
  const path = usePath();
  const navigate = useNavigate();
  return groups.map(({ key, icon: Icon, pages }) => {
    const holds = pages.some((entry) => isAt(path, entry));
    return (
      <Menu
        key={key}
        side="right"
        align="start"
        trigger={
          <button type="button" aria-label={t(`group.${key}`)} title={t(`group.${key}`)} className={cx("flex size-9 items-center justify-center rounded-lg focus-visible:outline-offset-[-2px]", holds ? "bg-active text-accent-ink" : "text-ink-2 hover:bg-hover hover:text-ink")}>
            <Icon aria-hidden className={cx("size-[1.1875rem]", holds ? "stroke-2" : "stroke-[1.6]")} />
          </button>
        }
      >
        <MenuLabel>{t(`group.${key}`)}</MenuLabel>
        {pages.map((entry) => <MenuItem key={entry.to} icon={<entry.icon />} onSelect={() => void navigate({ to: entry.to })}>{t(entry.key)}</MenuItem>)}
      </Menu>
    );
  });
}

/** The pages of a wide screen, by groups; narrow, it shows icons only. */
export function Sidebar() {
  const t = useT("frame");
  const { data: me } = useMe();
  const groups = useMemo(() => seenGroups(me), [me]);
  const { narrow, setNarrow } = useFolding();
  const label = t(narrow ? "nav.widen" : "nav.narrow");
  useShortcut("Mod+b", () => setNarrow(!narrow), label, { group: "everywhere", inFields: true });
  const toggle: ReactNode = (
    <Tooltip side="right" text={label} keys="Mod+b">
      <button type="button" aria-label={label} onClick={() => setNarrow(!narrow)} className="rounded-lg p-2 text-ink-3 hover:bg-hover hover:text-ink">
        {narrow ? <PanelLeftOpen aria-hidden className="size-[1.1875rem] stroke-[1.6]" /> : <PanelLeftClose aria-hidden className="size-[1.1875rem] stroke-[1.6]" />}
      </button>
    </Tooltip>
  );
  return (
    <nav aria-label={t("nav")} className={cx("flex shrink-0 flex-col border-r border-line bg-sunken py-2 max-md:hidden", narrow ? "w-13 items-center" : "w-46 px-2")}>
      <Link to="/chat" aria-label="Steward" className={cx("mb-2 flex shrink-0 items-center gap-2 rounded-lg font-semibold", !narrow && "px-1")}><Logo className="size-7" />{!narrow && <span aria-hidden>Steward</span>}</Link>
      <div className={cx("scroll-cue flex min-h-0 w-full flex-1 flex-col overflow-y-auto [--cue:var(--sunken)]", narrow ? "items-center gap-1" : "gap-px")}>
        <WorkLinks name={narrow ? "hidden" : "beside"} />
        {narrow ? <><hr className="my-1 w-6 shrink-0 border-line" /><GroupMenus groups={groups} /></> : <Folders groups={groups} />}
      </div>
      <div className={cx("mt-1 flex shrink-0 flex-col gap-1 border-t border-line pt-1", narrow && "items-center")}>
        <NavLink entry={SETTINGS} name={narrow ? "hidden" : "beside"} />
        <div className={cx("flex items-center", narrow ? "flex-col gap-1" : "justify-between")}><AccountMenu /><RemindersButton />{toggle}</div>
      </div>
    </nav>
  );
}

/** The bar of a phone: what one uses at hand, and all else by groups in a sheet. */
export function BottomBar() {
  const t = useT("frame");
  const [open, setOpen] = useState(false);
  const path = usePath();
  const { data: me } = useMe();
  const groups = seenGroups(me);
  const aside = WORK.filter((entry) => entry.to === SET_ASIDE && maySee(entry, me));
  const here = [...aside, SETTINGS].some((entry) => isAt(path, entry)) || groups.some(({ pages }) => pages.some((entry) => isAt(path, entry)));
  const link = (entry: Entry) => (
    <li key={entry.to}><Link to={entry.to} onClick={followed} aria-current={isAt(path, entry) ? "page" : undefined} className={cx("flex items-center gap-3 rounded-lg px-3 py-2.5 text-lg hover:bg-hover focus-visible:outline-offset-[-2px]", isAt(path, entry) && "bg-active font-medium")}><entry.icon aria-hidden className={cx("size-5", isAt(path, entry) ? "text-accent-ink" : "text-ink-3")} />{t(entry.key)}</Link></li>
  );
  return (
    <nav aria-label={t("nav")} className="safe-bottom flex shrink-0 border-t border-line bg-sunken md:hidden">
      <WorkLinks name="below" />
      <button type="button" aria-haspopup="dialog" aria-current={here ? "true" : undefined} onClick={() => setOpen(true)} className={cx("flex min-w-0 flex-1 flex-col items-center gap-1 py-2 text-2xs leading-tight focus-visible:outline-offset-[-2px]", here ? "font-medium text-ink" : "text-ink-2")}>
        <Ellipsis aria-hidden className={cx("size-[1.1875rem]", here ? "stroke-2 text-accent-ink" : "stroke-[1.6]")} />
        {t("more")}
      </button>
      <Sheet side="bottom" cue open={open} onOpenChange={setOpen} title={t("more")}>
        <div className="p-2" onClick={() => setOpen(false)}>
          {aside.length > 0 && <ul>{aside.map(link)}</ul>}
          {groups.map(({ key, pages }) => (
            <section key={key} aria-labelledby={`more-${key}`}>
              <h3 id={`more-${key}`} className="px-3 pt-3 pb-1 text-sm text-ink-3">{t(`group.${key}`)}</h3>
              <ul>{pages.map(link)}</ul>
            </section>
          ))}
          <ul className="mt-2 border-t border-line pt-2">{link(SETTINGS)}<li><RemindersButton wide /></li></ul>
        </div>
        <div className="border-t border-line p-2"><AccountMenu wide /></div>
      </Sheet>
    </nav>
  );
}

/** Told at the top while the server is away. */
export function OfflineStrip() {
  const t = useT("frame");
  if (useLiveState() !== "waiting") return null;
  return <p role="status" className="shrink-0 border-b border-warn-line/40 bg-warn-soft px-4 py-1 text-center text-sm text-warn">{t("offline")}</p>;
}
