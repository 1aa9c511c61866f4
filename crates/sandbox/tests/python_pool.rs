//! The pool of inline Python: nothing crosses from call to call, nothing is left behind, and what it costs.

use crate::python_support;

use std::collections::BTreeSet;
use std::io::{BufRead as _, BufReader};
use std::os::unix::fs::PermissionsExt as _;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use python_support::{describe, helper, limits, pools, run};
use serde_json::{Value, json};
use steward_sandbox::process::SandboxError;
use steward_sandbox::python::{FaultKind, PythonConfig, PythonLimits, PythonPool};
use tokio_util::sync::CancellationToken;

/// Every process below this one, as (pid, name).
fn below() -> BTreeSet<(u32, String)> {
    let mut parents = Vec::new();
    for entry in std::fs::read_dir("/proc").unwrap().flatten() {
        let Some(pid) = entry.file_name().to_str().and_then(|n| n.parse::<u32>().ok()) else {
            continue;
        };
        let Ok(stat) = std::fs::read_to_string(entry.path().join("stat")) else {
            continue;
        };
        let (head, tail) = stat.rsplit_once(')').unwrap();
        let name = head.split_once('(').unwrap().1.to_owned();
        let parent: u32 = tail.split_whitespace().nth(1).unwrap().parse().unwrap();
        parents.push((pid, parent, name));
    }
    let mut found = BTreeSet::new();
    let mut next = vec![std::process::id()];
    while let Some(parent) = next.pop() {
        for (pid, of, name) in &parents {
            if *of == parent && found.insert((*pid, name.clone())) {
                next.push(*pid);
            }
        }
    }
    found
}

