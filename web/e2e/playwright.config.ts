import { defineConfig } from "@playwright/test";
import { browser } from "./support/browser.ts";

// `make test` leaves out what is marked `@prove` (dark, phone, measured times); with STEWARD_PROVE only that runs, and every look
// at the pages (`@axe`).
const scope = process.env.STEWARD_PROVE ? { grep: /@prove|@axe/ } : { grepInvert: /@prove/ };

// Tests share a server for each worker, and each has an organisation of its own on it, so they may run beside each other.
export default defineConfig({
  ...scope,
  testDir: ".",
  testMatch: "*.spec.ts",
  outputDir: "results",
  globalSetup: "./support/check.ts",
  fullyParallel: true,
  workers: 2,
  // Chromium is not always itself while the machine is short of time: a second try is told as flaky.
  retries: 1,
  // Limits are for what hangs. A test takes a second or ten on a quiet machine, what it waits for less than three.
  timeout: 600_000,
  expect: { timeout: 60_000 },
  forbidOnly: true,
  reporter: [["list"]],
  use: {
    ...browser,
    viewport: { width: 1280, height: 820 },
    locale: "en-GB",
    actionTimeout: 60_000,
    navigationTimeout: 60_000,
    // To look into a failure run it again with `--trace on`: recording costs a fifth of the time.
    screenshot: "only-on-failure",
  },
});
