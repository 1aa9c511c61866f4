//! Attempts to break out, on each tier that this machine has. Without any, the refusal is checked instead.

use crate::sandbox_support;

use std::time::{Duration, Instant};

use sandbox_support::{folder, helper, run, shell, tiers, workspace};
use steward_sandbox::host::{HostPolicy, HostRules};
use steward_sandbox::process::{Access, CommandSpec, Exit, Helper, Privileges, Sandbox, SandboxError, Tier};
use tokio_util::sync::CancellationToken;

/// So that the tests below cannot pass by skipping: what works by itself must work for the sandbox.
#[tokio::test(flavor = "multi_thread")]
async fn what_the_machine_has_is_used() {
    let bare = std::process::Command::new("/usr/bin/bwrap")
        .args("--unshare-all --ro-bind / / --proc /proc --dev /dev --tmpfs /tmp true".split(' '))
        .output()
        .is_ok_and(|o| o.status.success());
    let found: Vec<Tier> = tiers().await.into_iter().map(|(tier, _)| tier).collect();
    let capabilities = Sandbox::new(helper()).probe().await.clone();
    println!("{capabilities:?}, bare bubblewrap {bare}");
    assert_eq!(found.contains(&Tier::Namespaces), bare && capabilities.seccomp, "{capabilities:?}");
    assert_eq!(
        found.contains(&Tier::Landlock),
        capabilities.landlock_abi >= 3 && capabilities.seccomp,
        "{capabilities:?}"
    );
    assert_eq!(capabilities.tier, found.first().copied());
}

