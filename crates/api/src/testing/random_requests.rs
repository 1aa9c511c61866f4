//! 10,000 random requests of random people, some of which change roles, groups, grants and names, or delete something and
//! make another of its name: each is answered as a plain model of the rules says. The model shares no code with what it judges.

mod names;

use self::names::Names;
use super::{Bed, bed};
use crate::testing::permissions::api_key;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use steward_core::hash::sha256;
use steward_core::ports::{Conversation, Role, Skills as _, User, Users as _};
use steward_core::{AgentId, ConversationId, TenantId, Timestamp, UserId};
use uuid::Uuid;

const REQUESTS: usize = 10_000;
const PEOPLE: usize = 14;
const GROUPS: usize = 4;
const EACH: usize = 5;
const KINDS: [&str; 3] = ["agent", "skill", "credential"];
const LEVELS: [&str; 3] = ["use", "edit", "share"];

/// `SplitMix64`.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        usize::try_from((z ^ (z >> 31)) % bound as u64).unwrap()
    }
}

/// A kind and which of it.
type Thing = (usize, usize);

/// Who may do what, told as simply as the documentation tells it. Roles: 0 viewer, 1 developer, 2 operator, 3 admin.
#[derive(Default)]
struct Model {
    roles: Vec<usize>,
    members: BTreeSet<(usize, usize)>,
    restricted: BTreeSet<Thing>,
    /// To a person.
    own: BTreeMap<(Thing, usize), usize>,
    /// To a group.
    shared: BTreeMap<(Thing, usize), usize>,
    names: Names,
}

impl Model {
    /// 0 nothing, 1 use, 2 edit, 3 share.
    fn level(&self, person: usize, thing: Thing) -> usize {
        if self.roles[person] >= 2 {
            return 3;
        }
        let open = usize::from(KINDS[thing.0] != "credential" && !self.restricted.contains(&thing));
        let own = self.own.get(&(thing, person)).copied().unwrap_or(0);
        let groups = (0..GROUPS).filter(|group| self.members.contains(&(*group, person)));
        let shared = groups.filter_map(|group| self.shared.get(&(thing, group)).copied()).max().unwrap_or(0);
        open.max(own).max(shared).max(self.names.level(person, thing))
    }

    fn may(&self, person: usize, least_role: usize, thing: Thing, level: usize) -> bool {
        self.roles[person] >= least_role && self.level(person, thing) >= level
    }
}

struct World {
    bed: Bed,
    model: Model,
    things: Vec<Vec<Uuid>>,
    groups: Vec<Uuid>,
    /// The secret of a virtual key.
    key: String,
}

fn person_id(person: usize) -> UserId {
    UserId(Uuid::from_u128(0xabc0_0000 + person as u128))
}

fn role(number: usize) -> Role {
    [Role::Viewer, Role::Developer, Role::Operator, Role::Admin][number]
}

impl World {
    async fn new() -> Self {
        let bed = bed().await;
        bed.admin().await;
        let (store, tenant) = (&bed.store, TenantId::DEFAULT);
        let mut model = Model { roles: (0..PEOPLE).map(|person| person % 4).collect(), ..Model::default() };
        model.roles[0] = 3;
        for person in 0..PEOPLE {
            let id = person_id(person);
            let user = User {
                api_key_hash: Some(sha256(api_key(id).as_bytes())),
                ..User::new(id, format!("p{person}@example.org"), "P", role(model.roles[person]), Timestamp(0))
            };
            store.create_user(tenant, &user).await.unwrap();
            let conversation = Conversation {
                id: ConversationId(id.0),
                agent: AgentId(Uuid::nil()),
                user: Some(id),
                title: "talk".to_owned(),
                created_at: Timestamp(0),
                updated_at: Timestamp(0),
                deleted_at: None,
                forked_from: None,
            };
            store.create_conversation(tenant, &conversation).await.unwrap();
        }
        let mut things = vec![Vec::new(); KINDS.len()];
        for number in 0..EACH {
            let id = Uuid::from_u128(0xdef0_0000 + number as u128);
            names::save_agent(store, id, &model.names.agents[number]).await;
            things[0].push(id);
            let skill = json!({
                "id": id, "name": format!("skill{number}"), "version": 1, "description": "Adds.", "type": "python",
                "parameters": {"type": "object"}, "config": {"code": "def run(p): return 1"}, "risk": "read",
                "effect": "read", "at": 0,
            });
            things[1].push(store.save_skill(tenant, &serde_json::from_value(skill).unwrap()).await.unwrap().id.0);
            let new = json!({"name": format!("key{number}"), "kind": "token", "fields": {"token": "x"}});
            let kept = bed.app().vault.keep(tenant, serde_json::from_value(new).unwrap()).await.unwrap();
            things[2].push(kept.id.0);
        }
        let mut world = Self { bed, model, things, groups: Vec::new(), key: String::new() };
        for number in 0..GROUPS {
            let name = world.model.names.groups[number].clone();
            let group = world.make_group(&name).await;
            world.groups.push(group);
        }
        world.plant_names().await;
        world
    }