async fn settled(expected: &BTreeSet<(u32, String)>) -> BTreeSet<(u32, String)> {
    let until = Instant::now() + Duration::from_mins(5);
    while below() != *expected && Instant::now() < until {
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    below()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_thousand_calls_in_parallel_leave_nothing_behind() {
    for (tier, pool) in pools().await {
        let nothing = below();
        let interpreter = pool.warm().await.unwrap();
        let warm = settled(&below()).await;
        assert!(warm.len() > nothing.len(), "{warm:?}");
        let started = Instant::now();
        let calls: Vec<_> = (0..1000)
            .map(|i| {
                let pool = pool.clone();
                tokio::spawn(async move {
                    // One in fifty is killed, one in fifty floods, one in fifty ends without a word.
                    let code = match i % 50 {
                        7 => "def run(p):\n    while True: pass",
                        13 => "def run(p):\n    for _ in range(10000): print('x' * 100)\n    return p['i']",
                        21 => "import json\ndef run(p): json.codecs.sys.modules['os']._exit(3)",
                        _ => "def run(p): return p['i']",
                    };
                    let limits = PythonLimits {
                        wall: Duration::from_millis(if i % 50 == 7 { 100 } else { 20_000 }),
                        ..limits()
                    };
                    (i, run(&pool, code, json!({ "i": i }), &limits).await)
                })
            })
            .collect();
        for call in calls {
            let (i, outcome) = call.await.unwrap();
            let expected = match i % 50 {
                7 => "timeout",
                13 => "truncated",
                21 => "blocked",
                _ => "ok",
            };
            assert_eq!(outcome.word(), expected, "{tier:?} {i} {}", describe(&outcome));
            if let Ok(value) = outcome.result {
                assert_eq!(value, json!(i), "an answer belongs to its call");
            }
        }
        println!("{tier:?}: {interpreter:?}; 1000 calls in {:?}", started.elapsed());
        assert_eq!(settled(&warm).await, warm, "{tier:?}");
        drop(pool);
        assert_eq!(settled(&nothing).await, nothing, "{tier:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_crosses_from_call_to_call() {
    let poison = r"
import json, re, math, collections, statistics, datetime, hashlib, base64
imp = json.dumps.__globals__['__builtins__']['__import__']
def run(p):
    sys, os, builtins, random = imp('sys'), imp('os'), imp('builtins'), imp('random')
    json.dumps = json.loads = lambda *a, **k: 'poisoned'
    json.JSONEncoder.encode = lambda *a: '7'
    math.sqrt = lambda x: 7
    builtins.len = lambda x: 7
    sys.modules['math'] = 7
    collections.left = 'here'
    re.left = os.left = 'here'
    re.purge()
    os.environ['LEFT'] = 'here'
    random.seed(1)
    sys.setrecursionlimit(50000)
    return [sys.modules['__main__'].__dict__.clear(), 7]
";
    let look = r"
import json, math, collections, re
imp = json.dumps.__globals__['__builtins__']['__import__']
def run(p):
    sys, os, random = imp('sys'), imp('os'), imp('random')
    return {'dumps': json.dumps([1]), 'sqrt': math.sqrt(4), 'len': len([1, 2]),
            'left': [hasattr(m, 'left') for m in (collections, re, os)],
            'env': sorted(os.environ), 'limit': sys.getrecursionlimit(),
            'random': random.random(), 'pid': os.getpid()}
";
    for (tier, pool) in pools().await {
        let mut seen = Vec::new();
        for _ in 0..3 {
            let poisoned = run(&pool, poison, json!({}), &limits()).await;
            assert!(poisoned.result.is_ok() || poisoned.word() == "blocked", "{}", describe(&poisoned));
            let outcome = run(&pool, look, json!({}), &limits()).await;
            let mut value = outcome.result.expect("a clean interpreter");
            let own = (value["pid"].take(), value["random"].take());
            assert!(!seen.contains(&own), "{tier:?}: a process and a random state of its own");
            seen.push(own);
            let expected = json!({"dumps": "[1]", "sqrt": 2.0, "len": 2, "left": [false, false, false],
                "env": ["TZ"], "limit": 1000, "random": null, "pid": null});
            assert_eq!(value, expected, "{tier:?}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn hostile_calls_do_not_disturb_their_neighbours() {
    let hostile = r#"
import json
def run(p):
    os = json.dumps.__globals__['__builtins__']['__import__']('os')
    for fd in range(64):
        try: os.write(fd, b'{"done":%d,"status":0,"late":false}' % p['i'])
        except OSError: pass
        try: os.write(fd, b'{"ok":["forged"]}')
        except OSError: pass
    for pid in range(1, 200):
        try: os.kill(pid, 9)
        except OSError: pass
    while True: pass
"#;
    let honest = "def run(p): return sum(range(p['i']))";
    for (tier, pool) in pools().await {
        let mut calls = Vec::new();
        for i in 0..40u64 {
            let pool = pool.clone();
            calls.push(tokio::spawn(async move {
                let wall = Duration::from_millis(if i % 2 == 0 { 300 } else { 20_000 });
                let limits = PythonLimits { wall, ..limits() };
                let code = if i % 2 == 0 { hostile } else { honest };
                (i, run(&pool, code, json!({ "i": i }), &limits).await)
            }));
        }
        for call in calls {
            let (i, outcome) = call.await.unwrap();
            if i % 2 == 0 {
                assert_eq!(outcome.word(), "timeout", "{tier:?} {}", describe(&outcome));
            } else {
                assert_eq!(outcome.result, Ok(json!((0..i).sum::<u64>())), "{tier:?}");
            }
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn cancelling_and_dropping_kill() {
    let endless = "def run(p):\n    while True: pass";
    for (tier, pool) in pools().await {
        pool.warm().await.unwrap();
        let warm = settled(&below()).await;
        let cancel = CancellationToken::new();
        let soon = cancel.clone();
        tokio::spawn(async move {
            tokio::time::sleep(Duration::from_millis(200)).await;
            soon.cancel();
        });
        let long = PythonLimits { wall: Duration::from_mins(1), ..limits() };
        let outcome = pool.run(endless, &Value::Null, &long, &cancel).await.unwrap();
        assert_eq!(outcome.result.unwrap_err().kind, FaultKind::Cancelled, "{tier:?}");
        let never = CancellationToken::new();
        let call = pool.run(endless, &Value::Null, &long, &never);
        assert!(tokio::time::timeout(Duration::from_millis(200), call).await.is_err());
        assert_eq!(settled(&warm).await, warm, "{tier:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_lost_interpreter_is_replaced() {
    for (tier, pool) in pools().await {
        let nothing = below();
        let echo = "def run(p): return p";
        assert_eq!(run(&pool, echo, json!(1), &limits()).await.result, Ok(json!(1)));
        for (pid, _) in below().difference(&nothing) {
            let pid = rustix::process::Pid::from_raw(pid.cast_signed()).unwrap();
            let _ = rustix::process::kill_process(pid, rustix::process::Signal::KILL);
        }
        // A call that reaches it while it ends is told so; this is about the next one.
        assert_eq!(settled(&nothing).await, nothing, "{tier:?}");
        assert_eq!(run(&pool, echo, json!(2), &limits()).await.result, Ok(json!(2)), "{tier:?}");
        drop(pool);
        assert_eq!(settled(&nothing).await, nothing, "{tier:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn errors_say_what_to_do() {
    for (_, pool) in pools().await {
        let fault = async |code: &str| {
            let outcome = run(&pool, code, json!({}), &limits()).await;
            outcome.result.unwrap_err()
        };
        let raised = fault("def run(p):\n    x = 1\n    return p['missing']").await;
        assert_eq!((raised.kind, raised.line), (FaultKind::Raised, Some(3)), "{raised}");
        let refused = fault("import os\ndef run(p): return 1").await;
        assert_eq!(refused.kind, FaultKind::ImportRefused);
        assert!(refused.hint.contains("statistics") && refused.message.contains("os"), "{refused}");
        assert_eq!(fault("def run(p: return").await.kind, FaultKind::Syntax);
        assert_eq!(fault("def other(p): return 1").await.kind, FaultKind::NoEntry);
        assert_eq!(fault("def run(p): return {1}").await.kind, FaultKind::ResultNotJson);
        assert_eq!(fault("def run(p): return open('a')").await.kind, FaultKind::Denied);
        assert_eq!(fault("def run(p): return 'x' * 9000000").await.kind, FaultKind::Output);
        let long = fault(&"#".repeat((256 << 10) + 1)).await;
        assert_eq!(long.kind, FaultKind::Input);
        assert!(long.message.contains("code has 262145") && long.message.contains("262144"), "{long}");
        let large = json!("x".repeat(8 << 20));
        let large = run(&pool, "def run(p): return 1", large, &limits()).await;
        assert_eq!((large.word(), large.result.unwrap_err().kind), ("blocked", FaultKind::Input));
    }
    for interpreter in ["/nonexistent/python3", "/bin/true", "/etc/passwd"] {
        let config = PythonConfig { interpreter: Some(interpreter.into()), ..PythonConfig::default() };
        let error = PythonPool::new(helper(), config).warm().await.unwrap_err();
        assert!(matches!(error, SandboxError::Unavailable { .. }), "{interpreter}: {error}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn errors_are_told_whole_and_once() {
    let deep = "import collections
def run(p):
    t = lambda: collections.defaultdict(t)
    d = root = t()
    for _ in range(100_000): d = d['k']
    raise ValueError('deep')";
    let line = "def run(p):
    try: 1/0
    except ZeroDivisionError as e: t = e.__traceback__
    raise ValueError('where').with_traceback(type(t)(None, t.tb_frame, 0, -7))";
    let raised = [
        ("def run(p): raise ValueError('bad \\ud800 text')", r"ValueError: bad \ud800 text (line 1)"),
        (line, "ValueError: where (line 0)"),
        // Freeing what it has built crashes, and comes after its answer.
        (deep, "ValueError: deep (line 6)"),
    ];
    for (_, pool) in pools().await {
        let told = async |code: &str| {
            let outcome = run(&pool, code, json!({}), &limits()).await;
            (outcome.result.unwrap_err(), outcome.stderr)
        };
        for (code, message) in raised {
            let (fault, _) = told(code).await;
            assert_eq!((fault.kind, fault.message.as_str()), (FaultKind::Raised, message));
        }
        let (fault, _) = told("def run(p): __import__('\\ud800')").await;
        assert_eq!(fault.kind, FaultKind::ImportRefused, "{fault}");
        let (fault, _) = told("x = 1\ndef run(p) return").await;
        assert_eq!(fault.message, "SyntaxError: expected ':' (line 2)", "{fault}");
        for code in [
            "async def run(p): return 1",
            "async def run(p): yield 1",
            "def run(): return 1",
            "def run(a, b): return 1",
            "def run(*, payload): return 1",
        ] {
            let (fault, stderr) = told(code).await;
            assert_eq!(fault.kind, FaultKind::NoEntry, "{code}: {fault}");
            assert!(fault.hint.contains("one parameter"), "{fault}");
            assert_eq!(stderr, "", "{code}");
        }
        let inside = "def f(a): pass\ndef run(p): f()";
        assert_eq!(told(inside).await.0.kind, FaultKind::Raised);
    }
}

/// A killed program cannot remove anything any more: it runs in a process of its own here, which is this test again.
#[tokio::test(flavor = "multi_thread")]
async fn a_killed_program_leaves_no_folder() {
    const ASIDE: &str = "STEWARD_TEST_ASIDE";
    if std::env::var_os(ASIDE).is_some() {
        let pools = pools().await;
        for (tier, pool) in &pools {
            let outcome = run(pool, "def run(p): return p", json!(1), &limits()).await;
            assert_eq!(outcome.result, Ok(json!(1)), "{tier:?}");
        }
        println!("all are warm");
        return std::future::pending().await;
    }
    let folder = tempfile::tempdir().unwrap();
    let open = std::fs::Permissions::from_mode(0o755);
    std::fs::set_permissions(folder.path(), open).unwrap();
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "python_pool::a_killed_program_leaves_no_folder", "--nocapture"])
        .env(ASIDE, "1")
        .env("TMPDIR", folder.path())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let warm = lines.any(|line| line.unwrap().contains("all are warm"));
    child.kill().unwrap();
    child.wait().unwrap();
    assert!(warm);
    let left: Vec<_> = std::fs::read_dir(folder.path())
        .unwrap()
        .map(|e| e.unwrap().file_name().into_string().unwrap())
        .filter(|name| name.starts_with("sandbox-python-"))
        .collect();
    assert!(left.is_empty(), "{left:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_doctor_tries_the_real_thing() {
    for (tier, pool) in pools().await {
        let checks = pool.doctor().await;
        assert!(checks.len() > 25, "{checks:?}");
        for check in checks {
            println!("{tier:?} {}: {}", check.name, check.detail);
            assert!(check.ok, "{tier:?} {check:?}");
        }
    }
}

/// Prints what a call costs, cold and warm.
#[tokio::test(flavor = "multi_thread")]
async fn what_it_costs() {
    let code = include_str!("data/python-attempts/00_ok_all9.py");
    for (tier, pool) in pools().await {
        let started = Instant::now();
        assert_eq!(run(&pool, code, json!({}), &limits()).await.word(), "ok");
        let cold = started.elapsed();
        let mut taken: Vec<Duration> = Vec::new();
        for _ in 0..100 {
            let started = Instant::now();
            assert_eq!(run(&pool, code, json!({}), &limits()).await.word(), "ok");
            taken.push(started.elapsed());
        }
        taken.sort();
        let interpreter = pool.warm().await.unwrap();
        let resident: u64 = below()
            .iter()
            .filter_map(|(pid, name)| Some((name, std::fs::read_to_string(format!("/proc/{pid}/statm")).ok()?)))
            .filter(|(name, _)| name.starts_with("python"))
            .filter_map(|(_, statm)| statm.split_whitespace().nth(1)?.parse::<u64>().ok())
            .sum();
        println!(
            "{tier:?}: cold {cold:?} (start {} ms), later median {:?}, 95% {:?}; {} KiB resident",
            interpreter.start_ms,
            taken[50],
            taken[95],
            resident * 4
        );
    }
}
