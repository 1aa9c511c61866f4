import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { root } from "./support/paths.ts";
import { installation, pages, settled, story, tell } from "./support/pages.ts";
import { login, test } from "./support/test.ts";

const into = process.env.STEWARD_PICTURES ?? join(root, "docs/pictures");
mkdirSync(into, { recursive: true });
/** Every page is taken in the light; these in the dark and on a phone too. */
const ALL_LOOKS = ["login", "chat-new", "chat", "chat-plan", "runs", "run", "approvals", "agents", "agent", "connections", "settings", "about"];

for (const [look, colorScheme, width, height] of [["light", "light", 1280, 800], ["dark", "dark", 1280, 800], ["phone", "light", 390, 844]] as const) {
  test.describe(look, () => {
    test.use({ own: true, script: story, colorScheme, viewport: { width, height }, deviceScaleFactor: look === "phone" ? 2 : 1, reducedMotion: "reduce" });

    test("pictures", async ({ page, workspace, api }) => {
      const shown = (name: string) => look === "light" || ALL_LOOKS.includes(name);
      const shoot = (name: string) => page.screenshot({ path: join(into, `${name}-${look}.png`) });
      await page.goto("/login");
      await settled(page);
      await shoot("login");
      await login(page);
      const told = await tell(workspace, api);
      const all: [string, string][] = [...pages.map(([name, path]): [string, string] => [name, path(told)]), ...installation.filter(([name]) => name !== "not-found").map(([name, path]): [string, string] => [name, path])];
      for (const [name, path] of all.filter(([name]) => shown(name))) {
        await page.goto(path);
        await settled(page);
        await shoot(name);
      }
    });
  });
}
