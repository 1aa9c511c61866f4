use crate::conformance::bed::Bed;
use crate::conformance::fixtures::{
    LATER, NOW, TENANT, append, conversation, ended, header, id, row, started_in, status, text,
};
use std::sync::Arc;
use std::time::Duration;
use steward_core::message::Message;
use steward_core::ports::{
    Conversation, ConversationFilter, Conversations, RunRow, RunStatus, RunStore, SideWrite, StoreError,
};
use steward_core::{ConversationId, RunId, TenantId, UserId};
use tokio::task::JoinSet;
use uuid::Uuid;

const OTHER: TenantId = TenantId(Uuid::from_u128(2));

pub async fn conversations_and_messages(bed: Bed) {
    let store = bed.store();
    let mut made = Vec::new();
    for number in 0..3 {
        let conversation =
            Conversation { user: (number == 1).then(|| UserId(id())), ..header(&format!("talk {number}")) };
        store.create_conversation(TENANT, &conversation).await.unwrap();
        made.push(conversation);
    }
    let again = store.create_conversation(TENANT, &made[0]).await;
    assert!(matches!(again, Err(StoreError::Conflict(_))));
    assert_eq!(store.conversation(TENANT, made[1].id).await.unwrap(), made[1]);
    let two = ConversationFilter { limit: 2, ..ConversationFilter::default() };
    let page = store.conversations(TENANT, two.clone()).await.unwrap();
    assert_eq!((page.items, page.more), (vec![made[2].clone(), made[1].clone()], true));
    let rest = ConversationFilter { before: Some(made[1].id), ..two };
    let page = store.conversations(TENANT, rest).await.unwrap();
    assert_eq!((page.items, page.more), (vec![made[0].clone()], false));
    for missing in [store.messages(TENANT, ConversationId(id())).await, store.messages(OTHER, made[0].id).await] {
        assert!(matches!(missing, Err(StoreError::NotFound(_))));
    }

    let conversation = made[0].id;
    let says = |messages| vec![SideWrite::Messages(conversation, messages)];
    let question = Message::user("How many?");
    let lease = store
        .create_run(
            RunRow { conversation: Some(conversation), ..row() },
            vec![text("first")],
            says(vec![question.clone()]),
            "a",
            LATER,
        )
        .await
        .unwrap();
    let answers = vec![Message::tool("c1", "3"), Message::assistant("Three.")];
    store.commit(append(&lease, 1, vec![], says(answers.clone()))).await.unwrap();
    let said = store.messages(TENANT, conversation).await.unwrap();
    assert_eq!(said, [question, answers[0].clone(), answers[1].clone()]);
    assert!(store.messages(TENANT, made[1].id).await.unwrap().is_empty());
    let moved = store.conversation(TENANT, conversation).await.unwrap();
    assert_eq!((moved.created_at, moved.updated_at), (NOW, LATER));
}

pub async fn a_conversation_has_one_run_at_a_time(bed: Bed) {
    let store = bed.store();
    let talk = conversation(&store).await;
    let first = started_in(&store, talk).await;
    let next = RunRow { conversation: Some(talk), ..row() };
    for now in [RunStatus::Running, RunStatus::Parked] {
        let side = vec![status(now)];
        store.commit(append(&first, 1, vec![], side)).await.unwrap();
        let busy = store.create_run(next.clone(), vec![text("second")], vec![], "a", LATER).await;
        assert!(matches!(busy, Err(StoreError::Busy { run }) if run == first.run), "{busy:?}");
    }
    let gone = store.run(TENANT, next.id).await;
    assert!(matches!(gone, Err(StoreError::NotFound(_))), "nothing is left of it");
    ended(&store, &first, talk, &["hi", "hello"]).await;
    store.create_run(next, vec![text("second")], vec![], "a", LATER).await.unwrap();
    let nowhere = RunRow { conversation: Some(ConversationId(id())), ..row() };
    let nowhere = store.create_run(nowhere, vec![text("third")], vec![], "a", LATER).await;
    assert!(matches!(nowhere, Err(StoreError::NotFound(_))), "{nowhere:?}");

    // Of many at once, on two nodes where there can be two, one begins.
    let talk = conversation(&store).await;
    let mut tasks = JoinSet::new();
    let second = if bed.is_shared() { Some(bed.second_node().await) } else { None };
    for number in 0..12 {
        let row = RunRow { conversation: Some(talk), ..row() };
        let first = vec![text("first")];
        if let Some(second) = second.as_ref().filter(|_| number % 2 == 0) {
            let store = Arc::clone(second);
            tasks.spawn(async move { store.create_run(row, first, vec![], "b", LATER).await });
        } else {
            let store = Arc::clone(&store);
            tasks.spawn(async move { store.create_run(row, first, vec![], "a", LATER).await });
        }
    }
    let (mut won, mut busy) = (Vec::new(), Vec::new());
    while let Some(done) = tasks.join_next().await {
        match done.unwrap() {
            Ok(lease) => won.push(lease.run),
            Err(StoreError::Busy { run }) => busy.push(run),
            Err(other) => panic!("{other}"),
        }
    }
    assert_eq!((won.len(), busy.len()), (1, 11));
    assert!(busy.iter().all(|run| *run == won[0]));
}

