import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { chmod, copyFile, mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir, userInfo } from "node:os";
import { join } from "node:path";
import { Program } from "./process.ts";

/** Where sshd and its tools may lie; `sbin` is not on everybody's PATH. */
const places = ["/usr/sbin", "/usr/bin", "/usr/local/sbin", "/usr/local/bin", "/sbin", "/bin"];

function tool(name: string): string {
  const found = places.map((place) => join(place, name)).find((path) => existsSync(path));
  if (!found) throw new Error(`${name} is missing: run scripts/setup.sh test`);
  return found;
}

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((ready) => server.listen(0, "127.0.0.1", ready));
  const address = server.address();
  await new Promise((closed) => server.close(closed));
  if (!address || typeof address === "string") throw new Error("no port");
  return address.port;
}

/** A real sshd on loopback with a service of its own, `svc`, that notes what it is told. */
export class Sshd {
  readonly user = userInfo().username;

  private constructor(
    private readonly program: Program,
    private readonly dir: string,
    readonly port: number,
  ) {}

  static async start(): Promise<Sshd> {
    const dir = await mkdtemp(join(tmpdir(), "steward-sshd-"));
    const at = (name: string) => join(dir, name);
    for (const name of ["host", "user"]) execFileSync(tool("ssh-keygen"), ["-q", "-t", "ed25519", "-C", "test", "-N", "", "-f", at(name)]);
    await copyFile(at("user.pub"), at("authorized_keys"));
    await mkdir(at("bin"));
    await writeFile(at("bin/svc"), `#!/bin/sh\necho "$*" >> '${at("told")}'\necho "$2: active (running)"\n`);
    await chmod(at("bin/svc"), 0o755);
    if (userInfo().uid === 0) await mkdir("/run/sshd", { recursive: true });
    const port = await freePort();
    const config = [
      `Port ${port}`,
      "ListenAddress 127.0.0.1",
      `HostKey ${at("host")}`,
      `AuthorizedKeysFile ${at("authorized_keys")}`,
      "PidFile none",
      "UsePAM no",
      "StrictModes no",
      "PasswordAuthentication no",
      "KbdInteractiveAuthentication no",
      "PermitRootLogin prohibit-password",
      `SetEnv PATH=${at("bin")}:/usr/bin:/bin`,
    ];
    await writeFile(at("config"), `${config.join("\n")}\n`);
    const program = new Program(tool("sshd"), ["-D", "-e", "-f", at("config")], { PATH: process.env.PATH }, dir);
    await program.match(/listening on/i);
    return new Sshd(program, dir, port);
  }

  key(): Promise<string> {
    return readFile(join(this.dir, "user"), "utf8");
  }

  /** Fingerprint of its host key, as an administrator of that server would tell it. */
  fingerprint(): string {
    const said = execFileSync(tool("ssh-keygen"), ["-lf", join(this.dir, "host.pub")], { encoding: "utf8" });
    return said.split(" ")[1] ?? "";
  }

  /** What the service was told, oldest first. */
  async told(): Promise<string[]> {
    const file = join(this.dir, "told");
    return existsSync(file) ? (await readFile(file, "utf8")).trim().split("\n") : [];
  }

  async stop(): Promise<void> {
    await this.program.end("SIGTERM");
    await rm(this.dir, { recursive: true, force: true });
  }
}
