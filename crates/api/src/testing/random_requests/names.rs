//! What names have to do with rights: nothing but where somebody sends one. Groups are called like roles, those of another
//! source like those that are kept here, and all of them get new names, or end and are made again under their old ones.

use super::{EACH, GROUPS, LEVELS, Model, PEOPLE, Random, Thing, World, person_id};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use steward_core::datasource::{DomainGroup, DomainText, DomainTextKind};
use steward_core::event::Origin;
use steward_core::ports::{Agents as _, ExternalGroups};
use steward_core::provenance::Provenance;
use steward_core::{AgentId, GroupId, TenantId, Timestamp};
use steward_store::Store;
use uuid::Uuid;

const TENANT: TenantId = TenantId::DEFAULT;
/// What groups may be called, whoever keeps them.
const GROUP_NAMES: [&str; 7] = ["admin", "operator", "developer", "viewer", "staff", "g5", "g6"];
/// Those of a provider, each of which is a group at once.
const OUTSIDE: [&str; 3] = ["admin", "staff", "g5"];
const SOURCE: &str = "sso";

/// What the model knows of names, and of what hangs on ids instead.
pub(super) struct Names {
    pub agents: Vec<String>,
    pub groups: Vec<String>,
    /// Of the provider's groups: group and person.
    outside: BTreeSet<(usize, usize)>,
    /// To one of the provider's groups.
    shared: BTreeMap<(Thing, usize), usize>,
    /// The agents that the rule is about, and those that the key opens, as long as they are the same ones.
    ruled: BTreeSet<usize>,
    opened: BTreeSet<usize>,
    /// Whether the group is still the one that its domain was saved for.
    meant: [bool; GROUPS],
    made: u128,
}

impl Default for Names {
    fn default() -> Self {
        Self {
            agents: (0..EACH).map(|number| format!("agent{number}")).collect(),
            groups: GROUP_NAMES[..GROUPS].iter().map(|name| (*name).to_owned()).collect(),
            outside: BTreeSet::new(),
            shared: BTreeMap::new(),
            ruled: BTreeSet::from([0, 1]),
            opened: BTreeSet::from([1, 2]),
            meant: [true; GROUPS],
            made: 0,
        }
    }
}

impl Names {
    /// What somebody may do with a thing by the groups that a provider put them into.
    pub fn level(&self, person: usize, thing: Thing) -> usize {
        let theirs = self.outside.iter().filter(|(_, member)| *member == person);
        theirs.filter_map(|(group, _)| self.shared.get(&(thing, *group)).copied()).max().unwrap_or(0)
    }

    /// The domains that somebody sees: one of each group that is still the same, one of each role, one of all.
    fn domains(&self, person: usize, model: &Model) -> BTreeSet<String> {
        let in_groups = (0..GROUPS).filter(|group| self.meant[*group] && model.members.contains(&(*group, person)));
        let of_groups = in_groups.map(|group| format!("of_group{group}"));
        let of_role = format!("of_role{}", model.roles[person]);
        of_groups.chain([of_role, "of_all".to_owned()]).collect()
    }
}

pub(super) async fn save_agent(store: &Store, id: Uuid, name: &str) {
    let agent = json!({"id": id, "name": name, "instructions": ""});
    store.save_agent(TENANT, &serde_json::from_value(agent).unwrap()).await.unwrap();
}

fn domain(name: &str, permission: &str) -> DomainText {
    let text = format!("domain {name} from t@db {{\n  permission {permission} read\n  field id : int\n}}\n");
    let (kind, changed_at) = (DomainTextKind::Domain, Timestamp(0));
    DomainText {
        kind,
        name: name.to_owned(),
        text,
        version: 0,
        changed_by: None,
        changed_at,
        provenance: Provenance::default(),
    }
}

impl World {
    pub(super) async fn make_group(&self, name: &str) -> Uuid {
        let (status, group) = self.send(0, "POST /api/groups", Some(&json!({"name": name}))).await;
        assert_eq!(status, 201, "{group}");
        group["id"].as_str().unwrap().parse().unwrap()
    }

