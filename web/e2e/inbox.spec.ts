// Deciding by keys: nothing is approved that nobody can have read.
import { calls, text, when } from "./support/model.ts";
import { expect, test, visit } from "./support/test.ts";

const write = (name: string) => when(`Write ${name}`, calls(["write", { path: `${name}.md`, content: name }]), { role: "user" });

test.describe("the inbox", () => {
  // The undo of a run that is still at work is asked for again.
  test.use({ expected: [/status of 409/], script: { rules: ["x1", "x2", "x3", "x4"].map(write), otherwise: text("Written.") } });

  const files = async (workspace: { file: (name: string) => Promise<string | null> }) => (await Promise.all(["x1", "x2", "x3", "x4"].map((name) => workspace.file(`${name}.md`)))).filter((content) => content !== null).length;

  test("approves one at most while a key is held or pressed twice", async ({ studio: page, api, workspace }) => {
    for (const name of ["x1", "x2", "x3", "x4"]) await api.ask(`Write ${name}`);
    await visit(page, "/approvals");
    const approve = page.getByRole("button", { name: "Approve", exact: true });
    const entries = page.getByRole("navigation", { name: "Approvals that wait" }).getByRole("listitem");
    await expect(entries).toHaveCount(4);
    await expect(approve).toBeEnabled();
    // Held: the browser repeats the press.
    await page.keyboard.down("a");
    await expect(entries).toHaveCount(3);
    await expect(approve).toBeEnabled();
    for (let n = 0; n < 25; n += 1) await page.keyboard.down("a");
    await page.keyboard.up("a");
    await expect(entries).toHaveCount(3);
    await expect(approve).toBeEnabled();
    // Three presses before the page can have shown the next one.
    await page.evaluate(async () => {
      for (let n = 0; n < 3; n += 1) {
        document.body.dispatchEvent(new KeyboardEvent("keydown", { key: "a", code: "KeyA", bubbles: true }));
        await new Promise((wake) => setTimeout(wake));
      }
    });
    await expect(entries).toHaveCount(2);
    await expect(approve).toBeEnabled();
    await expect(entries).toHaveCount(2);
    await expect.poll(() => files(workspace)).toBe(2);
  });

  test("takes an approval back from its toast", async ({ studio: page, api, workspace }) => {
    const run = await api.ask("Write x1");
    await visit(page, "/approvals");
    await page.getByRole("button", { name: "Approve", exact: true }).click();
    await expect.poll(() => workspace.file("x1.md")).toBe("x1");
    await page.getByRole("button", { name: "Undo" }).click();
    await expect.poll(() => workspace.file("x1.md")).toBeNull();
    await visit(page, `/runs/${run}`);
    await expect(page.getByRole("main")).toContainText("unverified");
  });
});

test.describe("what can't be undone", () => {
  test.use({ script: { rules: [when("Wipe it", calls(["wipe", {}]), { role: "user" })], otherwise: text("Wiped.") } });

  test("needs a second key", async ({ studio: page, api }) => {
    const skill = { name: "wipe", description: "Wipes the old entries.", type: "python", risk: "destructive", effect: "write", parameters: { type: "object", properties: {}, additionalProperties: false }, config: { code: "def run(payload):\n    return 1\n" } };
    await api.call("POST", `/universal-agents/${await api.agentId()}/skills:create_and_attach`, skill);
    const run = await api.ask("Wipe it");
    await visit(page, "/approvals");
    await expect(page.getByRole("button", { name: "Approve", exact: true })).toBeEnabled();
    await page.keyboard.press("a");
    const sure = page.getByRole("dialog", { name: /can't be undone/ });
    await expect(sure).toBeVisible();
    await page.keyboard.press("a");
    expect((await api.run(run)).status).not.toBe("finished");
    await page.keyboard.press("Enter");
    await expect(sure).toBeHidden();
    await expect(page.getByText("Nothing waits for you").last()).toBeVisible();
    await api.settled(run);
  });
});
