use super::bed::Bed;
use super::fixtures::{
    LATER, NOW, TENANT, append, conversation, ended, header, id, row, started, started_in, status, text,
};
use serde_json::json;
use steward_core::agent::KeptFor;
use steward_core::audit::AuditEntry;
use steward_core::datasource::VerifiedQuestion;
use steward_core::event::{EventBody, Origin, Outcome};
use steward_core::governance::{Classification, Classified};
use steward_core::ports::{
    AuditFilter, AuditOrder, Conversations as _, Facts as _, MaskMapRow, Note, RetainedFilter, RunRow, RunStatus,
    RunStore as _, ScimDirectory as _, ScimToken, SideWrite, StoreError,
};
use steward_core::provenance::Provenance;
use steward_core::retention::{DELETED, RetainedItem, RetainedKind};
use steward_core::{AgentId, ConversationId, Timestamp, UserId};
use steward_store::Store;

fn filter(kind: RetainedKind) -> RetainedFilter {
    RetainedFilter {
        kind,
        before: Some(Timestamp(LATER.0 + 1)),
        user: None,
        deleted_only: false,
        after: None,
        limit: 10,
    }
}

fn entry() -> AuditEntry {
    AuditEntry::new(id(), LATER, DELETED).with("policy", "a year")
}

async fn found(store: &Store, filter: &RetainedFilter) -> Vec<RetainedItem> {
    store.retained(TENANT, filter).await.unwrap()
}

pub async fn a_conversation_goes_with_its_runs_and_leaves_a_proof(bed: Bed) {
    let store = bed.store();
    let talk = conversation(&store).await;
    let large = "x".repeat(80_000);
    let lease = started_in(&store, talk).await;
    let kinds = filter(RetainedKind::Conversations);
    assert!(found(&store, &kinds).await.is_empty(), "it is at work");
    ended(&store, &lease, talk, &["Hello", "Hi"]).await;
    let other = conversation(&store).await;
    let second = RunRow { conversation: Some(other), ..row() };
    let second = store.create_run(second, vec![text(&large)], vec![], "a", LATER).await.unwrap();
    assert_eq!(bed.blobs.0.lock().unwrap().len(), 1);
    ended(&store, &second, other, &["Again"]).await;

    let all = found(&store, &kinds).await;
    let items: Vec<&str> = all.iter().map(|one| one.id.as_str()).collect();
    assert_eq!(items, [talk.to_string(), other.to_string()]);
    assert!(found(&store, &RetainedFilter { before: Some(NOW), ..kinds.clone() }).await.is_empty(), "too young");
    assert!(found(&store, &RetainedFilter { deleted_only: true, ..kinds.clone() }).await.is_empty());
    let older = RetainedItem { at: Timestamp(all[0].at.0 - 1), ..all[0].clone() };
    assert_eq!(store.delete_retained(TENANT, &older, &entry()).await.unwrap(), None, "it has changed since");

    let deleted = store.delete_retained(TENANT, &all[0], &entry()).await.unwrap().unwrap();
    store.remove_unused_blobs(TENANT).await.unwrap();
    assert_eq!((deleted.runs, deleted.events, deleted.messages, deleted.sha256.len()), (1, 1, 2, 64));
    assert!(matches!(store.conversation(TENANT, talk).await, Err(StoreError::NotFound(_))));
    assert!(matches!(store.run(TENANT, lease.run).await, Err(StoreError::NotFound(_))));
    assert_eq!(store.delete_retained(TENANT, &all[0], &entry()).await.unwrap(), None, "it is gone");
    assert_eq!(store.conversation(TENANT, other).await.unwrap().id, other);
    assert_eq!(bed.blobs.0.lock().unwrap().len(), 1, "another row has it");
    let deleted = store.delete_retained(TENANT, &all[1], &entry()).await.unwrap().unwrap();
    assert_eq!(bed.blobs.0.lock().unwrap().len(), 1, "a crash may come here");
    store.remove_unused_blobs(TENANT).await.unwrap();
    assert_eq!(bed.blobs.0.lock().unwrap().len(), 0);

    store.seal_audit(TENANT, 100).await.unwrap();
    let filter = AuditFilter { action: Some(DELETED.to_owned()), ..AuditFilter::default() };
    let proofs = store.audit_entries(TENANT, &filter, AuditOrder::OldestAfter(0), 10).await.unwrap().items;
    assert_eq!(proofs.len(), 2);
    assert_eq!(proofs[1].entry.detail["sha256"], deleted.sha256.as_str());
    assert_eq!(proofs[0].entry.detail["policy"], "a year");
}

