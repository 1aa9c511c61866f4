use crate::conformance::bed::Bed;
use crate::conformance::fixtures::{NOW, TENANT, id};
use crate::conformance::rows::agent;
use crate::conformance::skills::skill;
use futures::future::join_all;
use std::collections::BTreeSet;
use steward_core::agent::Agent;
use steward_core::ports::{Agents, SkillFilter, Skills, StoreError};
use steward_core::skill::Skill;

/// Calls at once.
const MANY: usize = 20;

/// Runs `MANY` futures in tasks of their own.
async fn all<T: Send + 'static, F: Future<Output = T> + Send + 'static>(make: impl Fn(usize) -> F) -> Vec<T> {
    let tasks = (0..MANY).map(|number| tokio::spawn(make(number)));
    let done = join_all(tasks).await;
    done.into_iter().map(|one| one.unwrap()).collect()
}

pub async fn one_name_is_made_once(bed: Bed) {
    let store = bed.store();
    let mut agents = Vec::new();
    for number in 0..4 {
        agents.push(agent(&format!("agent {number}")));
        store.save_agent(TENANT, &agents[number]).await.unwrap();
    }
    let ids: Vec<_> = agents.iter().map(|agent| agent.id).collect();
    let kept = all(|number| {
        let (store, agent) = (store.clone(), ids[number % ids.len()]);
        async move { store.create_and_attach(TENANT, agent, &skill("one")).await.unwrap() }
    })
    .await;
    assert_eq!(kept.iter().filter(|(_, made)| *made).count(), 1);
    let all_ids: BTreeSet<_> = kept.iter().map(|(skill, _)| skill.id).collect();
    assert_eq!(all_ids.len(), 1);
    assert!(kept.iter().all(|(skill, _)| skill.version == 1));
    for id in ids {
        assert_eq!(store.skills_of(TENANT, id).await.unwrap().len(), 1);
    }
    // Each other content is a version, and no number is given twice.
    let versions = all(|number| {
        let (store, agent) = (store.clone(), agents[0].id);
        let changed = Skill { description: number.to_string(), ..skill("one") };
        async move { store.create_and_attach(TENANT, agent, &changed).await.unwrap().0.version }
    })
    .await;
    let versions: BTreeSet<_> = versions.into_iter().collect();
    assert!(versions.into_iter().eq(2..22));
    let every = store.skills(TENANT, &SkillFilter::default(), None, 0).await;
    assert_eq!(every.unwrap().items.len(), 1);
}

pub async fn no_attachment_is_lost(bed: Bed) {
    let store = bed.store();
    let zoe = agent("zoe");
    store.save_agent(TENANT, &zoe).await.unwrap();
    all(|number| {
        let (store, agent) = (store.clone(), zoe.id);
        async move {
            let made = store.create_and_attach(TENANT, agent, &skill(&format!("s{number}"))).await;
            made.unwrap()
        }
    })
    .await;
    let has = store.agent(TENANT, zoe.id).await.unwrap();
    assert_eq!(has.skills.len(), MANY);
    let distinct: BTreeSet<_> = has.skills.iter().collect();
    assert_eq!(distinct.len(), MANY);
}

/// Settings that are changed while skills are attached: nothing of either is lost.
pub async fn a_change_of_an_agent_keeps_what_is_attached(bed: Bed) {
    let store = bed.store();
    let zoe = agent("zoe");
    store.save_agent(TENANT, &zoe).await.unwrap();
    let old = Agent { name: "other".to_owned(), ..zoe.clone() };
    let changed = store.change_agent(TENANT, &old, &zoe).await.unwrap();
    assert!(!changed, "it is not as it was thought to be");
    all(|number| {
        let (store, id) = (store.clone(), zoe.id);
        async move {
            if number % 2 == 0 {
                let one = skill(&format!("s{number}"));
                store.create_and_attach(TENANT, id, &one).await.unwrap();
                return;
            }
            // Each try that fails is somebody else's success.
            for _ in 0..=MANY * MANY {
                let before = store.agent(TENANT, id).await.unwrap();
                let mut after = before.clone();
                after.metadata.insert(number.to_string(), true.into());
                if store.change_agent(TENANT, &before, &after).await.unwrap() {
                    return;
                }
            }
            panic!("it was never written");
        }
    })
    .await;
    let has = store.agent(TENANT, zoe.id).await.unwrap();
    assert_eq!((has.skills.len(), has.metadata.len()), (MANY / 2, MANY / 2));
    // Names are as unique as when it is made, and who is gone can't be changed.
    let bob = agent("bob");
    store.save_agent(TENANT, &bob).await.unwrap();
    let named = Agent { name: "zoe".to_owned(), ..bob.clone() };
    let taken = store.change_agent(TENANT, &bob, &named).await;
    assert!(matches!(taken, Err(StoreError::Conflict(_))), "{taken:?}");
    store.delete_agent(TENANT, bob.id, NOW).await.unwrap();
    let gone = store.change_agent(TENANT, &bob, &bob).await;
    assert!(matches!(gone, Err(StoreError::NotFound(_))), "{gone:?}");
}

pub async fn a_skill_removed_meanwhile_stays_nowhere(bed: Bed) {
    let store = bed.store();
    let one = store.save_skill(TENANT, &skill("one")).await.unwrap();
    let mut agents = Vec::new();
    for _ in 0..MANY {
        let named = Agent { name: id().to_string(), ..agent("x") };
        store.save_agent(TENANT, &named).await.unwrap();
        agents.push(named.id);
    }
    all(|number| {
        let (store, agent) = (store.clone(), agents[number]);
        async move {
            if number == MANY / 2 {
                return store.remove_skill(TENANT, one.id).await.unwrap();
            }
            match store.attach_skill(TENANT, agent, one.id, true).await {
                Ok(()) | Err(StoreError::NotFound(_)) => {}
                other => panic!("{other:?}"),
            }
        }
    })
    .await;
    for agent in agents {
        let left = store.agent(TENANT, agent).await.unwrap().skills;
        assert!(left.is_empty(), "{left:?}");
    }
}