    async fn send(&self, person: usize, line: &str, body: Option<&Value>) -> (u16, Value) {
        let bearer = format!("authorization: Bearer {}", api_key(person_id(person)));
        let answer = match body {
            Some(body) => self.bed.json(line, &[&bearer], body).await,
            None => self.bed.send(line, &[&bearer], "").await,
        };
        (answer.status, serde_json::from_str(&answer.text).unwrap_or_default())
    }

    /// Makes one request; returns what it was, the status, and the one that the model expects.
    #[expect(clippy::too_many_lines, reason = "a list of requests, each with what the model says of it")]
    async fn step(&mut self, random: &mut Random) -> (String, u16, u16) {
        let person = random.below(PEOPLE);
        let other = random.below(PEOPLE);
        let thing = (random.below(KINDS.len()), random.below(EACH));
        let (kind, id) = (KINDS[thing.0], self.things[thing.0][thing.1]);
        let (group, level) = (random.below(GROUPS), 1 + random.below(3));
        let yes = |may: bool, ok: u16| if may { ok } else { 403 };
        let model = &self.model;
        let access = format!("/api/access/{kind}/{id}");
        let may_share = model.may(person, 1, thing, 3);
        let admin = model.roles[person] == 3;
        let (line, body, expect) = match random.below(24) {
            0 | 1 => {
                let least = usize::from(kind == "credential");
                (format!("GET /api/{kind}s/{id}"), None, yes(model.may(person, least, thing, 1), 200))
            }
            2 => {
                let agent = self.things[0][thing.1];
                let may = model.may(person, 1, (0, thing.1), 2);
                let body = json!({"instructions": format!("now {level}")});
                (format!("PATCH /api/universal-agents/{agent}"), Some(body), yes(may, 200))
            }
            3 => {
                let agent = self.things[0][thing.1];
                let may = model.may(person, 1, (0, thing.1), 2) && model.roles[person] >= 2;
                let body = json!({"budget": if level == 1 { "query" } else { "plan" }});
                let line = format!("PATCH /api/universal-agents/{agent}");
                let (status, answer) = self.send(person, &line, Some(&body)).await;
                // One who may edit may also send what is there already.
                let same = status == 200 && !may && model.may(person, 1, (0, thing.1), 2);
                let expect = if same { 200 } else { yes(may, 200) };
                return (format!("{person} {line} {body} {answer}"), status, expect);
            }
            4 => {
                (format!("GET /api/conversations/{}", person_id(other)), None, if person == other { 200 } else { 404 })
            }
            5 => ("GET /api/users".to_owned(), None, yes(admin, 200)),
            6 => ("GET /api/groups".to_owned(), None, yes(model.roles[person] >= 2, 200)),
            7 => (format!("GET {access}"), None, yes(may_share, 200)),
            8 => {
                let restricted = level > 1;
                let expect = if may_share && kind == "credential" && !restricted { 422 } else { yes(may_share, 200) };
                if expect == 200 && restricted {
                    self.model.restricted.insert(thing);
                } else if expect == 200 {
                    self.model.restricted.remove(&thing);
                }
                (format!("PUT {access}"), Some(json!({"restricted": restricted})), expect)
            }
            9 => {
                let body = json!({"user": format!("p{other}@example.org"), "level": LEVELS[level - 1]});
                let takes = kind != "credential" || level != 2;
                if may_share && takes {
                    self.model.own.insert((thing, other), level);
                }
                (
                    format!("POST {access}/grants"),
                    Some(body),
                    if may_share && !takes { 422 } else { yes(may_share, 200) },
                )
            }
            10 => {
                let body = json!({"group": model.names.groups[group], "level": LEVELS[level - 1]});
                let takes = kind != "credential" || level != 2;
                if may_share && takes {
                    self.model.shared.insert((thing, group), level);
                }
                (
                    format!("POST {access}/grants"),
                    Some(body),
                    if may_share && !takes { 422 } else { yes(may_share, 200) },
                )
            }
            11 => {
                let held = may_share && self.model.own.remove(&(thing, other)).is_some();
                let expect = if may_share && !held { 404 } else { yes(may_share, 204) };
                (format!("DELETE {access}/grants/{}", person_id(other)), None, expect)
            }
            12 => {
                let held = may_share && self.model.shared.remove(&(thing, group)).is_some();
                let expect = if may_share && !held { 404 } else { yes(may_share, 204) };
                (format!("DELETE {access}/grants/{}", self.groups[group]), None, expect)
            }
            13 => {
                let method = if level == 1 { "DELETE" } else { "PUT" };
                if admin && level == 1 {
                    self.model.members.remove(&(group, other));
                } else if admin {
                    self.model.members.insert((group, other));
                }
                let path = format!("/api/groups/{}/members/{}", self.groups[group], person_id(other));
                (format!("{method} {path}"), None, yes(admin, 204))
            }
            14 => {
                // Person 0 stays an administrator, so that somebody can change things back.
                let (other, new) = (other.max(1), random.below(4));
                let own = admin && person == other && self.model.roles[other] != new;
                if admin && !own {
                    self.model.roles[other] = new;
                }
                let body = json!({"role": role(new)});
                let expect = if own { 409 } else { yes(admin, 200) };
                (format!("PATCH /api/users/{}", person_id(other)), Some(body), expect)
            }
            15 => {
                let (status, page) = self.send(person, "GET /api/agents?limit=100", None).await;
                let shown: BTreeSet<&str> =
                    page["items"].as_array().into_iter().flatten().filter_map(|one| one["name"].as_str()).collect();
                let expect: BTreeSet<String> = (0..EACH)
                    .filter(|n| model.level(person, (0, *n)) > 0)
                    .map(|n| model.names.agents[n].clone())
                    .collect();
                let same = shown.iter().copied().eq(expect.iter().map(String::as_str));
                return (format!("{person} lists {shown:?} of {expect:?}"), if same { status } else { 1 }, 200);
            }
            _ => return self.step_of_names(person, random).await,
        };
        let (status, answer) = self.send(person, &line, body.as_ref()).await;
        (format!("{person} {line} {body:?} {answer}"), status, expect)
    }
}

#[tokio::test]
async fn random_requests_are_answered_as_the_rules_say() {
    let mut world = World::new().await;
    let mut random = Random(20_261_123);
    let mut counts = BTreeMap::<u16, usize>::new();
    for number in 0..REQUESTS {
        let (what, status, expect) = world.step(&mut random).await;
        assert_eq!(status, expect, "request {number}: {what}");
        *counts.entry(status).or_default() += 1;
    }
    eprintln!("{REQUESTS} requests, by status: {counts:?}");
    assert!(counts.get(&403).is_some_and(|refused| *refused > 1_000), "{counts:?}");
    assert!(counts.get(&200).is_some_and(|allowed| *allowed > 1_000), "{counts:?}");
}
