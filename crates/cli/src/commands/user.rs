use super::rows::{Resource, by_id, for_administrators, object, print_facts, text, time};
use crate::client::{Client, encoded, with_query};
use crate::options::{ROLES, Word};
use crate::term::{Exit, Term};
use anyhow::{Context, bail};
use clap::{Args, Subcommand, ValueEnum};
use serde_json::{Value, json};

/// Which users are listed.
#[derive(Debug, Clone, Default, Args)]
pub struct UserQuery {
    /// Whose email or name holds this text.
    #[arg(long, value_name = "TEXT")]
    search: Option<String>,
    /// With this role.
    #[arg(long, value_name = "ROLE", value_parser = ROLES)]
    role: Option<String>,
    /// In this state.
    #[arg(long, value_name = "STATE")]
    state: Option<StateArg>,
}

/// Users: invite, list, change, disable or remove them.
#[derive(Debug, Clone, Subcommand)]
#[command(
    after_help = "Examples:\n  steward user\n  steward user invite ann@example.org --role developer\n  steward user link ann@example.org\n  steward user role ann@example.org operator\n  steward user disable ann@example.org\n\nOnly administrators may. Beside a running server, put an administrator's API key (studio: Settings) into STEWARD_API_KEY."
)]
pub enum UserAction {
    /// List them by email.
    List(UserQuery),
    /// Show one.
    Show {
        /// The email, or the beginning or end of the id.
        user: String,
    },
    /// Invite somebody; prints a link by which they choose a password within 7 days, this once.
    Invite {
        /// Their email. Nothing is sent to it: hand the link over yourself.
        email: String,
        /// What they may do.
        #[arg(long, value_name = "ROLE", value_parser = ROLES)]
        role: String,
        /// Their name; by default the first part of the email.
        #[arg(long, value_name = "NAME")]
        name: Option<String>,
    },
    /// Make a new link, in the place of the one before; also for somebody who has forgotten their password.
    Link {
        /// The email, or the beginning or end of the id.
        user: String,
    },
    /// Give somebody another role, in force at their next request.
    Role {
        /// The email, or the beginning or end of the id.
        user: String,
        /// The new role.
        #[arg(value_parser = ROLES)]
        role: String,
    },
    /// Change the name that is shown.
    Rename {
        /// The email, or the beginning or end of the id.
        user: String,
        /// The new name.
        name: String,
    },
    /// Shut somebody out: their logins end, and no key of theirs opens anything.
    Disable {
        /// The email, or the beginning or end of the id.
        user: String,
    },
    /// Let somebody in again who was disabled.
    Enable {
        /// The email, or the beginning or end of the id.
        user: String,
    },
    /// Remove somebody who is disabled or never accepted, with their keys and budgets; their runs stay.
    Remove {
        /// The email, or the beginning or end of the id.
        user: String,
        /// Don't ask.
        #[arg(long, short = 'y')]
        yes: bool,
    },
    /// Log somebody out everywhere; their keys stay good.
    EndSessions {
        /// The email, or the beginning or end of the id.
        user: String,
    },
}

/// States of users.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum StateArg {
    /// They can log in.
    Active,
    /// They have not chosen a password yet.
    Invited,
    /// Nothing of theirs opens anything.
    Disabled,
}

const USER: Resource = Resource { path: "/api/users", what: "user", list: "steward user list" };

/// Where the server is reached by default, for a link that is made without one.
const DEFAULT_URL: &str = "http://127.0.0.1:8800";

pub async fn run(client: &Client, action: Option<UserAction>, term: Term) -> anyhow::Result<Exit> {
    let action = action.unwrap_or_else(|| UserAction::List(UserQuery::default()));
    act(client, action, term)
        .await
        .map_err(|error| for_administrators(client, error, "manages users: do it in the studio under Users"))
}

async fn act(client: &Client, action: UserAction, term: Term) -> anyhow::Result<Exit> {
    match action {
        UserAction::List(query) => list(client, &query, term).await,
        UserAction::Show { user } => {
            let found: Value = client.get(&USER.path_of(&find(client, &user).await?)).await?;
            Ok(term.shown(&found, || show(&found, term)))
        }
        UserAction::Invite { email, role, name } => {
            let body =
                object([("email", Some(email.into())), ("role", Some(role.into())), ("name", name.map(Value::from))]);
            let invited: Value = client.post(USER.path, &Value::Object(body)).await?;
            print_link(client, &invited, term)
        }
        UserAction::Link { user } => {
            let found = find(client, &user).await?;
            let invited: Value = client.act(&format!("{}/invitation", USER.path_of(&found))).await?;
            print_link(client, &invited, term)
        }
        UserAction::Role { user, role } => {
            let changed = change(client, &user, &json!({"role": role})).await?;
            let said = format!("{} is {} from the next request on", text(&changed, "email"), text(&changed, "role"));
            Ok(term.changed(&changed, &said))
        }
        UserAction::Rename { user, name } => {
            let changed = change(client, &user, &json!({"name": name})).await?;
            let said = format!("{} is called {}", text(&changed, "email"), text(&changed, "name"));
            Ok(term.changed(&changed, &said))
        }
        UserAction::Disable { user } => {
            let changed = change(client, &user, &json!({"disabled": true})).await?;
            let said = format!(
                "{} is disabled: logins have ended, keys open nothing. Take it back with: steward user enable {0}",
                text(&changed, "email")
            );
            Ok(term.changed(&changed, &said))
        }
        UserAction::Enable { user } => {
            let changed = change(client, &user, &json!({"disabled": false})).await?;
            let said = format!("{} may log in again, and their keys are good", text(&changed, "email"));
            Ok(term.changed(&changed, &said))
        }
        UserAction::Remove { user, yes } => remove(client, &user, yes, term).await,
        UserAction::EndSessions { user } => {
            let found = find(client, &user).await?;
            let done: Value = client.act(&format!("{}/sessions/end", USER.path_of(&found))).await?;
            let said = format!("logins of {} ended: {}", text(&found, "email"), done["ended"]);
            Ok(term.changed(&done, &said))
        }
    }
}

