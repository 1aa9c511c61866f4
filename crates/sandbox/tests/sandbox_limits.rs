//! What a command may not use up: time, processes, memory, output; and that nothing of it lives on.

use crate::sandbox_support;

use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::time::{Duration, Instant};

use sandbox_support::{run, shell, tiers, workspace};
use steward_sandbox::process::{CommandSpec, Exit, Tier, Tripwire};
use tokio_util::sync::CancellationToken;

#[tokio::test(flavor = "multi_thread")]
async fn time_is_up_and_nothing_lives_on() {
    for (tier, sandbox) in tiers().await {
        let dir = workspace();
        // A loop, and a child in a session of its own that keeps stdout open and writes as long as it lives.
        let mut spec = shell(
            "echo started; (setsid sh -c 'while :; do echo x >> alive; sleep 0.05; done' &) ; while :; do :; done",
            dir.path(),
        );
        spec.limits.wall = Duration::from_secs(3);
        let started = Instant::now();
        let outcome = run(&sandbox, spec).await;
        assert_eq!(outcome.exit, Exit::TimedOut, "{tier:?}");
        assert!(started.elapsed() < Duration::from_mins(5), "{tier:?} {:?}", started.elapsed());
        assert_eq!(outcome.stdout.text(), "started\n");
        still(&dir.path().join("alive"), tier).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn background_children_end_with_the_command() {
    for (tier, sandbox) in tiers().await {
        let dir = workspace();
        let started = Instant::now();
        let spec = shell(
            "(setsid sh -c 'while :; do echo x >> alive; sleep 0.05; done' &); while [ ! -s alive ]; do sleep 0.05; done; echo done",
            dir.path(),
        );
        let outcome = run(&sandbox, spec).await;
        assert_eq!((outcome.exit, outcome.stdout.text().as_ref()), (Exit::Exited(0), "done\n"), "{tier:?}");
        assert!(started.elapsed() < Duration::from_mins(5), "{tier:?}");
        still(&dir.path().join("alive"), tier).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn cancelling_and_dropping_kill_too() {
    for (tier, sandbox) in tiers().await {
        let dir = workspace();
        let script = "(setsid sh -c 'while :; do echo x >> alive; sleep 0.05; done' &); sleep 60";
        let alive = dir.path().join("alive");
        let begun = || async {
            while alive.metadata().map_or(0, |found| found.len()) == 0 {
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
        };
        let cancel = CancellationToken::new();
        let work = sandbox.run(shell(script, dir.path()), &cancel);
        let stop = async {
            begun().await;
            cancel.cancel();
        };
        let (outcome, ()) = tokio::join!(work, stop);
        assert_eq!(outcome.unwrap().exit, Exit::Cancelled, "{tier:?}");
        still(&alive, tier).await;
        std::fs::remove_file(&alive).unwrap();
        let never = CancellationToken::new();
        tokio::select! {
            ended = sandbox.run(shell(script, dir.path()), &never) => panic!("{tier:?}: it ended: {ended:?}"),
            () = begun() => {}
        }
        tokio::time::sleep(Duration::from_millis(300)).await;
        still(&alive, tier).await;
    }
}

/// The file exists and does not grow any more.
async fn still(file: &Path, tier: Tier) {
    let size = || file.metadata().map_or(0, |m| m.len());
    let before = size();
    assert!(before > 0, "{tier:?}: the background process never ran");
    tokio::time::sleep(Duration::from_millis(400)).await;
    assert_eq!(before, size(), "{tier:?}: a process is still writing");
}

#[tokio::test(flavor = "multi_thread")]
async fn floods_and_bombs_are_bounded() {
    for (tier, sandbox) in tiers().await {
        let dir = workspace();
        let mut flood = shell("head -c 20000000 /dev/zero; head -c 3000 /dev/zero >&2", dir.path());
        flood.limits.output_bytes = 1000;
        let outcome = run(&sandbox, flood).await;
        assert_eq!((outcome.stdout.bytes.len(), outcome.stdout.total), (1000, 20_000_000), "{tier:?}");
        assert!(outcome.stdout.truncated() && outcome.stderr.truncated());
        assert_eq!((outcome.stderr.bytes.len(), outcome.stderr.total), (1000, 3000));

        // Many processes, but a number that would not hurt if the sandbox failed.
        let mut forks = shell("i=0; while [ $i -lt 300 ]; do sleep 3 & i=$((i+1)); done; echo all; wait", dir.path());
        forks.limits.processes = 20;
        let outcome = run(&sandbox, forks).await;
        assert!(!outcome.stdout.text().contains("all"), "{tier:?} {:?}", outcome.exit);

        let mut cpu = shell("while :; do :; done", dir.path());
        cpu.limits.cpu_s = 1;
        assert_eq!(run(&sandbox, cpu).await.exit, Exit::LimitExceeded(Tripwire::Cpu), "{tier:?}");

        let mut file =
            shell("trap '' XFSZ; head -c 5000000 /dev/zero > big; exec head -c 5000000 /dev/zero > big2", dir.path());
        file.limits.file_bytes = 1_000_000;
        run(&sandbox, file).await;
        assert!(dir.path().join("big").metadata().unwrap().len() <= 1_000_000, "{tier:?}");

        let Ok(memory) = sandbox
            .run(bomb(dir.path(), "x = bytearray(800_000_000); print('got it')"), &CancellationToken::new())
            .await
        else {
            return eprintln!("no python3 here");
        };
        assert!(!memory.stdout.text().contains("got it"), "{tier:?}");
        assert!(memory.stderr.text().contains("MemoryError"), "{tier:?} {:?} {}", memory.exit, memory.stderr.text());
        // Each child is below the limit, together they are not.
        let many = "import os,time\nfor i in range(6):\n  if os.fork()==0:\n    x=bytearray(b'x')*120_000_000; time.sleep(8); os._exit(0)\ntime.sleep(8)";
        let outcome = run(&sandbox, bomb(dir.path(), many)).await;
        assert_eq!(outcome.exit, Exit::LimitExceeded(Tripwire::Memory), "{tier:?} {}", outcome.stderr.text());
    }
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "a real fork bomb: run it only inside a pids cgroup or on a machine to throw away"]
async fn a_real_fork_bomb_is_contained() {
    for (tier, sandbox) in tiers().await {
        for round in 0..10 {
            let dir = workspace();
            // Half of them in a folder that only its owner may use, where root cannot become nobody.
            if round % 2 == 1 {
                std::fs::set_permissions(dir.path(), std::fs::Permissions::from_mode(0o700)).unwrap();
            }
            let mut spec = shell("f() { f | f & }; f; while :; do :; done", dir.path());
            spec.limits.processes = 50;
            spec.limits.wall = Duration::from_secs(3);
            let started = Instant::now();
            let outcome = run(&sandbox, spec).await;
            println!("{tier:?} {:?}: {:?} after {:?}", outcome.privileges, outcome.exit, started.elapsed());
            assert!(started.elapsed() < Duration::from_mins(5), "{tier:?}");
        }
    }
}

fn bomb(workspace: &Path, script: &str) -> CommandSpec {
    let mut spec = CommandSpec::new(["python3", "-c", script], workspace);
    spec.limits.memory_bytes = 400_000_000;
    spec.limits.wall = Duration::from_secs(10);
    spec
}
