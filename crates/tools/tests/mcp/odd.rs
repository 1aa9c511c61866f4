//! Servers that page without end, speak the newest revision only, or aren't what they should be.

use crate::world::{Served, TENANT, World, refusal};
use serde_json::json;
use steward_core::mcp::{McpServer, McpTransport};

async fn checked(world: &World, transport: McpTransport) -> McpServer {
    let server = world.server(transport).await;
    world.hub.check(TENANT, server.id, None).await.unwrap()
}

fn names(server: &McpServer) -> Vec<&str> {
    server.tools.iter().map(|tool| tool.name.as_str()).collect()
}

/// The odd server over stdio.
fn local(case: &str) -> McpTransport {
    let McpTransport::Stdio { mut command, secret_variable, env, secrets, network, read, write } = World::stdio(&[])
    else {
        unreachable!()
    };
    command[1] = crate::world::script("odd.py");
    command.extend([case.to_owned(), "--stdio".to_owned()]);
    McpTransport::Stdio { command, secret_variable, env, secrets, network, read, write }
}

#[tokio::test(flavor = "multi_thread")]
async fn paging_without_end_ends_with_the_tools_that_are_there() {
    for case in ["same_cursor", "new_cursors"] {
        let python = Served::start("odd.py", &[case]);
        let world = World::new();
        let seen = checked(&world, python.transport()).await;
        assert_eq!((seen.error.as_deref(), names(&seen)), (None, vec!["one", "two"]), "{case}");
        world.accept_all().await;
        assert_eq!(world.call("one", json!({})).await.unwrap().content, "did one", "{case}");
    }
    let python = Served::start("odd.py", &["pages"]);
    let seen = checked(&World::new(), python.transport()).await;
    assert_eq!((seen.error.as_deref(), seen.tools.len()), (None, 60), "a page may hold one tool");
}

#[tokio::test(flavor = "multi_thread")]
async fn two_tools_of_one_name_are_refused_and_the_others_work() {
    let python = Served::start("odd.py", &["twins"]);
    let world = World::new();
    let seen = checked(&world, python.transport()).await;
    assert_eq!((seen.error.as_deref(), names(&seen)), (None, vec!["one", "twin"]));
    let twin = &seen.tools[1];
    assert!(seen.tools[0].unusable.is_none() && twin.unusable.as_ref().unwrap().contains("several different tools"));
    let refused = world.hub.accept(TENANT, seen.id, "twin", &twin.hash(), "ada").await;
    assert!(refused.unwrap_err().to_string().contains("can't be accepted"));
}

#[tokio::test(flavor = "multi_thread")]
async fn the_newest_revision_is_spoken_without_a_handshake() {
    let python = Served::start("odd.py", &["newest"]);
    for transport in [python.transport(), local("newest")] {
        let world = World::new();
        let seen = checked(&world, transport).await;
        assert_eq!((seen.error.as_deref(), names(&seen)), (None, vec!["one"]));
        world.accept_all().await;
        // Its question for a person is declined, its state handed back.
        assert_eq!(world.call("one", json!({})).await.unwrap().content, "opaque, decline");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_breaks_at_what_it_does_not_know_is_asked_in_the_old_way() {
    let python = Served::start("odd.py", &["crashes"]);
    let seen = checked(&World::new(), python.transport()).await;
    assert_eq!((seen.error.as_deref(), names(&seen)), (None, vec!["one"]));
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_no_server_of_this_transport_is_told_in_a_sentence() {
    for (case, words) in [("old_sse", "older SSE transport"), ("website", "is this the address of its MCP endpoint?")] {
        let python = Served::start("odd.py", &[case]);
        let error = checked(&World::new(), python.transport()).await.error.unwrap();
        assert!(error.contains(words), "{error}");
        assert!(!error.contains("::") && !error.contains("DOCTYPE") && error.contains("404"), "{error}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_tool_that_runs_as_a_task_only_is_not_accepted() {
    let (documents, events) = (Served::start("odd.py", &["tasks"]), Served::start("odd.py", &["tasks_as_events"]));
    for transport in [local("tasks"), documents.transport(), events.transport()] {
        let world = World::new();
        let seen = checked(&world, transport).await;
        assert_eq!((seen.error.as_deref(), names(&seen)), (None, vec!["plain", "long", "both"]));
        let unusable: Vec<bool> = seen.tools.iter().map(|tool| tool.unusable.is_some()).collect();
        assert_eq!(unusable, [false, true, false], "{:?}", seen.transport);
        let refused = world.hub.accept(TENANT, seen.id, "long", &seen.tools[1].hash(), "ada").await;
        assert!(refused.unwrap_err().to_string().contains("runs as a task only"));
    }

    let world = World::new();
    let python = Served::start("odd.py", &["tasks_unmarked"]);
    checked(&world, python.transport()).await;
    world.accept_all().await;
    let error = refusal(world.call("one", json!({})).await);
    assert!(error.contains("as a task only, which Steward doesn't support"), "{error}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_broken_tool_leaves_the_others_and_is_named_with_the_reason() {
    let python = Served::start("odd.py", &["broken_tools"]);
    for transport in [local("broken_tools"), python.transport()] {
        let world = World::new();
        let seen = checked(&world, transport).await;
        assert_eq!(seen.error, None);
        assert_eq!(names(&seen), ["one", "missing", "null", "true", "number", "two"]);
        let reasons: Vec<&str> = seen.tools.iter().map(|tool| tool.unusable.as_deref().unwrap_or_default()).collect();
        assert!(reasons[1].contains("has no `inputSchema`") && reasons[2].contains("is null"), "{reasons:?}");
        assert!(reasons[3].contains("is true") && reasons[4].contains("definition"), "{reasons:?}");
        assert_eq!((reasons[0], reasons[5]), ("", ""));
        let refused = world.hub.accept(TENANT, seen.id, "missing", &seen.tools[1].hash(), "ada").await;
        assert!(refused.unwrap_err().to_string().contains("inputSchema"));
        world.hub.accept(TENANT, seen.id, "one", &seen.tools[0].hash(), "ada").await.unwrap();
    }
}
