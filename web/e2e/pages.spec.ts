import { COLOURS, faultsOf } from "./support/axe.ts";
import { keep, pages, settled, skills, story, tell } from "./support/pages.ts";
import { enter, expect, test, visit } from "./support/test.ts";

const looks = [
  { name: "light", colorScheme: "light", viewport: { width: 1280, height: 820 } },
  { name: "dark", colorScheme: "dark", viewport: { width: 1280, height: 820 } },
  { name: "phone", colorScheme: "light", viewport: { width: 390, height: 844 } },
] as const;

for (const look of looks) {
  test.describe(look.name, () => {
    // axe is put into the page by evaluate, which the page's own security policy would refuse.
    test.use({ script: story, colorScheme: look.colorScheme, viewport: look.viewport, bypassCSP: true, hasTouch: look.name === "phone" });

    test("no page has a serious fault that axe finds, an error in the console, or a sideways scroll", async ({ page, server, api }) => {
      test.setTimeout(120_000);
      const faults: string[] = [];
      const inspect = async (name: string) => void faults.push(...(await faultsOf(page, name, look.name === "dark" ? COLOURS : {})));
      await page.goto("/login");
      await settled(page);
      await inspect("login");
      const told = await tell(server, api);
      await enter(page, api);
      for (const [name, path] of pages) {
        await visit(page, path(told));
        await settled(page);
        await inspect(name);
      }
      expect(faults.join("\n\n"), "faults").toBe("");
    });
  });
}

test("the security policy is kept: nothing is blocked on any page", async ({ page, server, api }) => {
  // In the console a violation is an error, which every test looks for; here each page is opened with the policy on.
  const told = { conversation: "", run: "", planned: "", agent: await api.agentId(), connection: await api.connectionId(), skill: await skills(api), ...(await keep(api)) };
  const { run_id, conversation_id } = await api.chat("Hello");
  await api.settled(run_id);
  const policy = (await (await fetch(server.url)).headers.get("content-security-policy")) ?? "";
  expect(policy).toContain("default-src 'none'");
  expect(policy).not.toContain("unsafe");
  await enter(page, api);
  for (const [, path] of pages) {
    await visit(page, path({ ...told, run: run_id, conversation: conversation_id, planned: conversation_id }));
    await settled(page);
  }
});