pub async fn what_is_in_the_bin_goes_by_when_it_came_there(bed: Bed) {
    let store = bed.store();
    let (kept, talk) = (conversation(&store).await, conversation(&store).await);
    let bin = RetainedFilter { deleted_only: true, before: Some(LATER), ..filter(RetainedKind::Conversations) };
    let after = RetainedFilter { before: Some(Timestamp(LATER.0 + 1)), ..bin.clone() };
    // Both are old enough by their last change.
    store.mark_deleted(TENANT, talk, Some(LATER)).await.unwrap();
    assert!(found(&store, &bin).await.is_empty(), "it has just been deleted");
    let due = found(&store, &after).await;
    assert_eq!(due.iter().map(|one| (one.id.clone(), one.at)).collect::<Vec<_>>(), [(talk.to_string(), LATER)]);
    for again in [None, Some(Timestamp(LATER.0 + 1))] {
        store.mark_deleted(TENANT, talk, again).await.unwrap();
        let done = store.delete_retained(TENANT, &due[0], &entry()).await.unwrap();
        assert_eq!(done, None, "it was taken out meanwhile");
    }
    store.mark_deleted(TENANT, talk, Some(LATER)).await.unwrap();
    store.delete_retained(TENANT, &due[0], &entry()).await.unwrap().unwrap();
    assert!(matches!(store.conversation(TENANT, talk).await, Err(StoreError::NotFound(_))));
    assert_eq!(store.conversation(TENANT, kept).await.unwrap().id, kept);
}

pub async fn runs_outside_of_conversations_go_by_themselves(bed: Bed) {
    let store = bed.store();
    let kinds = filter(RetainedKind::Runs);
    let lease = started(&store).await;
    assert!(found(&store, &kinds).await.is_empty(), "it is at work");
    let done = || vec![status(RunStatus::Finished)];
    store.commit(append(&lease, 1, vec![], done())).await.unwrap();
    // One that another asked goes with that one, and one of a conversation with that.
    let below = RunRow { origin: Origin::Delegation, ..row() };
    let below = store.create_run(below, vec![text("x")], vec![], "a", LATER).await.unwrap();
    store.commit(append(&below, 1, vec![], done())).await.unwrap();
    let all = found(&store, &kinds).await;
    assert_eq!(all.iter().map(|one| one.id.clone()).collect::<Vec<_>>(), [lease.run.to_string()]);
    assert_eq!(store.retained_classification(TENANT, &all[0]).await.unwrap(), None);
    let seen = EventBody::DataClassified {
        classified: Classified {
            classification: Classification::Confidential,
            label: "people".to_owned(),
            source: "hr/pay.csv".to_owned(),
        },
    };
    let seen = store.create_run(row(), vec![seen], vec![], "a", LATER).await.unwrap();
    store.commit(append(&seen, 1, vec![], done())).await.unwrap();
    let all = found(&store, &kinds).await;
    let item = all.iter().find(|one| one.id == seen.run.to_string()).unwrap();
    let level = store.retained_classification(TENANT, item).await.unwrap();
    assert_eq!(level, Some(Classification::Confidential));
    assert_eq!(store.delete_retained(TENANT, item, &entry()).await.unwrap().unwrap().runs, 1);
    // Pages go on where the one before ended.
    let first = found(&store, &RetainedFilter { limit: 1, ..kinds.clone() }).await;
    let after = Some((first[0].at, first[0].id.clone()));
    assert!(found(&store, &RetainedFilter { after, ..kinds }).await.is_empty());
}

