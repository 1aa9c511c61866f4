use crate::client::{Client, with_query};
use crate::commands::rows::{Resource, for_administrators, text, time};
use crate::commands::user;
use crate::term::{Exit, Term, print_text};
use clap::Subcommand;
use http::Method;
use serde_json::{Value, json};

/// Groups of users, which have grants together.
#[derive(Debug, Clone, Subcommand)]
#[command(
    after_help = "Examples:\n  steward group\n  steward group create editors --description \"who write for the web site\"\n  steward group add editors ann@example.org ben@example.org\n  steward group drop editors ben@example.org\n\nOnly administrators change groups. Beside a running server, put an administrator's API key (studio: Settings) into STEWARD_API_KEY."
)]
pub enum GroupAction {
    /// List them by name.
    List {
        /// Whose name or description holds this text.
        #[arg(long, value_name = "TEXT")]
        search: Option<String>,
    },
    /// Show one with its members.
    Show {
        /// The name, or the beginning or end of the id.
        group: String,
    },
    /// Make a group without members.
    Create {
        /// Its name.
        name: String,
        /// For people.
        #[arg(long, value_name = "TEXT")]
        description: Option<String>,
    },
    /// Give it another name; its grants stay.
    Rename {
        /// The name, or the beginning or end of the id.
        group: String,
        /// The new name.
        name: String,
    },
    /// Change what is said of it.
    Describe {
        /// The name, or the beginning or end of the id.
        group: String,
        /// The new description; `""` for none.
        description: String,
    },
    /// Remove it for good, with its grants; its members stay.
    Remove {
        /// The name, or the beginning or end of the id.
        group: String,
        /// Don't ask.
        #[arg(long, short = 'y')]
        yes: bool,
    },
    /// Put users in, in force at their next request.
    Add {
        /// The name, or the beginning or end of the id.
        group: String,
        /// Emails, or beginnings or ends of ids.
        #[arg(required = true, value_name = "USER")]
        users: Vec<String>,
    },
    /// Take users out, in force at their next request.
    Drop {
        /// The name, or the beginning or end of the id.
        group: String,
        /// Emails, or beginnings or ends of ids.
        #[arg(required = true, value_name = "USER")]
        users: Vec<String>,
    },
}

const GROUP: Resource = Resource { path: "/api/groups", what: "group", list: "steward group list" };

pub async fn run(client: &Client, action: Option<GroupAction>, term: Term) -> anyhow::Result<Exit> {
    let action = action.unwrap_or(GroupAction::List { search: None });
    let looks = matches!(action, GroupAction::List { .. } | GroupAction::Show { .. });
    act(client, action, term).await.map_err(|error| {
        if looks {
            error
        } else {
            for_administrators(client, error, "changes groups: do it in the studio under Groups")
        }
    })
}

async fn act(client: &Client, action: GroupAction, term: Term) -> anyhow::Result<Exit> {
    match action {
        GroupAction::List { search } => list(client, search, term).await,
        GroupAction::Show { group } => show(client, &group, term).await,
        GroupAction::Create { name, description } => {
            let body = json!({"name": name, "description": description.unwrap_or_default()});
            let made: Value = client.post(GROUP.path, &body).await?;
            let name = text(&made, "name");
            let said = format!("made the group `{name}`; put users in with: steward group add \"{name}\" EMAIL");
            Ok(term.changed(&made, &said))
        }
        GroupAction::Rename { group, name } => {
            let found = find(client, &group).await?;
            let changed = change(client, &found, &json!({"name": name})).await?;
            let said =
                format!("`{}` is called `{}` now; its grants stay", text(&found, "name"), text(&changed, "name"));
            Ok(term.changed(&changed, &said))
        }
        GroupAction::Describe { group, description } => {
            let found = find(client, &group).await?;
            let changed = change(client, &found, &json!({"description": description})).await?;
            Ok(term.changed(&changed, &format!("`{}` is described anew", text(&changed, "name"))))
        }
        GroupAction::Remove { group, yes } => remove(client, &group, yes, term).await,
        GroupAction::Add { group, users } => {
            let (group, emails) = set_members(client, &group, &users, &Method::PUT).await?;
            let said = format!("in `{}` from their next request on: {emails}", text(&group, "name"));
            Ok(term.changed(&group, &said))
        }
        GroupAction::Drop { group, users } => {
            let (group, emails) = set_members(client, &group, &users, &Method::DELETE).await?;
            let said = format!("not in `{}` from their next request on: {emails}", text(&group, "name"));
            Ok(term.changed(&group, &said))
        }
    }
}

