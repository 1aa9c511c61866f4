//! Skills of the type ssh against a real sshd.

mod asks;
mod ends;
mod hosts;
mod server;

use crate::skills::world::World;
use serde_json::{Value, json};
use server::{PASSPHRASE, SUDO, Server, keygen, user};
use steward_core::credential::CredentialKind;
use steward_core::tool::ToolError;

#[tokio::test]
async fn a_command_runs_and_says_how_it_ended() {
    let server = Server::start();
    let world = server.world();
    let skill = world.add(server.skill(&json!(["printf", "%s-%s", "{{a}}", "end"]), json!({}), &json!({})));
    let output = world.ok(&skill, json!({"a": "begin"})).await;
    assert_eq!(output.content, "begin-end");
    let data = output.data.unwrap();
    assert_eq!((&data["exit"], &data["stdout"]), (&json!(0), &json!("begin-end")));
    assert_eq!(data["user"], user());
    let receipt = output.receipt.unwrap();
    assert_eq!(receipt.action, "ran");
    assert_eq!(receipt.object, format!("printf '%s-%s' begin end on 127.0.0.1:{}", server.port));
    assert_eq!(receipt.evidence.unwrap(), "exit status 0");
}

#[tokio::test]
async fn standard_input_and_both_outputs_are_carried() {
    let server = Server::start();
    let world = server.world();
    let command = json!(["sh", "-c", "tr a-z A-Z; echo fault >&2"]);
    let skill = world.add(server.skill(&command, json!({"stdin": "x={{a}}\n"}), &json!({})));
    let long = "word ".repeat(100_000);
    let data = world.ok(&skill, json!({"a": "quiet"})).await.data.unwrap();
    assert_eq!((&data["stdout"], &data["stderr"]), (&json!("X=QUIET\n"), &json!("fault\n")));
    let data = world.ok(&skill, json!({"a": long})).await.data.unwrap();
    assert_eq!(data["stdout_bytes"], json!(long.len() + 3));
}

#[tokio::test]
async fn an_exit_status_that_is_no_success_is_an_error() {
    let server = Server::start();
    let world = server.world();
    let command = json!(["sh", "-c", "echo out; echo why >&2; exit 3"]);
    let skill = world.add(server.skill(&command, json!({}), &json!({})));
    let message = world.refused(&skill, json!({})).await;
    assert!(message.contains("ended with exit status 3; it may have changed something"), "{message}");
    assert!(message.contains("out") && message.contains("why"), "{message}");
    let fine = world.add(server.skill(&command, json!({"success": [0, 3]}), &json!({"version": 2})));
    let output = world.ok(&fine, json!({})).await;
    assert_eq!(output.receipt.unwrap().evidence.unwrap(), "exit status 3");
    let killed = json!(["sh", "-c", "kill -TERM $$; sleep 5"]);
    let killed = world.add(server.skill(&killed, json!({}), &json!({"version": 3})));
    let message = world.refused(&killed, json!({})).await;
    assert!(message.contains("ended by signal TERM") || message.contains("exit status 143"), "{message}");
}

#[tokio::test]
async fn arguments_never_become_commands() {
    let server = Server::start();
    let world = server.world();
    let trap = server.path("trap");
    let trap = trap.display();
    let skill = world.add(server.skill(&json!(["printf", "%s|%s", "[{{a}}]", "{{b}}"]), json!({}), &json!({})));
    for bad in [
        format!("; touch {trap}"),
        format!("$(touch {trap})"),
        format!("`touch {trap}`"),
        format!("' ; touch {trap}; '"),
        format!("\" && touch {trap} #"),
        format!("a\ntouch {trap}\n"),
        format!("'\\''; touch {trap} '"),
        format!("> {trap}"),
        "*".to_owned(),
        "~root $HOME ${PATH} !! \\ \\\\ é 漢".to_owned(),
    ] {
        let output = world.ok(&skill, json!({"a": bad, "b": bad})).await;
        assert_eq!(output.data.unwrap()["stdout"], json!(format!("[{bad}]|{bad}")));
    }
    assert!(!server.path("trap").exists());
    let message = world.refused(&skill, json!({"a": "x", "b": "-v"})).await;
    assert!(message.contains("may not begin with `-`"), "{message}");
}

#[tokio::test]
async fn a_host_is_chosen_only_from_the_list() {
    let server = Server::start();
    let world = server.world();
    let config = json!({"host": "127.0.0.1", "hosts": ["localhost"]});
    let skill = world.add(server.skill(&json!(["true"]), config, &json!({})));
    world.ok(&skill, json!({"host": "127.0.0.1"})).await;
    let message = world.refused(&skill, json!({"host": "10.1.2.3"})).await;
    assert!(message.contains("none of the hosts of this skill; choose 127.0.0.1 or localhost"), "{message}");
}