pub async fn who_is_erased_is_named_nowhere(bed: Bed) {
    let store = bed.store();
    let (ann, agent) = (UserId(id()), AgentId(id()));
    let mut talk = header("To ann.lee@example.org");
    talk.id = ConversationId(id());
    store.create_conversation(TENANT, &talk).await.unwrap();
    let lease = started_in(&store, talk.id).await;
    ended(&store, &lease, talk.id, &["Ask Ann Lee", "I wrote to ann.lee@example.org."]).await;
    let note =
        Note { title: "n".into(), text: "Ann Lee: tea".into(), updated_at: NOW, provenance: Provenance::default() };
    store.save_note(TENANT, agent, KeptFor::Everybody, &note).await.unwrap();
    let loud = Note {
        title: "m".into(),
        text: "İ! ANN LEE, ann lee and Ann Lee: milk".into(),
        updated_at: NOW,
        provenance: Provenance::default(),
    };
    store.save_note(TENANT, agent, KeptFor::Everybody, &loud).await.unwrap();
    let large = format!("Ann LEE {}", "x".repeat(80_000));
    let in_blob = store.create_run(row(), vec![text(&large)], vec![], "a", LATER).await.unwrap();
    store.commit(append(&in_blob, 1, vec![], vec![status(RunStatus::Finished)])).await.unwrap();
    let map = MaskMapRow { id: id(), user: ann, made_at: NOW, ends_at: LATER, sealed: "s".into() };
    store.save_mask_map(TENANT, &map).await.unwrap();
    assert_eq!(store.mask_map(TENANT, map.id).await.unwrap().as_ref(), Some(&map));
    assert_eq!(store.ended_mask_maps(TENANT, LATER).await.unwrap(), std::slice::from_ref(&map));
    let stopped = started(&store).await;
    let by_ann = SideWrite::Status {
        status: RunStatus::Finished,
        outcome: Some(Outcome::Stopped { by: "Ann Lee".into() }),
        answer: None,
        tokens: 0,
        cost_micros: 0,
        verdict: None,
    };
    store.commit(append(&stopped, 1, vec![], vec![by_ann])).await.unwrap();
    let token = ScimToken {
        id: id(),
        name: "Okta".into(),
        prefix: "sk".into(),
        created_by: "ann.lee@example.org".into(),
        created_at: NOW,
        last_used_at: None,
    };
    store.save_scim_token(TENANT, &token, "hash").await.unwrap();
    let asked = VerifiedQuestion {
        id: VerifiedQuestion::id_of("What did Ann Lee buy?"),
        text: "What did Ann Lee buy?".into(),
        domain: "sales".into(),
        query: json!({"kind": "records", "filters": [{"field": "buyer", "is": "Ann Lee"}]}),
        by: Some(ann),
        at: NOW,
    };
    store.save_verified_question(TENANT, &asked).await.unwrap();
    let audit = AuditEntry::new(id(), NOW, "auth.login").by("ann.lee@example.org", Some(ann));
    let texts = ["ann.lee@example.org", "Ann Lee"].map(str::to_owned);
    store.record_audit(TENANT, &audit).await.unwrap();
    let named = store.mentions(TENANT, &texts).await.unwrap();
    for table in ["messages", "runs", "scim_tokens", "verified_questions"] {
        assert!(named.iter().any(|(found, count)| found == table && *count > 0), "{table}: {named:?}");
    }
    assert!(store.erase_mentions(TENANT, ann, &texts, "erased-7").await.unwrap() >= 8);
    let named = store.mentions(TENANT, &texts).await.unwrap();
    assert_eq!(named, [("audit_pending".to_owned(), 1)], "the audit trail is a chain");
    let messages = store.messages(TENANT, talk.id).await.unwrap();
    assert_eq!(messages[1].text, "I wrote to erased-7.");
    let stopped = store.run(TENANT, stopped.run).await.unwrap();
    assert_eq!(stopped.outcome, Some(Outcome::Stopped { by: "erased-7".into() }));
    assert_eq!(store.scim_tokens(TENANT).await.unwrap()[0].created_by, "erased-7");
    assert_eq!(store.verified_questions(TENANT).await.unwrap(), [], "with another name it would answer wrongly");
    assert_eq!(store.mask_map(TENANT, map.id).await.unwrap(), None);
    let notes: Vec<String> =
        store.notes(TENANT, agent, KeptFor::Everybody).await.unwrap().into_iter().map(|note| note.text).collect();
    assert_eq!(notes, ["İ! erased-7, erased-7 and erased-7: milk", "erased-7: tea"]);
    let events = store.events(TENANT, in_blob.run, 0, 10).await.unwrap();
    assert!(format!("{events:?}").contains("erased-7 xxx") && !format!("{events:?}").contains("Ann LEE"));
    assert_eq!(bed.blobs.0.lock().unwrap().len(), 1, "that with the name is gone");
}

pub async fn a_blob_that_is_gone_stops_no_erasure(bed: Bed) {
    let store = bed.store();
    let done = || vec![status(RunStatus::Finished)];
    for letter in ["a", "b"] {
        let large = format!("Ann Lee {}", letter.repeat(80_000));
        let lease = store.create_run(row(), vec![text(&large)], vec![], "a", LATER).await.unwrap();
        store.commit(append(&lease, 1, vec![], done())).await.unwrap();
    }
    let first = bed.blobs.0.lock().unwrap().keys().min().cloned().unwrap();
    bed.blobs.0.lock().unwrap().remove(&first);
    let changed = store.erase_mentions(TENANT, UserId(id()), &["Ann Lee".to_owned()], "erased-7").await.unwrap();
    assert_eq!(changed, 1, "the other one");
    let left = bed.blobs.0.lock().unwrap().values().next().cloned().unwrap();
    assert!(String::from_utf8(left).unwrap().contains("erased-7 "));
    for item in found(&store, &filter(RetainedKind::Runs)).await {
        assert_eq!(store.retained_classification(TENANT, &item).await.unwrap(), None);
        store.delete_retained(TENANT, &item, &entry()).await.unwrap().unwrap();
    }
    store.remove_unused_blobs(TENANT).await.unwrap();
    assert!(bed.blobs.0.lock().unwrap().is_empty());
}