pub async fn conversations_are_renamed_and_deleted(bed: Bed) {
    let store = bed.store();
    let talk = conversation(&store).await;
    store.rename_conversation(TENANT, talk, "Rechnung ÄÖ", LATER).await.unwrap();
    let read = store.conversation(TENANT, talk).await.unwrap();
    assert_eq!((read.title.as_str(), read.created_at, read.updated_at), ("Rechnung ÄÖ", NOW, LATER));
    let open = started_in(&store, talk).await;
    let refused = store.mark_deleted(TENANT, talk, Some(LATER)).await;
    assert!(matches!(&refused, Err(StoreError::Conflict(text)) if text.contains("stop")), "{refused:?}");
    let read = store.conversation(TENANT, talk).await.unwrap();
    assert_eq!(read.deleted_at, None);
    ended(&store, &open, talk, &["hi", "hello"]).await;
    store.mark_deleted(TENANT, talk, Some(LATER)).await.unwrap();
    let list = async |deleted| {
        let filter = ConversationFilter { deleted, ..ConversationFilter::default() };
        let page = store.conversations(TENANT, filter).await.unwrap();
        page.items.iter().map(|it| it.id).collect::<Vec<_>>()
    };
    assert_eq!((list(false).await, list(true).await), (vec![], vec![talk]));
    let late = RunRow { conversation: Some(talk), ..row() };
    let refused = store.create_run(late.clone(), vec![text("x")], vec![], "a", LATER).await;
    assert!(matches!(&refused, Err(StoreError::Conflict(text)) if text.contains("restore")), "{refused:?}");
    store.mark_deleted(TENANT, talk, None).await.unwrap();
    assert_eq!((list(false).await, list(true).await), (vec![talk], vec![]));
    assert_eq!(store.messages(TENANT, talk).await.unwrap().len(), 2);
    store.create_run(late, vec![text("x")], vec![], "a", LATER).await.unwrap();
    let nobody = ConversationId(id());
    for missing in [
        store.rename_conversation(TENANT, nobody, "x", NOW).await,
        store.rename_conversation(OTHER, talk, "x", NOW).await,
        store.mark_deleted(TENANT, nobody, Some(NOW)).await,
        store.mark_deleted(OTHER, talk, Some(NOW)).await,
    ] {
        assert!(matches!(missing, Err(StoreError::NotFound(_))), "{missing:?}");
    }
}

pub async fn conversations_are_found(bed: Bed) {
    let store = bed.store();
    let (ann, bob) = (UserId(id()), UserId(id()));
    let mut made = Vec::new();
    for (user, title) in [(Some(ann), "Über Zahlen"), (Some(bob), "100% sure_thing"), (None, "plain")] {
        let it = Conversation { user, ..header(title) };
        store.create_conversation(TENANT, &it).await.unwrap();
        made.push(it);
    }
    let run = started_in(&store, made[2].id).await;
    let said = [
        Message::user("Wo ist der ÄRGER?"),
        Message::tool("c1", "hidden treasure"),
        Message::assistant("Line one\nLine \"two\""),
    ];
    let side = vec![SideWrite::Messages(made[2].id, said.to_vec())];
    store.commit(append(&run, 1, vec![], side)).await.unwrap();
    let list = async |filter: ConversationFilter| {
        let page = store.conversations(TENANT, filter).await.unwrap();
        let titles = page.items.into_iter().map(|it| it.title);
        titles.collect::<Vec<_>>()
    };
    let any = ConversationFilter::default();
    for (words, found) in [
        ("ÜBER", vec!["Über Zahlen"]),
        ("über z", vec!["Über Zahlen"]),
        ("0%", vec!["100% sure_thing"]),
        ("%", vec!["100% sure_thing"]),
        ("e_t", vec!["100% sure_thing"]),
        ("ärger", vec!["plain"]),
        ("LINE \"TWO\"", vec!["plain"]),
        ("one\nline", vec!["plain"]),
        ("a", vec!["plain", "Über Zahlen"]),
        ("treasure", vec![]),
        ("role", vec![]),
        ("\\", vec![]),
        ("'; --", vec![]),
        ("", vec!["plain", "100% sure_thing", "Über Zahlen"]),
    ] {
        let filter = ConversationFilter { text: Some(words.to_owned()), ..any.clone() };
        assert_eq!(list(filter).await, found, "{words}");
    }
    let mine = ConversationFilter { user: Some(ann), ..any.clone() };
    let and_of_nobody = ConversationFilter { nobody: true, ..mine.clone() };
    assert_eq!(list(mine).await, ["Über Zahlen"]);
    assert_eq!(list(and_of_nobody).await, ["plain", "Über Zahlen"]);
    let with = ConversationFilter { agent: Some(made[1].agent), ..any.clone() };
    assert_eq!(list(with).await, ["100% sure_thing"]);
    let endless = ConversationFilter { text: Some("x".repeat(60_000)), ..any };
    let endless = store.conversations(TENANT, endless).await;
    assert!(matches!(&endless, Err(StoreError::Conflict(text)) if text.contains("too long")), "{endless:?}");
}

