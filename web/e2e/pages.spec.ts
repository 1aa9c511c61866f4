import { faultsOf, looks } from "./support/axe.ts";
import { installation, keep, pages, settled, skills, story, tell } from "./support/pages.ts";
import { enter, expect, test, visit } from "./support/test.ts";

for (const look of looks) {
  test.describe(look.name, { tag: look.tag }, () => {
    test.use({ ...look.use, script: story });

    test("no page has a serious fault that axe finds, an error in the console, or a sideways scroll", async ({ page, workspace, api }) => {
      const faults: string[] = [];
      const inspect = async (name: string) => void faults.push(...(await faultsOf(page, name, look.rules)));
      await page.goto(api.loginPath);
      await settled(page);
      await inspect("login");
      const told = await tell(workspace, api);
      await enter(page, api);
      for (const [name, path] of pages) {
        await visit(page, path(told));
        await settled(page);
        await inspect(name);
      }
      expect(faults.join("\n\n"), "faults").toBe("");
    });
  });

  test.describe(`${look.name}, of the installation`, { tag: look.tag }, () => {
    test.use({ ...look.use, own: true });

    test("no page has one either", async ({ studio: page }) => {
      const faults: string[] = [];
      for (const [name, path] of installation) {
        await visit(page, path);
        await settled(page);
        faults.push(...(await faultsOf(page, name, look.rules)));
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
