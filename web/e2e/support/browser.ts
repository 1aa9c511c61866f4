// The system's Chromium; scripts/web.sh finds it. Its own sandbox needs user namespaces, which root in a container lacks.
const executablePath = process.env.STEWARD_CHROMIUM ?? "/usr/bin/chromium";
const root = process.getuid?.() === 0;

export const browser = {
  browserName: "chromium" as const,
  launchOptions: { executablePath, args: root ? ["--no-sandbox"] : [] },
};