pub async fn conversations_are_forked(bed: Bed) {
    let store = bed.store();
    let talk = conversation(&store).await;
    let mut runs = Vec::new();
    for number in 0..3 {
        let lease = started_in(&store, talk).await;
        let (ask, answer) = (format!("ask {number}"), format!("answer {number}"));
        ended(&store, &lease, talk, &[&ask, &answer]).await;
        runs.push(lease.run);
    }
    let open = started_in(&store, talk).await;
    let words = async |of: ConversationId| {
        let said = store.messages(TENANT, of).await.unwrap();
        said.into_iter().map(|it| it.text).collect::<Vec<_>>()
    };
    let all = words(talk).await;
    assert_eq!(all.len(), 6);
    let cases = [(Some(runs[0]), 0), (Some(runs[1]), 2), (Some(runs[2]), 4), (Some(open.run), 6), (None, 6)];
    let mut copy = header("x");
    for (before, count) in cases {
        copy = Conversation { forked_from: Some(talk), ..header("branch") };
        store.fork_conversation(TENANT, talk, before, &copy).await.unwrap();
        assert_eq!(words(copy.id).await, all[..count], "{before:?}");
        assert_eq!(store.conversation(TENANT, copy.id).await.unwrap(), copy);
    }
    // The original is as it was, goes on, and so does the copy; a copy can be forked too.
    assert_eq!(words(talk).await, all);
    ended(&store, &open, talk, &["ask 3", "answer 3"]).await;
    assert_eq!(words(talk).await.len(), 8);
    let own = started_in(&store, copy.id).await;
    ended(&store, &own, copy.id, &["other", "way"]).await;
    assert_eq!(words(copy.id).await[6..], ["other", "way"]);
    for (before, count) in [(own.run, 6), (runs[1], 2)] {
        let twice = header("branch of a branch");
        store.fork_conversation(TENANT, copy.id, Some(before), &twice).await.unwrap();
        assert_eq!(words(twice.id).await, all[..count]);
    }

    let stranger = started_in(&store, conversation(&store).await).await;
    let later = header("never");
    for (tenant, from, before) in [
        (TENANT, ConversationId(id()), None),
        (OTHER, talk, None),
        (TENANT, talk, Some(RunId(id()))),
        (TENANT, talk, Some(stranger.run)),
    ] {
        let refused = store.fork_conversation(tenant, from, before, &later).await;
        assert!(matches!(refused, Err(StoreError::NotFound(_))), "{refused:?}");
    }
    let again = store.fork_conversation(TENANT, talk, None, &copy).await;
    assert!(matches!(again, Err(StoreError::Conflict(_))), "{again:?}");
    assert_eq!(words(copy.id).await.len(), 8, "it was left alone");

    // An older program did not note the runs of messages.
    bed.tamper("update messages set run_id = null").await;
    let unclear = store.fork_conversation(TENANT, talk, Some(runs[1]), &later).await;
    assert!(matches!(&unclear, Err(StoreError::Conflict(text)) if text.contains("older version")), "{unclear:?}");
    let open = started_in(&store, talk).await;
    store.fork_conversation(TENANT, talk, Some(open.run), &later).await.unwrap();
    assert_eq!(words(later.id).await.len(), 8);
    let late = LATER.plus(Duration::from_secs(1));
    store.renew(&open, late).await.unwrap();
}
