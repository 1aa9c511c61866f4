//! A reply of a megabyte.

use crate::engine::bed::{request, service, until};
use crate::engine::outcome;
use steward_core::event::{EventBody, Mode};
use steward_testkit::model_server::{Behaviour, Reply, Script, ScriptedModelServer};

#[tokio::test(flavor = "multi_thread")]
async fn a_long_reply_is_read_to_its_end() {
    let dir = tempfile::tempdir().unwrap();
    let line = "The heron stands at the pond and waits, as it did before. ";
    let text = line.repeat(1024 * 1024 / line.len());
    let model = ScriptedModelServer::start(Script::of([Behaviour::Reply(Reply::text(text.clone()).pieces(4000, 0))]))
        .await
        .unwrap();
    let data = tempfile::tempdir().unwrap();
    let service = service(data.path(), &model).await;
    let begun = std::time::Instant::now();
    let run = service.start(request("Tell me of herons", Mode::Loop, dir.path())).await.unwrap();
    let mut all = Vec::new();
    // Longer than the other tests wait: a debug build on a busy machine.
    for _ in 0..6 {
        let state = service.state(run).await.unwrap();
        if state.is_finished() {
            break;
        }
        tokio::time::sleep(std::time::Duration::from_secs(5)).await;
    }
    println!("1 MB took {:?}", begun.elapsed());
    all.extend(until(&service, run, |body| matches!(body, EventBody::RunFinished { .. })).await);
    assert_eq!(outcome(&all).1.len(), text.trim_end().len());
    service.shutdown().await;
}