async fn list(client: &Client, search: Option<String>, term: Term) -> anyhow::Result<Exit> {
    let empty = match search {
        Some(_) => "No group is like that; `steward group list` shows all.",
        None => "There are no groups. Make one with: steward group create editors",
    };
    let rows = client.rows(&with_query(GROUP.path, [("search", search)])).await?;
    Ok(term.listed(&rows, empty, |group| {
        let source = group["source"].as_str().map(|source| format!("kept by {source}  ")).unwrap_or_default();
        let members = group["members"].as_u64().unwrap_or_default();
        println!("{:<32} {members:>6}  {source}{}", text(group, "name"), term.dim(text(group, "description")));
    }))
}

async fn show(client: &Client, wanted: &str, term: Term) -> anyhow::Result<Exit> {
    let mut group = find(client, wanted).await?;
    let users = client.rows(&format!("{}/members", GROUP.path_of(&group))).await?;
    group["users"] = json!(users);
    Ok(term.shown(&group, || {
        println!("{}  {}", term.bold(text(&group, "name")), term.dim(text(&group, "id")));
        if !text(&group, "description").is_empty() {
            print_text(text(&group, "description"));
        }
        println!("{:<12} {}", "made", time(&group, "created_at"));
        println!("{:<12} {}", "kept by", group["source"].as_str().unwrap_or("this installation"));
        println!("{:<12} {}", "members", users.len());
        for user in &users {
            let state = Some(text(user, "state")).filter(|state| *state != "active").unwrap_or_default();
            println!("    {:<32} {:<10} {state}", text(user, "email"), text(user, "role"));
        }
    }))
}

async fn change(client: &Client, group: &Value, body: &Value) -> anyhow::Result<Value> {
    client.patch(&GROUP.path_of(group), body).await
}

async fn remove(client: &Client, wanted: &str, yes: bool, term: Term) -> anyhow::Result<Exit> {
    let found = find(client, wanted).await?;
    let name = text(&found, "name");
    let question = format!("Remove the group `{name}` for good, with its grants?");
    let nobody = format!("`{name}` would be gone for good, with its grants; add -y if that is meant");
    if !term.confirmed(yes, &question, &nobody, "nothing was removed")? {
        return Ok(Exit::Refused);
    }
    client.delete(&GROUP.path_of(&found)).await?;
    Ok(term.changed(&found, &format!("removed `{name}`; its members stay")))
}

/// The group as it is then, and the emails of the users. All are looked up before the first is put in or taken out.
async fn set_members(
    client: &Client,
    group: &str,
    users: &[String],
    method: &Method,
) -> anyhow::Result<(Value, String)> {
    let path = GROUP.path_of(&find(client, group).await?);
    let mut found = Vec::with_capacity(users.len());
    for wanted in users {
        found.push(user::find(client, wanted).await?);
    }
    for user in &found {
        let member = format!("{path}/members/{}", text(user, "id"));
        client.request::<Value>(method.clone(), &member, None).await?;
    }
    let emails: Vec<&str> = found.iter().map(|user| text(user, "email")).collect();
    Ok((client.get(&path).await?, emails.join(", ")))
}

/// The group of this name, whatever its case, or whose id begins or ends with it.
async fn find(client: &Client, wanted: &str) -> anyhow::Result<Value> {
    let name = wanted.trim().to_lowercase();
    let named = client.rows(&with_query(GROUP.path, [("search", Some(wanted.trim().to_owned()))])).await?;
    if let Some(found) = named.into_iter().find(|group| text(group, "name").to_lowercase() == name) {
        return Ok(found);
    }
    GROUP.find(client, wanted).await
}