    /// Domains of groups and roles, a rule over two agents and a key for two.
    pub(super) async fn plant_names(&mut self) {
        let mut texts = vec![domain("of_all", "*")];
        for (number, role) in ["viewer", "developer", "operator", "admin"].into_iter().enumerate() {
            texts.push(domain(&format!("of_role{number}"), &format!("role:{role}")));
        }
        let mut meant = Vec::new();
        for (number, group) in self.groups.iter().enumerate() {
            let (of, name) = (format!("of_group{number}"), self.model.names.groups[number].clone());
            texts.push(domain(&of, &format!("group:{name}")));
            meant.push(DomainGroup { domain: of, name, group: GroupId(*group) });
        }
        self.bed.store.save_domain_texts(TENANT, &texts, &meant).await.unwrap();
        let rule = json!({"name": "two", "agents": ["agent0", self.things[0][1]], "decision": "ask"});
        let rules = json!({"version": 0, "rules": [rule]});
        assert_eq!(self.send(0, "PUT /api/policies/tools", Some(&rules)).await.0, 200);
        let wanted = json!({"name": "k", "agents": ["agent1", self.things[0][2]]});
        let (status, key) = self.send(0, "POST /api/keys", Some(&wanted)).await;
        assert_eq!(status, 201, "{key}");
        self.key = key["secret"].as_str().unwrap().to_owned();
        for name in OUTSIDE {
            self.tell(0, &[name]).await;
        }
        self.tell(0, &[]).await;
    }

    /// What the provider says of somebody at their login.
    async fn tell(&self, person: usize, groups: &[&str]) {
        let names = groups.iter().map(|name| (*name).to_owned()).collect();
        let told = ExternalGroups { source: SOURCE.to_owned(), names };
        self.bed.app().access.sync_memberships(person_id(person), &told).await.unwrap();
    }

    /// A name for a group that no other here has.
    fn free_name(&self, random: &mut Random) -> String {
        let names = &self.model.names.groups;
        let free: Vec<&str> = GROUP_NAMES.into_iter().filter(|name| !names.iter().any(|one| one == name)).collect();
        free[random.below(free.len())].to_owned()
    }

    /// As the step of the world: one that is about names.
    pub(super) async fn step_of_names(&mut self, person: usize, random: &mut Random) -> (String, u16, u16) {
        let (group, number, other) = (random.below(GROUPS), random.below(EACH), random.below(PEOPLE));
        match random.below(12) {
            0 => self.rename_group(person, group, random).await,
            1 => self.replace_group(group).await,
            2 => self.rename_agent(number).await,
            3 => self.replace_agent(number).await,
            4 => self.log_in_outside(other, random).await,
            5 | 6 => self.share_by_name(person, (0, number), random).await,
            7 | 8 => self.look_at_domains(person).await,
            9 | 10 => self.look_at_rule(number).await,
            _ => self.look_at_key().await,
        }
    }

    async fn rename_group(&mut self, person: usize, group: usize, random: &mut Random) -> (String, u16, u16) {
        let name = self.free_name(random);
        let admin = self.model.roles[person] == 3;
        let line = format!("PATCH /api/groups/{}", self.groups[group]);
        let (status, answer) = self.send(person, &line, Some(&json!({"name": name}))).await;
        if admin {
            self.model.names.groups[group].clone_from(&name);
        }
        (format!("{person} {line} {name} {answer}"), status, if admin { 200 } else { 403 })
    }

    /// Another group takes the name of one that ends; it has no members and no rights.
    async fn replace_group(&mut self, group: usize) -> (String, u16, u16) {
        let line = format!("DELETE /api/groups/{}", self.groups[group]);
        let (status, answer) = self.send(0, &line, None).await;
        let name = self.model.names.groups[group].clone();
        self.groups[group] = self.make_group(&name).await;
        self.model.members.retain(|(of, _)| *of != group);
        self.model.shared.retain(|(_, to), _| *to != group);
        self.model.names.meant[group] = false;
        (format!("{line} {answer}"), status, 204)
    }

    async fn rename_agent(&mut self, number: usize) -> (String, u16, u16) {
        self.model.names.made += 1;
        let name = format!("renamed{}", self.model.names.made);
        save_agent(&self.bed.store, self.things[0][number], &name).await;
        self.model.names.agents[number] = name;
        (String::new(), 200, 200)
    }