#[tokio::test(flavor = "multi_thread")]
async fn ordinary_work_is_possible() {
    for (tier, sandbox) in tiers().await {
        let dir = workspace();
        std::fs::write(dir.path().join("in.txt"), "b\na\n").unwrap();
        folder(dir.path().join("sub"));
        let mut spec =
            shell("sort ../in.txt > out.txt; cat out.txt -; pwd; echo $HOME; echo oops >&2; exit 3", dir.path());
        spec.cwd = "sub".into();
        spec.stdin = b"from stdin\n".to_vec();
        let outcome = run(&sandbox, spec).await;
        let home = dir.path().canonicalize().unwrap();
        let expected = format!("a\nb\nfrom stdin\n{0}/sub\n{0}\n", home.display());
        assert_eq!(
            (outcome.exit, outcome.stdout.text().as_ref()),
            (Exit::Exited(3), expected.as_str()),
            "{tier:?} {}",
            outcome.stderr.text()
        );
        assert_eq!(outcome.stderr.text(), "oops\n");
        assert_eq!(std::fs::read_to_string(home.join("sub/out.txt")).unwrap(), "a\nb\n");
        assert_eq!(outcome.tier, tier);
        println!("{tier:?}: {} ms, {:?}", outcome.wall_ms, outcome.privileges);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn input_of_any_length_is_fed() {
    for (tier, sandbox) in tiers().await {
        let dir = workspace();
        let mut spec = shell("head -c 6; wc -c", dir.path());
        spec.stdin = b"first\n".to_vec();
        let input = vec![b'x'; 3 << 20];
        let outcome = sandbox.feed(spec, input.as_slice(), &CancellationToken::new()).await.unwrap();
        assert_eq!(outcome.stdout.text(), format!("first\n{}\n", 3 << 20), "{tier:?}");
        // A command that doesn't read it ends as usual, though the input never does.
        let endless = tokio::io::repeat(b'x');
        let outcome = sandbox.feed(shell("exit 3", dir.path()), endless, &CancellationToken::new()).await.unwrap();
        assert_eq!(outcome.exit, Exit::Exited(3), "{tier:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn python_runs_without_network_or_other_files() {
    let script = r#"
import os, socket, json, tempfile, subprocess
def attempt(f):
    try:
        f(); return "possible"
    except OSError as e:
        return type(e).__name__
tempfile.TemporaryFile().write(b"x")
out = {
 "etc": attempt(lambda: open("/etc/passwd")),
 "shadow": attempt(lambda: open("/etc/shadow")),
 "root": attempt(lambda: os.listdir("/root")),
 "proc": attempt(lambda: open("/proc/%d/environ" % int(os.environ["OBSERVER"])).read()),
 "outside": attempt(lambda: open(os.environ["OUTSIDE"] + "/x", "w")),
 "link": attempt(lambda: open("link").read()),
 "dotdot": attempt(lambda: open("../outside/secret").read()),
 "chmod": attempt(lambda: os.chmod("/usr/bin", 0o777)),
 "inet": attempt(lambda: socket.socket(socket.AF_INET)),
 "inet6": attempt(lambda: socket.socket(socket.AF_INET6)),
 "unix": attempt(lambda: socket.socket(socket.AF_UNIX)),
 "netlink": attempt(lambda: socket.socket(socket.AF_NETLINK, socket.SOCK_RAW)),
 "loopback": attempt(lambda: socket.create_connection(("127.0.0.1", int(os.environ["PORT"])), 1)),
 "kill": attempt(lambda: os.kill(int(os.environ["OBSERVER"]), 0)),
 "env": sorted(os.environ),
 "child": subprocess.run(["echo", "fine"], capture_output=True, text=True).stdout,
}
print(json.dumps(out))
"#;
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    for (tier, sandbox) in tiers().await {
        let dir = workspace();
        let (workspace, outside) = (folder(dir.path().join("workspace")), folder(dir.path().join("outside")));
        std::fs::write(outside.join("secret"), "TOP").unwrap();
        std::os::unix::fs::symlink(outside.join("secret"), workspace.join("link")).unwrap();
        let mut spec = CommandSpec::new(["python3", "-c", script], &workspace);
        spec.env.insert("OUTSIDE".into(), outside.display().to_string());
        spec.env.insert("PORT".into(), port.to_string());
        spec.env.insert("OBSERVER".into(), std::process::id().to_string());
        let outcome = match sandbox.run(spec, &CancellationToken::new()).await {
            Err(SandboxError::NotExecutable { .. }) => return eprintln!("no python3 here"),
            other => other.unwrap(),
        };
        let got: serde_json::Value = serde_json::from_slice(&outcome.stdout.bytes)
            .unwrap_or_else(|_| panic!("{tier:?} {:?}: {}", outcome.exit, outcome.stderr.text()));
        for (name, value) in got.as_object().unwrap() {
            match name.as_str() {
                "child" => assert_eq!(value, "fine\n"),
                "env" => {
                    let extra: Vec<&str> = value.as_array().unwrap().iter().filter_map(|v| v.as_str()).collect();
                    assert_eq!(extra, ["HOME", "LANG", "OBSERVER", "OUTSIDE", "PATH", "PORT", "TMPDIR"], "{tier:?}");
                }
                _ => assert_ne!(value, "possible", "{tier:?} {name}"),
            }
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_read_only_workspace_stays_as_it_is() {
    for (tier, sandbox) in tiers().await {
        let dir = workspace();
        let file = dir.path().join("a.txt");
        std::fs::write(&file, "before").unwrap();
        let mut spec = shell(
            "cat a.txt; echo x > a.txt; echo x > b.txt; rm a.txt; chmod 777 a.txt; mv a.txt c.txt; ln -s / root",
            dir.path(),
        );
        spec.access = Access::ReadOnly;
        let mode = std::os::unix::fs::MetadataExt::mode(&file.metadata().unwrap());
        let outcome = run(&sandbox, spec).await;
        assert_eq!(outcome.stdout.text(), "before", "{tier:?} {}", outcome.stderr.text());
        assert_eq!(std::fs::read_to_string(&file).unwrap(), "before");
        assert_eq!(std::os::unix::fs::MetadataExt::mode(&file.metadata().unwrap()), mode, "{tier:?}");
        assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 1, "{tier:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn extra_paths_are_readable_only() {
    for (tier, sandbox) in tiers().await {
        let dir = workspace();
        let (workspace, shared) = (folder(dir.path().join("workspace")), folder(dir.path().join("shared")));
        std::fs::write(shared.join("a"), "shared").unwrap();
        let mut spec = shell("cat ../shared/a; echo x > ../shared/b", &workspace);
        spec.read_paths.push(shared.clone());
        let outcome = run(&sandbox, spec).await;
        assert_eq!(outcome.stdout.text(), "shared", "{tier:?} {}", outcome.stderr.text());
        assert!(!shared.join("b").exists(), "{tier:?}");
    }
}

/// Somebody exchanges a folder after it was checked: the program is not started.
#[tokio::test(flavor = "multi_thread")]
async fn a_mount_is_what_was_checked_or_nothing() {
    for (tier, sandbox) in tiers().await {
        let dir = workspace();
        let top = dir.path().canonicalize().unwrap();
        let workspace = folder(top.join("workspace"));
        let [shared, other] = ["shared", "other"].map(|name| folder(top.join(name)));
        std::fs::write(shared.join("a"), "shared").unwrap();
        std::fs::write(other.join("a"), "other").unwrap();
        let policy = HostPolicy::new(HostRules::default());
        for write in [false, true] {
            let mount = policy.open(&shared).unwrap().mount(write).unwrap();
            let mut spec = shell("cat ../shared/a; echo x > ../shared/b", &workspace);
            spec.mounts.push(mount);
            let outcome = run(&sandbox, spec.clone()).await;
            assert_eq!(outcome.stdout.text(), "shared", "{tier:?} {}", outcome.stderr.text());
            assert_eq!(shared.join("b").exists(), write, "{tier:?}");
            std::fs::rename(&shared, top.join("before")).unwrap();
            std::os::unix::fs::symlink(&other, &shared).unwrap();
            let refused = sandbox.run(spec.clone(), &CancellationToken::new()).await.unwrap_err();
            assert!(refused.to_string().contains("when it was checked"), "{tier:?} {refused}");
            std::fs::remove_file(&shared).unwrap();
            std::fs::rename(&other, &shared).unwrap();
            let refused = sandbox.run(spec, &CancellationToken::new()).await.unwrap_err();
            assert!(refused.to_string().contains("when it was checked"), "{tier:?} {refused}");
            std::fs::rename(&shared, &other).unwrap();
            std::fs::rename(top.join("before"), &shared).unwrap();
        }
        assert!(!other.join("b").exists(), "{tier:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn signals_and_errors_are_told_apart() {
    for (tier, sandbox) in tiers().await {
        let dir = workspace();
        assert_eq!(run(&sandbox, shell("exit 137", dir.path())).await.exit, Exit::Exited(137), "{tier:?}");
        if tier == Tier::Namespaces || sandbox.probe().await.landlock_abi >= 6 {
            assert_eq!(run(&sandbox, shell("kill -9 $$", dir.path())).await.exit, Exit::Signaled(9), "{tier:?}");
        }
        let fails = async |spec: CommandSpec| sandbox.run(spec, &CancellationToken::new()).await.unwrap_err();
        let missing = fails(CommandSpec::new(["no-such-program"], dir.path())).await;
        assert!(matches!(missing, SandboxError::NotExecutable { .. }), "{tier:?} {missing}");
        std::fs::write(dir.path().join("data"), "x").unwrap();
        let data = fails(CommandSpec::new(["./data"], dir.path())).await;
        assert!(matches!(data, SandboxError::NotExecutable { .. }), "{tier:?} {data}");
        for bad in [
            CommandSpec::new(Vec::<String>::new(), dir.path()),
            CommandSpec::new(["true"], "/"),
            CommandSpec::new(["true"], "/usr"),
            CommandSpec::new(["true"], dir.path().join("missing")),
            CommandSpec::new(["a\0b"], dir.path()),
            CommandSpec { cwd: "..".into(), ..CommandSpec::new(["true"], dir.path()) },
            CommandSpec { cwd: "/".into(), ..CommandSpec::new(["true"], dir.path()) },
            CommandSpec { read_paths: vec!["relative".into()], ..CommandSpec::new(["true"], dir.path()) },
        ] {
            let error = fails(bad.clone()).await;
            assert!(matches!(error, SandboxError::Invalid(_)), "{tier:?} {bad:?} {error}");
        }
    }
}

/// Gives a setting of the kernel the value that it has, and opens the memory of the supervisor.
const SET: &str = "v=$(cat /proc/sys/vm/swappiness); (echo $v > /proc/sys/vm/swappiness) 2>/dev/null && echo SETTING; (: < /proc/1/mem) 2>/dev/null && echo SETTING";

#[tokio::test(flavor = "multi_thread")]
async fn root_becomes_nobody_where_that_works() {
    for (tier, sandbox) in tiers().await {
        let dir = workspace();
        let outcome = run(&sandbox, shell("echo x > made; id -u; kill -0 1; echo $?", dir.path())).await;
        assert_eq!(outcome.exit, Exit::Exited(0), "{tier:?} {}", outcome.stderr.text());
        if sandbox.probe().await.root {
            assert_eq!(outcome.privileges, Privileges::Dropped, "{tier:?}");
            assert_eq!(outcome.stdout.text(), "65534\n1\n", "{tier:?}");
            let owner = std::os::unix::fs::MetadataExt::uid(&dir.path().join("made").metadata().unwrap());
            assert_eq!(owner, 65534, "{tier:?}");
            let private = tempfile::tempdir().unwrap();
            let result = sandbox
                .run(
                    shell(&format!("{SET}; echo x > made; exec cat /proc/self/status"), private.path()),
                    &CancellationToken::new(),
                )
                .await;
            match result {
                // Root's files, none of root's power.
                Ok(outcome) => {
                    assert_eq!(outcome.privileges, Privileges::RootWithoutCapabilities, "{tier:?}");
                    let text = outcome.stdout.text();
                    assert!(!text.contains("SETTING"), "{tier:?} {text}");
                    assert!(text.contains("CapEff:\t0000000000000000"), "{tier:?} {}", outcome.stderr.text());
                    assert!(private.path().join("made").exists(), "{tier:?}");
                }
                // Nothing would bound its processes, where no control group can be made.
                Err(error) => {
                    assert!(tier == Tier::Landlock && matches!(error, SandboxError::Unavailable { .. }), "{error}");
                }
            }
        } else {
            assert_eq!(outcome.privileges, Privileges::User);
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn many_at_once() {
    for (tier, sandbox) in tiers().await {
        let dir = workspace();
        let jobs: Vec<_> = (0..12)
            .map(|i| {
                let (sandbox, spec) = (sandbox.clone(), shell(&format!("echo {i}"), dir.path()));
                tokio::spawn(async move { sandbox.run(spec, &CancellationToken::new()).await.unwrap() })
            })
            .collect();
        for (i, job) in jobs.into_iter().enumerate() {
            assert_eq!(job.await.unwrap().stdout.text(), format!("{i}\n"), "{tier:?}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_broken_launcher_is_never_a_reason_to_run_unconfined() {
    let dir = workspace();
    for program in ["/nonexistent/helper", "/bin/true", "/bin/false"] {
        let sandbox = Sandbox::new(Helper { program: program.into(), prefix: Vec::new() });
        let error = sandbox.run(shell("echo x > written", dir.path()), &CancellationToken::new()).await.unwrap_err();
        assert!(matches!(error, SandboxError::Unavailable { .. }), "{program}: {error}");
        assert!(!dir.path().join("written").exists());
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_doctor_sees_every_barrier() {
    for (tier, sandbox) in tiers().await {
        let checks = sandbox.doctor().await;
        for check in &checks {
            println!("{tier:?} {} {}: {}", if check.ok { "ok  " } else { "FAIL" }, check.name, check.detail);
        }
        assert!(checks.len() > 15 && checks.iter().all(|c| c.ok), "{tier:?} {checks:#?}");
    }
    let none = Sandbox::new(Helper { program: "/bin/false".into(), prefix: Vec::new() }).doctor().await;
    assert!(!none[0].ok && none[0].hint.is_some());
}

/// Prints what confining costs; the bound is loose, since the machine is shared.
#[tokio::test(flavor = "multi_thread")]
async fn starting_is_quick() {
    for (tier, sandbox) in tiers().await {
        let dir = workspace();
        let mut taken = Vec::new();
        for _ in 0..20 {
            let started = Instant::now();
            let outcome = run(&sandbox, CommandSpec::new(["true"], dir.path())).await;
            assert_eq!(outcome.exit, Exit::Exited(0), "{tier:?}");
            taken.push(started.elapsed());
        }
        taken.sort();
        println!("{tier:?}: median {:?}, worst {:?}", taken[10], taken[19]);
        assert!(taken[10] < Duration::from_millis(500), "{tier:?} {taken:?}");
    }
}
