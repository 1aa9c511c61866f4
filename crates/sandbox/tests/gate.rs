//! A session whose only network is a listener that this side answers.

use crate::sandbox_support;

use std::time::Duration;

use sandbox_support::{helper, tiers, workspace};
use steward_sandbox::process::{CommandSpec, Exit, Limits, Sandbox, SandboxError, Session, Tier, Tripwire};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio_util::sync::CancellationToken;

fn bash(script: &str, workspace: &std::path::Path) -> CommandSpec {
    let mut spec = CommandSpec::new(["/bin/bash", "-c", script], workspace);
    spec.gate = true;
    spec
}

/// The tier with namespaces, where this machine has it.
async fn namespaces() -> Option<Sandbox> {
    let mut found = tiers().await.into_iter();
    found.find(|(tier, _)| *tier == Tier::Namespaces).map(|(_, sandbox)| sandbox)
}

async fn said(session: &mut Session, told: &str) -> String {
    let (mut input, mut output) = session.streams().unwrap();
    input.write_all(told.as_bytes()).await.unwrap();
    drop(input);
    let mut text = String::new();
    output.read_to_string(&mut text).await.unwrap();
    text
}

#[tokio::test]
async fn the_gate_is_all_that_is_reached() {
    let dir = workspace();
    let outside = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let other = outside.local_addr().unwrap().port();
    let script =
        "read -r port; exec 3<>/dev/tcp/127.0.0.1/$port; echo question >&3; read -r answer <&3; echo \"$answer\"
        read -r other; (exec 4<>/dev/tcp/127.0.0.1/$other) 2>/dev/null && echo reached || echo closed
        ls /proc/self/fd | wc -l";
    let Some(sandbox) = namespaces().await else {
        return;
    };
    let mut session = sandbox.open(bash(script, dir.path())).await.unwrap();
    let gate = session.gate().unwrap();
    assert!(session.gate().is_none());
    let port = gate.local_addr().unwrap().port();
    let answering = tokio::spawn(async move {
        let (mut stream, _) = gate.accept().await.unwrap();
        let mut asked = [0; 9];
        stream.read_exact(&mut asked).await.unwrap();
        stream.write_all(b"answer\n").await.unwrap();
        asked
    });
    let text = said(&mut session, &format!("{port}\n{other}\n")).await;
    // Its three streams, the connection, and the folder that `ls` reads.
    assert_eq!(text.split_whitespace().collect::<Vec<_>>(), ["answer", "closed", "5"]);
    assert_eq!(&answering.await.unwrap(), b"question\n");
    assert_eq!(session.ending().await.unwrap().0, Exit::Exited(0));
}

#[tokio::test]
async fn a_gate_is_for_sessions_in_namespaces() {
    let dir = workspace();
    let refused = Sandbox::new(helper()).only(Tier::Landlock).open(bash("true", dir.path())).await;
    assert!(matches!(refused, Err(SandboxError::Unavailable { .. })), "{refused:?}");
    let Some(sandbox) = namespaces().await else {
        return;
    };
    let refused = sandbox.run(bash("true", dir.path()), &CancellationToken::new()).await;
    assert!(matches!(refused, Err(SandboxError::Invalid(_))), "{refused:?}");
    let mut open = bash("true", dir.path());
    open.network = true;
    let refused = sandbox.open(open).await;
    assert!(matches!(refused, Err(SandboxError::Invalid(_))), "{refused:?}");
    let mut missing = bash("true", dir.path());
    missing.argv[0] = "/nowhere".to_owned();
    let mut session = sandbox.open(missing).await.unwrap();
    let ended = session.ending().await;
    assert!(matches!(ended, Err(SandboxError::NotExecutable { .. })), "{ended:?}");
}

#[tokio::test]
async fn the_memory_of_a_session_is_bounded() {
    let dir = workspace();
    let script = "text=x; while true; do text=$text$text; done";
    let mut spec = CommandSpec::new(["/bin/bash", "-c", script], dir.path());
    spec.limits = Limits { resident_bytes: Some(128 << 20), memory_bytes: 4 << 30, ..Limits::default() };
    let Some(sandbox) = namespaces().await else {
        return;
    };
    let mut session = sandbox.open(spec).await.unwrap();
    let ended = tokio::time::timeout(Duration::from_mins(5), session.ending()).await;
    assert_eq!(ended.unwrap().unwrap().0, Exit::LimitExceeded(Tripwire::Memory));
}
