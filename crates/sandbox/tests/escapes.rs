//! What a confined program may try against its neighbours, on each tier, started by root and by an ordinary user.

use crate::sandbox_support;

use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::process::{Child, Command};

use sandbox_support::{open_up, run, shell, tiers_of, workspace};
use steward_sandbox::process::{Helper, Privileges, Sandbox, Tier};

/// A user and group that own nothing.
const SOMEBODY: &str = "60123";
const NOBODY: &str = "65534";

struct Victim(Child);

impl Victim {
    /// Of the user that a command runs as.
    fn of(user: Option<&str>) -> Self {
        let mut command = match user {
            Some(user) => as_user(user),
            None => Command::new("env"),
        };
        Self(command.args(["sleep", "60"]).spawn().unwrap())
    }

    fn settings(&self) -> String {
        let at = |name: &str| std::fs::read_to_string(format!("/proc/{}/{name}", self.0.id())).unwrap_or_default();
        let stat = at("stat");
        let nice = stat.rsplit(' ').nth(33).unwrap_or_default().to_owned();
        let processors = at("status");
        let processors = processors.lines().find(|l| l.starts_with("Cpus_allowed:")).unwrap_or_default();
        format!("{}{nice} {processors}", at("limits"))
    }
}

impl Drop for Victim {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn as_user(user: &str) -> Command {
    let mut command = Command::new("setpriv");
    command.args(["--reuid", user, "--regid", user, "--clear-groups"]);
    command
}

fn is_root() -> bool {
    rustix::process::geteuid().is_root()
}

const ATTACK: &str = r#"
for how in "prlimit --cpu=0:0 --pid" "prlimit --fsize=0:0 --pid" "prlimit --nofile=3:3 --pid" "taskset -p 1" \
    "renice -n 19 -p" "ionice -c 3 -p" "kill -9"; do
  $how "$VICTIM" >/dev/null 2>&1 && echo "possible: $how"
done
renice -n 19 -u "$(id -u)" >/dev/null 2>&1 && echo "possible: renice -u"
ipcmk -M 4096 >/dev/null 2>&1 && echo "possible: shared memory"
ipcmk -S 1 >/dev/null 2>&1 && echo "possible: semaphores"
ipcmk -Q >/dev/null 2>&1 && echo "possible: messages"
cp /bin/true planted; chmod 4755 planted 2>/dev/null; chmod 2755 planted 2>/dev/null
install -m 6755 /bin/true installed 2>/dev/null
umask 0; mkdir -m 2777 folder 2>/dev/null
echo done
"#;

async fn attack(tier: Tier, sandbox: &Sandbox) {
    let dir = workspace();
    let dropped = run(sandbox, shell("true", dir.path())).await.privileges == Privileges::Dropped;
    let victim = Victim::of(dropped.then_some(NOBODY));
    // It must be what it will be, not the program that becomes it.
    while !std::fs::read_to_string(format!("/proc/{}/cmdline", victim.0.id())).unwrap().starts_with("sleep") {
        std::thread::yield_now();
    }
    let before = victim.settings();
    let mut spec = shell(ATTACK, dir.path());
    spec.env.insert("VICTIM".to_owned(), victim.0.id().to_string());
    let outcome = run(sandbox, spec).await;
    assert_eq!(outcome.stdout.text(), "done\n", "{tier:?} {}", outcome.stderr.text());
    assert_eq!(victim.settings(), before, "{tier:?}");
    for entry in std::fs::read_dir(dir.path()).unwrap() {
        let entry = entry.unwrap();
        let mode = entry.metadata().unwrap().permissions().mode();
        assert_eq!(mode & 0o6000, 0, "{tier:?} {} {mode:o}", entry.path().display());
    }
}

/// By path, as Node and package managers do it; nothing else changes them by path.
const METADATA: &str = r#"
touch f; mkdir d; ln -s f to-f; ln -s "$OUTSIDE" out
perl -e 'utime 1000, 2000, "to-f" or die "utime: $!"; chmod 0640, "f" or die "chmod: $!"; chmod 0700, "$ENV{HOME}/d" or die "chmod: $!"' || exit 1
chmod 4755 f 2>/dev/null
perl -e 'for ($ENV{OUTSIDE}, "out", "/proc/self/cwd/out", "../file") { utime(1, 2, $_) && print "times of $_\n"; chmod(0777, $_) && print "mode of $_\n" }'
chmod 777 "$OUTSIDE" 2>/dev/null && echo "mode by chmod"
perl -e 'open my $f, "<", $ENV{OUTSIDE} or exit; chmod(0777, $f) && print "mode by descriptor\n"'
echo done
"#;

async fn metadata(tier: Tier, sandbox: &Sandbox) {
    let dir = workspace();
    let inner = sandbox_support::folder(dir.path().join("workspace"));
    let outside = dir.path().join("file");
    std::fs::write(&outside, "").unwrap();
    std::fs::set_permissions(&outside, std::fs::Permissions::from_mode(0o600)).unwrap();
    let dropped = run(sandbox, shell("true", &inner)).await.privileges == Privileges::Dropped;
    if dropped {
        std::os::unix::fs::chown(&outside, Some(65534), Some(65534)).unwrap();
    }
    let before = outside.metadata().unwrap();
    for read in [false, true] {
        let mut spec = shell(METADATA, &inner);
        spec.env.insert("OUTSIDE".to_owned(), outside.display().to_string());
        spec.read_paths.extend(read.then(|| outside.clone()));
        let outcome = run(sandbox, spec).await;
        assert_eq!(outcome.stdout.text(), "done\n", "{tier:?} {}", outcome.stderr.text());
        let after = outside.metadata().unwrap();
        assert_eq!(after.permissions(), before.permissions(), "{tier:?}");
        assert_eq!(after.modified().unwrap(), before.modified().unwrap(), "{tier:?}");
        let (file, folder) = (inner.join("f").metadata().unwrap(), inner.join("d").metadata().unwrap());
        assert_eq!((file.mode() & 0o7777, file.mtime()), (0o640, 2000), "{tier:?}");
        assert_eq!(folder.mode() & 0o7777, 0o700, "{tier:?}");
        // The second time with all that is left over from the first.
        run(sandbox, shell("rm -r f d to-f out", &inner)).await;
    }
}

/// As whoever runs the tests.
#[tokio::test(flavor = "multi_thread")]
async fn neighbours_are_out_of_reach() {
    let helper = std::env::var_os("SANDBOX_TEST_HELPER")
        .map_or_else(sandbox_support::helper, |program| Helper { program: program.into(), prefix: Vec::new() });
    let tiers = tiers_of(&helper).await;
    assert!(!tiers.is_empty());
    for (tier, sandbox) in tiers {
        attack(tier, &sandbox).await;
        metadata(tier, &sandbox).await;
        println!("{tier:?} holds, root {}", is_root());
    }
}

/// Root becomes another user for it, whom commands share with everything else that this user runs.
#[test]
fn neighbours_of_an_ordinary_user_are_out_of_reach() {
    if !is_root() {
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    open_up(dir.path());
    let copied = |from: std::path::PathBuf, name: &str| {
        let to = dir.path().join(name);
        std::fs::copy(from, &to).unwrap();
        to
    };
    let helper = copied(sandbox_support::helper().program, "helper");
    let tests = copied(std::env::current_exe().unwrap(), "tests");
    let done = as_user(SOMEBODY)
        .arg(tests)
        .args(["--exact", "escapes::neighbours_are_out_of_reach", "--nocapture"])
        .env("SANDBOX_TEST_HELPER", helper)
        .env("TMPDIR", dir.path())
        .current_dir(dir.path())
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&done.stdout);
    assert!(done.status.success() && said.contains("root false"), "{said}{}", String::from_utf8_lossy(&done.stderr));
    println!("{said}");
}