pub async fn a_blob_that_a_text_names_stays(bed: Bed) {
    let store = bed.store();
    let done = || vec![status(RunStatus::Finished)];
    // The text that names it is in the database, or so large that it is a blob itself.
    for rest in ["", &"y ".repeat(40_000)] {
        let lease = store.create_run(row(), vec![text(&"x".repeat(80_000))], vec![], "a", LATER).await.unwrap();
        store.commit(append(&lease, 1, vec![], done())).await.unwrap();
        let large = found(&store, &filter(RetainedKind::Runs)).await.remove(0);
        let hash = bed.blobs.0.lock().unwrap().keys().next().cloned().unwrap();
        let naming = text(&format!("before: {hash} {rest}"));
        let other = store.create_run(row(), vec![naming], vec![], "a", LATER).await.unwrap();
        store.commit(append(&other, 1, vec![], done())).await.unwrap();
        store.delete_retained(TENANT, &large, &entry()).await.unwrap().unwrap();
        store.remove_unused_blobs(TENANT).await.unwrap();
        assert!(bed.blobs.0.lock().unwrap().contains_key(&hash));
        let other = found(&store, &filter(RetainedKind::Runs)).await.remove(0);
        store.delete_retained(TENANT, &other, &entry()).await.unwrap().unwrap();
        store.remove_unused_blobs(TENANT).await.unwrap();
        assert!(bed.blobs.0.lock().unwrap().is_empty());
    }
}

pub async fn names_are_replaced_whatever_their_letters(bed: Bed) {
    let store = bed.store();
    let agent = AgentId(id());
    let names = ["Νίκος Σ. (CEO)", "İpek Öz", "o\\n@x.org", "Öz Ipek"].map(str::to_owned);
    let said = [
        ("a", "ΝΊΚΟΣ ς. (ceo) met νίκοσ σ. (Ceo)", "erased\\1& met erased\\1&"),
        ("b", "Νίκος Σx (CEO)", "Νίκος Σx (CEO)"),
        ("c", "İPEK ÖZ, i\u{307}pek öz", "erased\\1&, erased\\1&"),
        ("d", "O\\N@X.ORG o\\n@xxorg", "erased\\1& o\\n@xxorg"),
    ];
    for (title, text, _) in said {
        let note = Note { title: title.into(), text: text.into(), updated_at: NOW, provenance: Provenance::default() };
        store.save_note(TENANT, agent, KeptFor::Everybody, &note).await.unwrap();
    }
    let note =
        Note { title: "e".into(), text: spellings().join(" "), updated_at: NOW, provenance: Provenance::default() };
    store.save_note(TENANT, agent, KeptFor::Everybody, &note).await.unwrap();
    assert_eq!(store.mentions(TENANT, &names).await.unwrap(), [("notes".to_owned(), 4)]);
    let erased = "erased\\1&";
    assert_eq!(store.erase_mentions(TENANT, UserId(id()), &names, erased).await.unwrap(), 4, "rows, not names");
    assert_eq!(store.mentions(TENANT, &names).await.unwrap(), []);
    let notes = store.notes(TENANT, agent, KeptFor::Everybody).await.unwrap();
    let text_of = |title: &str| notes.iter().find(|note| note.title == title).unwrap().text.as_str();
    for (title, _, expect) in said {
        assert_eq!(text_of(title), expect);
    }
    assert_eq!(text_of("e"), [erased; 64].join(" "));
    assert_eq!(store.erase_mentions(TENANT, UserId(id()), &[], "erased-7").await.unwrap(), 0);
}

/// "öz ipek" in all its small and capital letters, one of each.
fn spellings() -> Vec<String> {
    let spelled = |number: usize| {
        let letters = "öz ipek".chars().filter(|letter| *letter != ' ').enumerate();
        let letters = letters.map(|(at, letter)| match (number >> at) & 1 {
            0 => letter.to_string(),
            _ => letter.to_uppercase().to_string(),
        });
        let letters: Vec<String> = letters.collect();
        format!("{} {}", letters[..2].concat(), letters[2..].concat())
    };
    (0..64).map(spelled).collect()
}