    /// Another agent takes the name of one that ends; nothing that was about that is about this.
    async fn replace_agent(&mut self, number: usize) -> (String, u16, u16) {
        let store = &self.bed.store;
        store.delete_agent(TENANT, AgentId(self.things[0][number]), Timestamp(0)).await.unwrap();
        self.model.names.made += 1;
        let id = Uuid::from_u128(0xfee0_0000 + self.model.names.made);
        save_agent(store, id, &self.model.names.agents[number]).await;
        self.things[0][number] = id;
        let (model, thing) = (&mut self.model, (0, number));
        model.restricted.remove(&thing);
        model.own.retain(|(of, _), _| *of != thing);
        model.shared.retain(|(of, _), _| *of != thing);
        model.names.shared.retain(|(of, _), _| *of != thing);
        model.names.ruled.remove(&number);
        model.names.opened.remove(&number);
        (String::new(), 200, 200)
    }

    async fn log_in_outside(&mut self, person: usize, random: &mut Random) -> (String, u16, u16) {
        let told: Vec<usize> = (0..OUTSIDE.len()).filter(|_| random.below(2) == 0).collect();
        self.tell(person, &told.iter().map(|group| OUTSIDE[*group]).collect::<Vec<_>>()).await;
        self.model.names.outside.retain(|(_, member)| *member != person);
        self.model.names.outside.extend(told.into_iter().map(|group| (group, person)));
        (String::new(), 200, 200)
    }

    /// A grant to a group that is named: the one that is kept here, where one of that name is, else the provider's.
    async fn share_by_name(&mut self, person: usize, thing: Thing, random: &mut Random) -> (String, u16, u16) {
        let (outside, level) = (random.below(OUTSIDE.len()), 1 + random.below(3));
        let wanted = OUTSIDE[outside];
        let qualified = random.below(2) == 0;
        let local = self.model.names.groups.iter().position(|name| name == wanted).filter(|_| !qualified);
        let name = if qualified { format!("{SOURCE}/{wanted}") } else { wanted.to_owned() };
        let line = format!("POST /api/access/agent/{}/grants", self.things[0][thing.1]);
        let body = json!({"group": name, "level": LEVELS[level - 1]});
        let may = self.model.may(person, 1, thing, 3);
        let (status, answer) = self.send(person, &line, Some(&body)).await;
        match local {
            _ if !may => {}
            Some(group) => {
                self.model.shared.insert((thing, group), level);
            }
            None => {
                self.model.names.shared.insert((thing, outside), level);
            }
        }
        (format!("{person} {line} {body} {answer}"), status, if may { 200 } else { 403 })
    }

    async fn look_at_domains(&self, person: usize) -> (String, u16, u16) {
        let (status, page) = self.send(person, "GET /api/domains", None).await;
        let all = page["items"].as_array().or(page.as_array());
        let seen: BTreeSet<String> =
            all.into_iter().flatten().filter_map(|one| one["name"].as_str()).map(str::to_owned).collect();
        let expect = self.model.names.domains(person, &self.model);
        let told = format!("{person} sees the domains {seen:?} of {expect:?}");
        (told, if seen == expect { status } else { 1 }, 200)
    }

    async fn look_at_rule(&self, number: usize) -> (String, u16, u16) {
        let agent = self.bed.store.agent(TENANT, AgentId(self.things[0][number])).await.unwrap();
        let rules = self.bed.app().runs.tool_rules(&agent, Origin::Chat, person_id(0)).await.unwrap();
        let expect = self.model.names.ruled.contains(&number);
        (format!("the rule over {}", agent.name), u16::from(rules.len() == 1), u16::from(expect))
    }

    async fn look_at_key(&self) -> (String, u16, u16) {
        let bearer = format!("authorization: Bearer {}", self.key);
        let answer = self.bed.send("GET /v1/models", &[&bearer], "").await;
        let listed: Value = serde_json::from_str(&answer.text).unwrap_or_default();
        let listed = listed["data"].as_array().into_iter().flatten().filter_map(|one| one["id"].as_str());
        let known: BTreeSet<&str> = self.model.names.agents.iter().map(String::as_str).collect();
        let seen: BTreeSet<&str> = listed.filter(|name| known.contains(name)).collect();
        let opened = &self.model.names.opened;
        let expect: BTreeSet<&str> = opened.iter().map(|number| self.model.names.agents[*number].as_str()).collect();
        (format!("the key opens {seen:?} of {expect:?}"), if seen == expect { answer.status } else { 1 }, 200)
    }
}
