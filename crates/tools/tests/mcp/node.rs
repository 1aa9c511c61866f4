//! A server of Node, as configurations of other programs name it, and whose folders it has.

use crate::world::{TENANT, World, user};
use serde_json::json;
use std::collections::BTreeMap;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use steward_core::mcp::McpTransport;
use steward_sandbox::process::Tier;

fn open_to_all(folder: &Path) {
    std::fs::set_permissions(folder, std::fs::Permissions::from_mode(0o777)).unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_of_node_starts_reads_and_writes_on_each_tier() {
    let packages = steward_testkit::set_up("clients-node");
    const SERVER: &str = "node_modules/@modelcontextprotocol/server-filesystem/dist/index.js";
    assert!(packages.join(SERVER).exists(), "run: scripts/setup.sh test");
    let own = steward_testkit::cache().join("node");
    let node = own.join("bin/node");
    let mut tried = 0;
    for tier in [Tier::Namespaces, Tier::Landlock] {
        let world = World::with(|config| config.sandbox = config.sandbox.clone().only(tier));
        let dir = tempfile::tempdir().unwrap();
        open_to_all(dir.path());
        let notes = dir.path().join("notes");
        std::fs::create_dir(&notes).unwrap();
        open_to_all(&notes);
        std::fs::write(notes.join("a.txt"), "from outside").unwrap();
        // The cache may lie where only root may go, and the server is nobody then.
        let copy = dir.path().join("packages");
        let copied = std::process::Command::new("cp").arg("-r").args([&packages, &copy]).status();
        assert!(copied.unwrap().success());
        let script = copy.join(SERVER);
        let text = |path: &Path| path.to_str().unwrap().to_owned();
        let mut read = vec![text(&copy)];
        let mut program = "node".to_owned();
        if node.exists() {
            read.push(text(&own));
            program = text(&node);
        }
        world
            .server(McpTransport::Stdio {
                command: vec![program, text(&script), text(&notes)],
                secret_variable: None,
                env: BTreeMap::new(),
                secrets: BTreeMap::new(),
                network: false,
                read,
                write: vec![text(&notes)],
            })
            .await;
        let seen = world.hub.check(TENANT, world.saved().await.id, Some(user(1))).await.unwrap();
        if let Some(error) = seen.error {
            assert!(error.contains("cannot be confined on this machine"), "{tier:?}: {error}");
            eprintln!("{tier:?} is not available here: {error}");
            continue;
        }
        tried += 1;
        world.accept_all().await;
        let said = world.call("read_text_file", json!({"path": notes.join("a.txt")})).await.unwrap();
        assert!(said.content.contains("from outside"), "{tier:?} {}", said.content);
        let written = json!({"path": notes.join("b.txt"), "content": "by the server"});
        world.call("write_file", written).await.unwrap();
        assert_eq!(std::fs::read_to_string(notes.join("b.txt")).unwrap(), "by the server", "{tier:?}");
    }
    assert!(tried > 0, "no tier can be used here");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_folder_of_the_system_is_not_given_to_a_server_to_change() {
    let world = World::new();
    let McpTransport::Stdio { command, read, .. } = World::stdio(&[]) else { unreachable!() };
    for folder in ["/etc", "/usr/share", "/"] {
        world
            .server(McpTransport::Stdio {
                command: command.clone(),
                secret_variable: None,
                env: BTreeMap::new(),
                secrets: BTreeMap::new(),
                network: false,
                read: read.clone(),
                write: vec![folder.to_owned()],
            })
            .await;
        let seen = world.hub.check(TENANT, world.saved().await.id, Some(user(1))).await.unwrap();
        let error = seen.error.unwrap();
        assert!(error.contains("belongs to the system"), "{error}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_server_keeps_for_one_user_is_out_of_the_reach_of_another() {
    let world = World::new();
    let mut server = world.server(World::stdio(&[])).await;
    server.per_user = true;
    world.save(&server).await;
    for number in [1, 2] {
        let seen = world.hub.check(TENANT, server.id, Some(user(number))).await.unwrap();
        assert_eq!(seen.error, None);
    }
    let of = |number| world.folder.path().join("t.users").join(user(number).to_string());
    assert!(of(1).is_dir() && of(2).is_dir());
    assert!(!world.folder.path().join("t").exists());
    assert_eq!(world.hub.connections(), 2);
    world.hub.forget_user(TENANT, user(1)).await.unwrap();
    assert!(!of(1).exists() && of(2).is_dir());
    assert_eq!(world.hub.connections(), 1);
}
