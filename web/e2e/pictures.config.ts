import { defineConfig } from "@playwright/test";
import base from "./playwright.config.ts";

// Screenshots of every page into docs/pictures; not part of the tests.
export default defineConfig(base, { testMatch: "pictures.shots.ts", workers: 1, timeout: 180_000 });
