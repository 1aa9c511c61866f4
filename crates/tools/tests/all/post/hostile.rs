//! IMAP servers that hang, lie or send too much.

use super::world::bench;
use crate::fakes::Bench;
use serde_json::json;
use steward_core::ports::Tools as _;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpListener;

/// A server that answers each line that it gets with the next text; after the last one it is silent.
async fn server(answers: Vec<Vec<u8>>) -> (Bench, tokio::task::JoinHandle<()>) {
    let listener = TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
    let port = listener.local_addr().unwrap().port();
    let task = tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            let answers = answers.clone();
            tokio::spawn(async move {
                let mut buffer = [0; 4096];
                for answer in answers {
                    if stream.write_all(&answer).await.is_err() || stream.read(&mut buffer).await.is_err() {
                        return;
                    }
                }
                std::future::pending::<()>().await;
            });
        }
    });
    let settings = format!("[accounts.x]\nfrom = 'a@b.c'\nimap = 'imap+plain://127.0.0.1:{port}'\n");
    (bench(&settings).0, task)
}

fn lines(all: &[&str]) -> Vec<Vec<u8>> {
    all.iter().map(|text| text.as_bytes().to_vec()).collect()
}

#[tokio::test]
async fn a_silent_server_ends_with_the_call_or_the_run() {
    for answers in [vec![], lines(&["* OK hello\r\n"]), lines(&["* OK hello\r\n", "* 1 EXISTS\r\na1 OK\r\n"])] {
        let (mut bench, task) = server(answers).await;
        bench.scope.timeout_ms = 300;
        let error = bench.refused("mail_list", json!({})).await;
        assert!(error.contains("stopped"), "{error}");
        bench.scope.timeout_ms = 60_000;
        let stop = bench.scope.cancellation.clone();
        let stopping = tokio::spawn(async move {
            tokio::time::sleep(std::time::Duration::from_millis(200)).await;
            stop.cancel();
        });
        let error = bench.refused("mail_list", json!({})).await;
        assert!(error.contains("stopped"), "{error}");
        stopping.await.unwrap();
        task.abort();
    }
}

#[tokio::test]
async fn nonsense_and_floods_are_refused() {
    let flood = [b"* OK ".to_vec(), vec![b'x'; 3 << 20]].concat();
    for (answers, expect) in [
        (lines(&["* BYE go away\r\n"]), "go away"),
        (lines(&["HTTP/1.1 400 Bad Request\r\n"]), "no proper answer"),
        (lines(&["* OK hello\r\n", "* LIST {999999999}\r\n"]), "sends too much"),
        (
            lines(&[
                "* OK hello\r\n",
                "* LIST {99999999999999999999999}\r\na1 BAD no\r\n",
                "* LIST () \"/\" Other\r\na2 OK\r\n",
            ]),
            "there are Other",
        ),
        (vec![flood], "sends too much"),
        (
            lines(&[
                "* OK hello\r\n",
                "* 3 EXISTS\r\na1 OK\r\n",
                "* 1 FETCH (UID (( FLAGS\r\n* 2 FETCH\r\n* x\r\n* 3 FETCH (UID 9 FLAGS () BODY[] {13}\r\nFrom: z@y.x\r\n)\r\na2 OK\r\n",
            ]),
            "",
        ),
    ] {
        let (bench, task) = server(answers).await;
        if expect.is_empty() {
            let listed = bench.ok("mail_list", json!({})).await;
            assert!(listed.content.contains("[9] (no date)  z@y.x: (no subject)"), "{}", listed.content);
        } else {
            let error = bench.refused("mail_list", json!({"mailbox": "INBOX"})).await;
            assert!(error.contains(expect), "{expect}: {error}");
        }
        task.abort();
    }
    assert!(bench("").0.tools.catalogue().iter().all(|spec| spec.name != "mail_list"));
}
