// Files: what was sent is opened and removed; a file that a run wrote after reading it is cleared by whoever has read it.
import { faultsOf, looks } from "./support/axe.ts";
import { afterTool, calls, text, when } from "./support/model.ts";
import { expect, test } from "./support/test.ts";

const [light] = looks;

test.use({
  ...light.use,
  script: {
    rules: [
      when("Note the offer", calls(["read", { path: "uploads/offer.txt" }]), { role: "user" }),
      afterTool("Only ten a month", calls(["write", { path: "notes/offer.md", content: "Ten a month.\n" }]), { times: 1 }),
    ],
    otherwise: text("Noted."),
  },
});

test("sent files are opened and removed, and what a run made of one is cleared", async ({ studio: page, api, workspace }) => {
  await page.getByRole("navigation", { name: "Pages" }).getByRole("link", { name: "Files" }).click();
  const main = page.getByRole("main");
  await expect(main.getByText("No files yet.")).toBeVisible();
  await expect(main.getByText("Nothing is recorded.")).toBeVisible();

  await api.file("offer.txt", "Only ten a month.\n");
  for (let n = 10; n < 40; n++) await api.file(`part-${n}.csv`, "a,b\n");
  const { waiting_approval } = await api.settled(await api.ask("Note the offer"));
  await api.call("POST", `/approvals/${waiting_approval}/decide`, { answer: { decision: "approve" } });
  await expect.poll(() => api.call("GET", "/files/origins")).toHaveLength(1);

  await page.reload();
  const sent = main.getByRole("list", { name: "Sent files" }).getByRole("listitem");
  await expect(sent).toHaveCount(30);
  await main.getByRole("button", { name: "Show more" }).click();
  await expect(sent).toHaveCount(31);
  const offer = sent.filter({ hasText: "uploads/offer.txt" });
  await expect(offer).toContainText("18");
  await offer.getByRole("link").click();
  const open = page.getByRole("dialog", { name: "offer.txt" });
  await expect(open.getByText("Only ten a month.")).toBeVisible();
  await expect(open.getByRole("button", { name: "Download" })).toBeEnabled();
  await page.keyboard.press("Escape");
  await offer.getByRole("button", { name: "Remove uploads/offer.txt" }).press("Enter");
  await page.getByRole("dialog", { name: "Remove uploads/offer.txt?" }).getByRole("button", { name: "Remove for good" }).click();
  await expect(sent).toHaveCount(30);
  expect(await workspace.file("uploads/offer.txt")).toBeNull();

  const outside = main.getByRole("list", { name: "From outside" }).getByRole("listitem");
  await expect(outside).toHaveCount(1);
  await expect(outside).toContainText("notes/offer.md");
  await expect(outside).toContainText("from uploads/offer.txt");
  expect(await faultsOf(page, "files", light.rules)).toEqual([]);
  await page.setViewportSize({ width: 390, height: 844 });
  expect(await faultsOf(page, "files on a phone", light.rules)).toEqual([]);
  await outside.getByRole("button", { name: "Clear where notes/offer.md comes from" }).click();
  const sure = page.getByRole("dialog", { name: "Clear where notes/offer.md comes from?" });
  await expect(sure.getByText("runs then read it as the house's own")).toBeVisible();
  await sure.getByRole("button", { name: "I have read it: clear" }).click();
  await expect(main.getByText("Nothing is recorded.")).toBeVisible();
  expect(await api.call("GET", "/files/origins")).toEqual([]);
});