async fn list(client: &Client, query: &UserQuery, term: Term) -> anyhow::Result<Exit> {
    let state = query.state.map(Word::word);
    let parts = [("search", query.search.clone()), ("role", query.role.clone()), ("state", state)];
    let rows = client.rows(&with_query(USER.path, parts)).await?;
    let empty = "No user is like that. Invite somebody with: steward user invite ann@example.org --role developer";
    Ok(term.listed(&rows, empty, |user| {
        println!(
            "{:<32} {:<10} {:<9} {}",
            text(user, "email"),
            text(user, "role"),
            text(user, "state"),
            term.dim(&seen(user))
        );
    }))
}

fn seen(user: &Value) -> String {
    let login = time(user, "last_login_at");
    match text(user, "state") {
        "disabled" => format!("since {}", time(user, "disabled_at")),
        "invited" => format!("link until {}", time(user, "invitation_expires_at")),
        _ if login.is_empty() => "never logged in".to_owned(),
        _ => format!("last login {login}"),
    }
}

fn show(user: &Value, term: Term) {
    println!("{}  {}", term.bold(text(user, "email")), term.dim(text(user, "id")));
    println!("{:<12} {}", "name", text(user, "name"));
    println!("{:<12} {}", "role", text(user, "role"));
    println!("{:<12} {}", "state", text(user, "state"));
    println!("{:<12} {}", "logins", user["sessions"]);
    println!("{:<12} {}", "API key", if user["has_api_key"] == true { "yes" } else { "no" });
    let times = [
        ("made", "created_at"),
        ("last login", "last_login_at"),
        ("disabled", "disabled_at"),
        ("link until", "invitation_expires_at"),
    ];
    print_facts(times.map(|(title, field)| (title, time(user, field))));
}

pub(super) fn print_link(client: &Client, invited: &Value, term: Term) -> anyhow::Result<Exit> {
    let (user, invitation) = (&invited["user"], &invited["invitation"]);
    let email = text(user, "email");
    let token = invitation["token"].as_str().with_context(|| {
        format!("the link was made, but the answer with it was lost; make another: steward user link {email}")
    })?;
    let base = client.server_url().unwrap_or_else(|| DEFAULT_URL.to_owned());
    Ok(term.shown(invited, || {
        println!("{base}/invitation#token={token}&email={}", encoded(email));
        term.say(&format!(
            "This is the only time that the link is shown. Hand it to {email}: until {} they choose a password with it.",
            time(invitation, "expires_at")
        ));
        term.say(&format!("If they reach the server by another address, put that in the place of {base}."));
    }))
}

async fn change(client: &Client, wanted: &str, body: &Value) -> anyhow::Result<Value> {
    client.patch(&USER.path_of(&find(client, wanted).await?), body).await
}

async fn remove(client: &Client, wanted: &str, yes: bool, term: Term) -> anyhow::Result<Exit> {
    let found = find(client, wanted).await?;
    let email = text(&found, "email");
    if !term.removal_confirmed(yes, email, ", with their keys and budgets")? {
        return Ok(Exit::Refused);
    }
    client.delete(&USER.path_of(&found)).await?;
    Ok(term.changed(&found, &format!("removed {email}; their runs stay")))
}

/// The user of this email, or whose id begins or ends with it.
pub(super) async fn find(client: &Client, wanted: &str) -> anyhow::Result<Value> {
    let none = format!("there is no user `{wanted}`; `steward user list` shows them");
    if wanted.contains('@') {
        let email = wanted.trim().to_lowercase();
        let rows = client.rows(&with_query(USER.path, [("search", Some(email.clone()))])).await?;
        return rows.into_iter().find(|user| text(user, "email") == email).context(none);
    }
    if wanted.len() < 4 {
        bail!("`{wanted}` is too short for a part of an id; give the email, or more of the id");
    }
    let rows = client.rows(USER.path).await?;
    by_id(rows, wanted, |user| text(user, "id").to_owned(), "users", &none)
}
