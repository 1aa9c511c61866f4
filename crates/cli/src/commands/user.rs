use crate::args::{UserAction, UserArgs, UserQuery, Word};
use crate::client::{Client, encoded};
use crate::commands::picked::{by_id, for_administrators, text, time};
use crate::exit::Exit;
use crate::term::Term;
use anyhow::{Context, bail};
use http::Method;
use serde_json::{Value, json};

/// Where the server is reached by default, for a link that is made without one.
const DEFAULT_URL: &str = "http://127.0.0.1:8800";

pub async fn run(client: &Client, args: UserArgs, term: Term) -> anyhow::Result<Exit> {
    let action = args.action.unwrap_or_else(|| UserAction::List(UserQuery::default()));
    act(client, action, args.json, term)
        .await
        .map_err(|error| for_administrators(client, error, "manages users: do it in the studio under Users"))
}

async fn act(client: &Client, action: UserAction, as_json: bool, term: Term) -> anyhow::Result<Exit> {
    match action {
        UserAction::List(query) => list(client, &query, as_json, term).await,
        UserAction::Show { user } => {
            let found = find(client, &user).await?;
            let detail: Value = client.get(&path_of(&found)).await?;
            Ok(show(&detail, as_json, term))
        }
        UserAction::Invite { email, role, name } => {
            let mut body = json!({"email": email, "role": role.word()});
            if let Some(name) = name {
                body["name"] = json!(name);
            }
            let invited: Value = client.post("/api/users", &body).await?;
            print_link(client, &invited, as_json, term)
        }
        UserAction::Link { user } => {
            let found = find(client, &user).await?;
            let invited: Value = client.act(&format!("{}/invitation", path_of(&found))).await?;
            print_link(client, &invited, as_json, term)
        }
        UserAction::Role { user, role } => {
            let changed = change(client, &user, &json!({"role": role.word()})).await?;
            let said = format!("{} is {} from the next request on", text(&changed, "email"), text(&changed, "role"));
            Ok(term.changed(&changed, as_json, &said))
        }
        UserAction::Rename { user, name } => {
            let changed = change(client, &user, &json!({"name": name})).await?;
            let said = format!("{} is called {}", text(&changed, "email"), text(&changed, "name"));
            Ok(term.changed(&changed, as_json, &said))
        }
        UserAction::Disable { user } => {
            let changed = change(client, &user, &json!({"disabled": true})).await?;
            let said = format!(
                "{} is disabled: logins have ended, keys open nothing. Take it back with: steward user enable {0}",
                text(&changed, "email")
            );
            Ok(term.changed(&changed, as_json, &said))
        }
        UserAction::Enable { user } => {
            let changed = change(client, &user, &json!({"disabled": false})).await?;
            let said = format!("{} may log in again, and their keys are good", text(&changed, "email"));
            Ok(term.changed(&changed, as_json, &said))
        }
        UserAction::Remove { user, yes } => remove(client, &user, yes, as_json, term).await,
        UserAction::EndSessions { user } => {
            let found = find(client, &user).await?;
            let done: Value = client.act(&format!("{}/sessions/end", path_of(&found))).await?;
            let said = format!("logins of {} ended: {}", text(&found, "email"), done["ended"]);
            Ok(term.changed(&done, as_json, &said))
        }
    }
}

async fn list(client: &Client, query: &UserQuery, as_json: bool, term: Term) -> anyhow::Result<Exit> {
    let mut params = Vec::new();
    params.extend(query.search.as_ref().map(|text| format!("search={}", encoded(text))));
    params.extend(query.role.map(|role| format!("role={}", role.word())));
    params.extend(query.state.map(|state| format!("state={}", state.word())));
    let rows = client.rows(&format!("/api/users?{}", params.join("&"))).await?;
    let empty = "No user is like that. Invite somebody with: steward user invite ann@example.org --role developer";
    if term.listed(&rows, as_json, empty) {
        return Ok(Exit::Done);
    }
    for user in &rows {
        println!(
            "{:<32} {:<10} {:<9} {}",
            text(user, "email"),
            text(user, "role"),
            text(user, "state"),
            term.dim(&seen(user))
        );
    }
    Ok(Exit::Done)
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

fn show(user: &Value, as_json: bool, term: Term) -> Exit {
    if as_json {
        println!("{user}");
        return Exit::Done;
    }
    println!("{}  {}", term.bold(text(user, "email")), term.dim(text(user, "id")));
    println!("{:<12} {}", "name", text(user, "name"));
    println!("{:<12} {}", "role", text(user, "role"));
    println!("{:<12} {}", "state", text(user, "state"));
    println!("{:<12} {}", "logins", user["sessions"]);
    println!("{:<12} {}", "API key", if user["has_api_key"] == true { "yes" } else { "no" });
    for (title, field) in [
        ("made", "created_at"),
        ("last login", "last_login_at"),
        ("disabled", "disabled_at"),
        ("link until", "invitation_expires_at"),
    ] {
        let at = time(user, field);
        if !at.is_empty() {
            println!("{title:<12} {at}");
        }
    }
    Exit::Done
}

pub(super) fn print_link(client: &Client, invited: &Value, as_json: bool, term: Term) -> anyhow::Result<Exit> {
    let (user, invitation) = (&invited["user"], &invited["invitation"]);
    let email = text(user, "email");
    let token = invitation["token"].as_str().with_context(|| {
        format!("the link was made, but the answer with it was lost; make another: steward user link {email}")
    })?;
    if as_json {
        println!("{invited}");
        return Ok(Exit::Done);
    }
    let base = client.server_url().unwrap_or_else(|| DEFAULT_URL.to_owned());
    println!("{base}/invitation#token={token}&email={}", encoded(email));
    Ok(term.done(&format!(
        "This is the only time that the link is shown. Hand it to {email}: until {} they choose a password with it.\nIf they reach the server by another address, put that in the place of {base}.",
        time(invitation, "expires_at")
    )))
}

async fn change(client: &Client, wanted: &str, body: &Value) -> anyhow::Result<Value> {
    let found = find(client, wanted).await?;
    client.request(Method::PATCH, &path_of(&found), Some(body)).await
}

async fn remove(client: &Client, wanted: &str, yes: bool, as_json: bool, term: Term) -> anyhow::Result<Exit> {
    let found = find(client, wanted).await?;
    let email = text(&found, "email");
    if !yes {
        if !term.can_ask {
            bail!("{email} would be gone for good, with their keys and budgets; add -y if that is meant");
        }
        if !term.agrees(&format!("Remove {email} for good, with their keys and budgets? [y/N]")) {
            term.say("nothing was removed");
            return Ok(Exit::Refused);
        }
    }
    client.delete(&path_of(&found)).await?;
    Ok(term.changed(&found, as_json, &format!("removed {email}; their runs stay")))
}

fn path_of(user: &Value) -> String {
    format!("/api/users/{}", text(user, "id"))
}

/// The user of this email, or whose id begins or ends with it.
pub(super) async fn find(client: &Client, wanted: &str) -> anyhow::Result<Value> {
    let none = format!("there is no user `{wanted}`; `steward user list` shows them");
    if wanted.contains('@') {
        let email = wanted.trim().to_lowercase();
        let rows = client.rows(&format!("/api/users?search={}", encoded(&email))).await?;
        return rows.into_iter().find(|user| text(user, "email") == email).context(none);
    }
    if wanted.len() < 4 {
        bail!("`{wanted}` is too short for a part of an id; give the email, or more of the id");
    }
    let rows = client.rows("/api/users").await?;
    by_id(rows, wanted, |user| text(user, "id").to_owned(), "users", &none)
}
