//! Logins by password and by questions. OpenSSH does these by PAM only, so the server is the library's own.

use super::server::keygen;
use crate::skills::world::{World, skill};
use russh::keys::{HashAlg, PublicKey};
use russh::server::{Auth, ChannelOpenHandle, Config, Handler, Msg, Response, Session};
use russh::{Channel, ChannelId, MethodKind, MethodSet};
use serde_json::json;
use std::sync::Arc;
use steward_core::credential::CredentialKind;
use steward_tools::skills::{FileHostKeys, SshExecutor, trust_host};
use tokio::net::TcpListener;

const PASSWORD: &str = "canary-password-55c1";

/// Lets `ann` in by password, `ben` by a question.
struct Door;

impl Handler for Door {
    type Error = russh::Error;

    async fn auth_password(&mut self, user: &str, password: &str) -> Result<Auth, Self::Error> {
        Ok(match (user, password) {
            ("ann", PASSWORD) => Auth::Accept,
            _ => Auth::Reject {
                proceed_with_methods: Some(MethodSet::from([MethodKind::KeyboardInteractive].as_slice())),
                partial_success: false,
            },
        })
    }

    async fn auth_keyboard_interactive<'a>(
        &'a mut self,
        user: &str,
        _: &str,
        response: Option<Response<'a>>,
    ) -> Result<Auth, Self::Error> {
        let Some(mut answers) = response else {
            return Ok(Auth::Partial {
                name: "".into(),
                instructions: "".into(),
                prompts: vec![("Colour: ".into(), true), ("Password: ".into(), false)].into(),
            });
        };
        let right = answers.next().is_some_and(|shown| shown.is_empty())
            && answers.next().is_some_and(|hidden| hidden == PASSWORD.as_bytes());
        Ok(if user == "ben" && right { Auth::Accept } else { Auth::reject() })
    }

    async fn channel_open_session(
        &mut self,
        _: Channel<Msg>,
        reply: ChannelOpenHandle,
        _: &mut Session,
    ) -> Result<(), Self::Error> {
        reply.accept().await;
        Ok(())
    }

    async fn exec_request(
        &mut self,
        channel: ChannelId,
        data: &[u8],
        session: &mut Session,
    ) -> Result<(), Self::Error> {
        session.channel_success(channel)?;
        session.data(channel, data.to_vec())?;
        session.exit_status_request(channel, 0)?;
        session.eof(channel)?;
        session.close(channel)
    }
}

#[tokio::test]
async fn a_password_answers_servers_that_take_it_and_servers_that_ask() {
    let folder = tempfile::tempdir().unwrap();
    keygen(&folder.path().join("host"), "");
    let key = std::fs::read_to_string(folder.path().join("host")).unwrap();
    let key = russh::keys::decode_secret_key(&key, None).unwrap();
    let fingerprint = PublicKey::from(key.clone()).fingerprint(HashAlg::Sha256).to_string();
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    let config =
        Arc::new(Config { keys: vec![key], auth_rejection_time: std::time::Duration::ZERO, ..Config::default() });
    tokio::spawn(async move {
        while let Ok((socket, _)) = listener.accept().await {
            let config = config.clone();
            tokio::spawn(async move {
                if let Ok(session) = russh::server::run_stream(config, socket, Door).await {
                    let _ = session.await;
                }
            });
        }
    });
    let hosts = folder.path().join("hosts.json");
    trust_host(&hosts, "127.0.0.1", port, &fingerprint).unwrap();
    let world = World::new(vec![Arc::new(SshExecutor::new(Arc::new(FileHostKeys::new(hosts))))]);
    for (version, (user, password)) in
        [("ann", PASSWORD), ("ben", PASSWORD), ("ben", "canary-wrong-0e9d"), ("eve", PASSWORD)].into_iter().enumerate()
    {
        let name = format!("login-{version}");
        world.credential(&name, CredentialKind::Password, &[("username", user), ("password", password)]);
        let skill = world.add(skill(
            1,
            "remote",
            json!({
                "type": "ssh", "version": version + 1, "credential": {"name": name},
                "config": {"host": "127.0.0.1", "port": port, "command": ["uptime"]},
            }),
        ));
        let text = if version < 2 {
            world.ok(&skill, json!({})).await.content
        } else {
            world.refused(&skill, json!({})).await
        };
        let expected = if version < 2 { "uptime" } else { "refused the login of" };
        assert!(text.contains(expected) && !text.contains("canary"), "{user}: {text}");
    }
}
