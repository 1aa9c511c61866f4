use crate::args::{TenantAction, TenantArgs};
use crate::client::Client;
use crate::commands::picked::{by_id, for_administrators, text, time};
use crate::commands::user::print_link;
use crate::exit::Exit;
use crate::term::Term;
use anyhow::bail;
use http::Method;
use serde_json::{Value, json};

pub async fn run(client: &Client, args: TenantArgs, term: Term) -> anyhow::Result<Exit> {
    act(client, args.action.unwrap_or(TenantAction::List), args.json, term)
        .await
        .map_err(|error| for_administrators(client, error, "of the installation has organisations:"))
}

async fn act(client: &Client, action: TenantAction, as_json: bool, term: Term) -> anyhow::Result<Exit> {
    match action {
        TenantAction::List => list(client, as_json, term).await,
        TenantAction::Create { slug, admin, name } => {
            let mut body = json!({"slug": slug, "administrator": admin});
            if let Some(name) = name {
                body["name"] = json!(name);
            }
            let made: Value = client.post("/api/tenants", &body).await?;
            let user =
                json!({"tenant": made["tenant"], "user": made["administrator"], "invitation": made["invitation"]});
            print_link(client, &user, as_json, term)
        }
        TenantAction::Rename { tenant, name } => {
            let changed = change(client, &tenant, &json!({"name": name})).await?;
            let said = format!("`{}` is called {} now", text(&changed, "slug"), text(&changed, "name"));
            Ok(term.changed(&changed, as_json, &said))
        }
        TenantAction::Disable { tenant } => {
            let changed = change(client, &tenant, &json!({"disabled": true})).await?;
            let said = format!(
                "`{}` is disabled: its logins, keys, runs and streams have ended. Take it back with: steward tenant enable {0}",
                text(&changed, "slug")
            );
            Ok(term.changed(&changed, as_json, &said))
        }
        TenantAction::Enable { tenant } => {
            let changed = change(client, &tenant, &json!({"disabled": false})).await?;
            Ok(term.changed(&changed, as_json, &format!("`{}` is open again; its runs go on", text(&changed, "slug"))))
        }
        TenantAction::Delete { tenant, confirm } => delete(client, &tenant, confirm, as_json, term).await,
    }
}

async fn list(client: &Client, as_json: bool, term: Term) -> anyhow::Result<Exit> {
    let rows = client.rows("/api/tenants").await?;
    if term.listed(&rows, as_json, "There are no organisations.") {
        return Ok(Exit::Done);
    }
    for tenant in &rows {
        let disabled = time(tenant, "disabled_at");
        let state = match (&tenant["default"], disabled.as_str()) {
            (Value::Bool(true), _) => "the installation's own".to_owned(),
            (_, "") => String::new(),
            (_, since) => format!("disabled since {since}"),
        };
        println!("{:<24} {:<32} {}", text(tenant, "slug"), text(tenant, "name"), term.dim(&state));
    }
    Ok(Exit::Done)
}

async fn change(client: &Client, wanted: &str, body: &Value) -> anyhow::Result<Value> {
    let found = find(client, wanted).await?;
    client.request(Method::PATCH, &path_of(&found), Some(body)).await
}

async fn delete(
    client: &Client,
    wanted: &str,
    confirm: Option<String>,
    as_json: bool,
    term: Term,
) -> anyhow::Result<Exit> {
    let found = find(client, wanted).await?;
    let slug = text(&found, "slug");
    let typed = match confirm {
        Some(typed) => typed,
        None if !term.can_ask => {
            bail!("`{slug}` would be gone for good, with every row and file; add --confirm {slug} if that is meant")
        }
        None if term.agrees(&format!("Delete `{slug}` for good, with every row and file? [y/N]")) => slug.to_owned(),
        None => {
            term.say("nothing was deleted");
            return Ok(Exit::Refused);
        }
    };
    let deleted: Value = client.request(Method::DELETE, &path_of(&found), Some(&json!({"slug": typed}))).await?;
    let rows: u64 = deleted["tables"].as_array().into_iter().flatten().filter_map(|one| one["rows"].as_u64()).sum();
    let said = format!("deleted `{slug}`: {rows} rows and {} files; the audit trail has the counts", deleted["files"]);
    Ok(term.changed(&deleted, as_json, &said))
}

fn path_of(tenant: &Value) -> String {
    format!("/api/tenants/{}", text(tenant, "id"))
}

/// The organisation of this slug, or whose id begins or ends with it.
async fn find(client: &Client, wanted: &str) -> anyhow::Result<Value> {
    let rows = client.rows("/api/tenants").await?;
    if let Some(found) = rows.iter().find(|tenant| text(tenant, "slug") == wanted) {
        return Ok(found.clone());
    }
    let none = format!("there is no organisation `{wanted}`; `steward tenant list` shows them");
    if wanted.len() < 4 {
        bail!(none);
    }
    by_id(rows, wanted, |tenant| text(tenant, "id").to_owned(), "organisations", &none)
}