#[tokio::test]
async fn a_wrong_key_is_refused_and_told_apart() {
    let server = Server::start();
    let world = server.world();
    keygen(&server.path("other"), "");
    world.credential("other", CredentialKind::SshKey, &[("username", &user()), ("private_key", &server.text("other"))]);
    let key = server.text("user");
    let locked = [("username", "x"), ("private_key", &key), ("passphrase", "wrong-passphrase")];
    world.credential("locked", CredentialKind::SshKey, &locked);
    world.credential("bare", CredentialKind::SshKey, &locked[..2]);
    for (version, (name, reason)) in [
        ("other", "refused the login of"),
        ("locked", "the passphrase may be wrong"),
        ("bare", "is encrypted; set the credential's passphrase"),
    ]
    .into_iter()
    .enumerate()
    {
        let rest = json!({"credential": {"name": name}, "version": version + 1});
        let skill = world.add(server.skill(&json!(["true"]), json!({}), &rest));
        let message = world.refused(&skill, json!({})).await;
        assert!(message.contains(reason), "{name}: {message}");
        clean(&server, &message);
    }
}

#[tokio::test]
async fn sudo_is_answered_once_and_only_by_its_own_prompt() {
    let server = Server::start();
    let world = server.world();
    let config = json!({"sudo": true, "stdin": "{{a}}"});
    let skill = world.add(server.skill(&json!(["cat"]), config, &json!({})));
    let output = world.ok(&skill, json!({"a": "for cat"})).await;
    assert_eq!(output.content, "for cat");
    assert_eq!(output.data.unwrap()["command"], "sudo -- cat");
    std::fs::write(server.path("password"), "another").unwrap();
    let message = world.refused(&skill, json!({"a": "for cat"})).await;
    assert!(message.contains("sudo refused the password"), "{message}");
    clean(&server, &message);
    // A login that needs no password: the program must not read it as its input.
    std::fs::write(server.path("free"), "").unwrap();
    let output = world.ok(&skill, json!({"a": "for cat"})).await;
    assert_eq!(output.content, "for cat");
    let preview = world.preview(&skill, json!({"a": "x"})).await;
    assert_eq!(preview.detail.unwrap(), "sudo -- cat\n\n[stdin]\nx");
}

#[tokio::test]
async fn another_host_is_reached_through_a_jump_host() {
    let server = Server::start();
    let world = server.world();
    let jump = format!("{}@127.0.0.1:{}", user(), server.port);
    let command = json!(["sh", "-c", "echo $SSH_CONNECTION"]);
    let skill = world.add(server.skill(&command, json!({"jump": jump}), &json!({})));
    let output = world.ok(&skill, json!({})).await;
    assert!(output.content.contains(&server.port.to_string()), "{}", output.content);
    let preview = world.preview(&skill, json!({})).await;
    assert!(preview.detail.unwrap().contains("[through] 127.0.0.1:"));
    let away = json!({"jump": jump, "port": 1});
    let away = world.add(server.skill(&command, away, &json!({"version": 2})));
    let message = world.refused(&away, json!({})).await;
    assert!(message.contains("nothing was run") && message.contains("did not let through"), "{message}");
}

#[tokio::test]
async fn no_secret_leaves() {
    let server = Server::start();
    let world = server.world();
    let script = json!(["sh", "-c", "cat FOLDER/user; echo PASSPHRASE SUDO; cat; echo SUDO >&2; exit ${0}", "{{a}}"]);
    let script: Value = serde_json::from_str(
        &script
            .to_string()
            .replace("FOLDER", &server.path("").display().to_string())
            .replace("PASSPHRASE", "canary\"\"-passphrase-7f3a")
            .replace("SUDO", "canary\"\"-sudo-91bd")
            .replace("\"\"", "''"),
    )
    .unwrap();
    let skill = world.add(server.skill(
        &script,
        json!({"stdin": "{{credential.passphrase}} {{credential.private_key}}"}),
        &json!({}),
    ));
    let output = world.ok(&skill, json!({"a": "0"})).await;
    clean(&server, &serde_json::to_string(&output).unwrap());
    assert!(output.content.contains("[secret server."), "the secrets were printed, and taken out: {}", output.content);
    clean(&server, &world.refused(&skill, json!({"a": "1"})).await);
    let preview = world.preview(&skill, json!({"a": "0"})).await;
    let text = serde_json::to_string(&preview).unwrap();
    assert!(text.contains("[credential.passphrase]"), "{text}");
    clean(&server, &text);
}

/// Whether a text is free of the key, its passphrase and sudo's password.
fn clean(server: &Server, text: &str) {
    assert!(!text.contains(PASSPHRASE) && !text.contains(SUDO), "{text}");
    let key = server.text("user");
    let body: Vec<&str> = key.lines().filter(|line| !line.starts_with("---")).collect();
    assert!(body.len() > 2 && !text.contains(&key));
    let compact = body.concat();
    assert!(!text.contains(&compact));
    assert!(!text.contains(body[1]), "{text}");
}

fn message(done: Result<steward_core::tool::ToolOutput, ToolError>) -> String {
    match done {
        Err(ToolError::RespondToModel(message)) => message,
        other => panic!("{other:?}"),
    }
}

fn longer(world: &mut World, ms: u64) {
    world.scope.timeout_ms = ms;
}
