import { text } from "./support/model.ts";
import { expect, test, visit } from "./support/test.ts";

test.describe("labels and policies", () => {
  // Somebody else saves meanwhile.
  test.use({ expected: [/status of 409/] });

  test("an administrator takes over the example, tries it, refers to a clause and does not lose a change that meets another", async ({ studio: page, api }) => {
    await visit(page, "/governance");
    const main = page.getByRole("main");
    await main.getByRole("button", { name: "Take over the example" }).click();
    await expect(main.getByText("2 changes are not saved")).toBeVisible();
    const label = main.getByRole("group", { name: "Label Personnel files" });
    await expect(label.getByRole("textbox", { name: "Files" })).toHaveValue("hr/**");
    const policy = main.getByRole("group", { name: "Policy Confidential data stays in the house" });
    await policy.getByRole("button", { name: "Choose clauses…" }).click();
    const choosing = page.getByRole("dialog", { name: /^Clauses that/ });
    await choosing.getByRole("searchbox").fill("A.5.12");
    await choosing.getByRole("checkbox", { name: /A\.5\.12/ }).first().click();
    await choosing.getByRole("button", { name: "Done" }).click();
    await expect(policy.getByRole("list", { name: "Clauses of standards" })).toContainText("Classification of information");
    await main.getByRole("button", { name: "Save" }).click();
    await expect(main.getByText(/not saved/)).toHaveCount(0);

    const trial = main.getByRole("group", { name: "Try it" });
    await trial.getByLabel("Path or statement").fill("hr/pay.csv");
    await trial.getByRole("button", { name: "Try" }).click();
    await expect(trial.getByRole("status")).toContainText("Personnel files");
    await expect(trial.getByRole("status")).toContainText("Confidential data stays in the house");

    // A label that says nothing is refused at its field.
    await label.getByRole("textbox", { name: "Files" }).fill("");
    await main.getByRole("button", { name: "Save" }).click();
    await expect(label.getByText(/^Say where such data is/).first()).toBeVisible();

    // Somebody else saves meanwhile.
    await label.getByRole("textbox", { name: "Files" }).fill("hr/**\nboard/**");
    const rules = await api.call<{ version: number; labels: unknown[]; policies: Record<string, unknown>[] }>("GET", "/data-governance/policies");
    const policies = rules.policies.map(({ references_resolved: _, ...rest }) => rest);
    await api.call("PUT", "/data-governance/policies", { version: rules.version, policies, labels: [...rules.labels, { name: "Patients", classification: "restricted", tables: ["patients"] }] });
    await main.getByRole("button", { name: "Save" }).click();
    await main.getByRole("button", { name: "Put my changes onto theirs" }).click();
    await expect(main.getByRole("group", { name: "Label Patients" })).toBeVisible();
    await expect(label.getByRole("textbox", { name: "Files" })).toHaveValue("hr/**\nboard/**");

    // Whoever leaves with open changes is asked.
    await page.getByRole("navigation", { name: "Pages" }).getByRole("link", { name: "About" }).click();
    const leaving = page.getByRole("dialog", { name: "Leave without saving?" });
    await leaving.getByRole("button", { name: "Stay" }).click();
    await main.getByRole("button", { name: "Save" }).click();
    await expect(main.getByText(/not saved/)).toHaveCount(0);
    await policy.getByRole("link", { name: "What was seen, in the audit trail" }).click();
    await expect(page).toHaveURL(/\/audit\?action=data\.classified/);
  });
});

test.describe("a run that has seen confidential data", () => {
  test.use({ script: { otherwise: text("Noted.") } });

  test("says so in the chat and on its page", async ({ studio: page, api }) => {
    const label = { name: "Board", classification: "restricted", marks: ["VERTRAULICH"] };
    await api.call("PUT", "/data-governance/policies", { version: 0, labels: [label], policies: [] });
    const { run_id, conversation_id } = await api.chat("VERTRAULICH: who left?");
    await api.settled(run_id);
    await visit(page, `/chat/${conversation_id}`);
    const badge = page.getByRole("main").getByText(/restricted.*a text with the mark VERTRAULICH/);
    await expect(badge.first()).toBeVisible();
    await visit(page, `/runs/${run_id}`);
    await expect(badge.first()).toBeVisible();
  });

  test("fails with the policy and its hint where no connection is left", async ({ studio: page, api }) => {
    const label = { name: "Board", classification: "restricted", marks: ["VERTRAULICH"] };
    const policy = { name: "Nobody reads this", from: "restricted", action: "block" };
    await api.call("PUT", "/data-governance/policies", { version: 0, labels: [label], policies: [policy] });
    const { run_id, conversation_id } = await api.chat("VERTRAULICH: who left?");
    await api.settled(run_id);
    await visit(page, `/chat/${conversation_id}`);
    const alert = page.getByRole("main").getByRole("alert");
    await expect(alert).toContainText("A policy over data keeps this from the model.");
    await expect(alert).toContainText("Nobody reads this");
    await expect(alert).toContainText(/under governance/i);
  });
});
