import { defineConfig } from "@playwright/test";
import { browser } from "./support/browser.ts";

// Each test has its own server, model and data, so they may run beside each other.
export default defineConfig({
  testDir: ".",
  testMatch: "*.spec.ts",
  outputDir: "results",
  globalSetup: "./support/check.ts",
  fullyParallel: true,
  workers: 2,
  // Under CI a second try is allowed, and told as flaky.
  retries: process.env.CI ? 1 : 0,
  timeout: 60_000,
  expect: { timeout: 15_000 },
  forbidOnly: true,
  reporter: [["list"]],
  use: {
    ...browser,
    viewport: { width: 1280, height: 820 },
    locale: "en-GB",
    // Recording costs a fifth of the time; to look into a failure run it again with `--trace on`.
    trace: "on-first-retry",
    screenshot: "only-on-failure",
  },
});
