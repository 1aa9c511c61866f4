use crate::client::Client;
use crate::commands::rows::{Resource, by_id, for_administrators, items, object, text, time};
use crate::commands::user::print_link;
use crate::term::{Exit, Term};
use anyhow::bail;
use clap::Subcommand;
use http::Method;
use serde_json::{Value, json};

/// Organisations, whose people, agents and data are apart from each other.
#[derive(Debug, Clone, Subcommand)]
#[command(
    after_help = "Examples:\n  steward tenant\n  steward tenant create acme --admin ann@acme.example\n  steward tenant disable acme\n  steward tenant delete acme --confirm acme\n\nOnly administrators of the installation may. Beside a running server, put such an administrator's API key (studio: Settings) into STEWARD_API_KEY."
)]
pub enum TenantAction {
    /// List them by slug.
    List,
    /// Make one, and the link for its first administrator.
    Create {
        /// By which logins name it: lower-case letters, digits and hyphens.
        slug: String,
        /// Email of its first administrator.
        #[arg(long, value_name = "EMAIL")]
        admin: String,
        /// To show.
        #[arg(long, value_name = "TEXT")]
        name: Option<String>,
    },
    /// Give it another name; its slug stays.
    Rename {
        /// The slug, or the beginning or end of the id.
        tenant: String,
        /// The new name.
        name: String,
    },
    /// End its logins, keys, runs and streams, and let nobody in.
    Disable {
        /// The slug, or the beginning or end of the id.
        tenant: String,
    },
    /// Take the disabling back.
    Enable {
        /// The slug, or the beginning or end of the id.
        tenant: String,
    },
    /// Delete one that is disabled for good, with every row and file.
    Delete {
        /// The slug.
        tenant: String,
        /// The slug once more, in place of the question.
        #[arg(long, value_name = "SLUG")]
        confirm: Option<String>,
    },
}

const TENANT: Resource = Resource { path: "/api/tenants", what: "organisation", list: "steward tenant list" };

pub async fn run(client: &Client, action: Option<TenantAction>, term: Term) -> anyhow::Result<Exit> {
    act(client, action.unwrap_or(TenantAction::List), term)
        .await
        .map_err(|error| for_administrators(client, error, "of the installation has organisations:"))
}

async fn act(client: &Client, action: TenantAction, term: Term) -> anyhow::Result<Exit> {
    match action {
        TenantAction::List => list(client, term).await,
        TenantAction::Create { slug, admin, name } => {
            let body = object([
                ("slug", Some(slug.into())),
                ("administrator", Some(admin.into())),
                ("name", name.map(Value::from)),
            ]);
            let made: Value = client.post(TENANT.path, &Value::Object(body)).await?;
            let user =
                json!({"tenant": made["tenant"], "user": made["administrator"], "invitation": made["invitation"]});
            print_link(client, &user, term)
        }
        TenantAction::Rename { tenant, name } => {
            let changed = change(client, &tenant, &json!({"name": name})).await?;
            let said = format!("`{}` is called {} now", text(&changed, "slug"), text(&changed, "name"));
            Ok(term.changed(&changed, &said))
        }
        TenantAction::Disable { tenant } => {
            let changed = change(client, &tenant, &json!({"disabled": true})).await?;
            let said = format!(
                "`{}` is disabled: its logins, keys, runs and streams have ended. Take it back with: steward tenant enable {0}",
                text(&changed, "slug")
            );
            Ok(term.changed(&changed, &said))
        }
        TenantAction::Enable { tenant } => {
            let changed = change(client, &tenant, &json!({"disabled": false})).await?;
            Ok(term.changed(&changed, &format!("`{}` is open again; its runs go on", text(&changed, "slug"))))
        }
        TenantAction::Delete { tenant, confirm } => delete(client, &tenant, confirm, term).await,
    }
}

async fn list(client: &Client, term: Term) -> anyhow::Result<Exit> {
    let rows = client.rows(TENANT.path).await?;
    Ok(term.listed(&rows, "There are no organisations.", |tenant| {
        let disabled = time(tenant, "disabled_at");
        let state = match (&tenant["default"], disabled.as_str()) {
            (Value::Bool(true), _) => "the installation's own".to_owned(),
            (_, "") => String::new(),
            (_, since) => format!("disabled since {since}"),
        };
        println!("{:<24} {:<32} {}", text(tenant, "slug"), text(tenant, "name"), term.dim(&state));
    }))
}

async fn change(client: &Client, wanted: &str, body: &Value) -> anyhow::Result<Value> {
    client.patch(&TENANT.path_of(&find(client, wanted).await?), body).await
}

async fn delete(client: &Client, wanted: &str, confirm: Option<String>, term: Term) -> anyhow::Result<Exit> {
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
    let deleted: Value = client.request(Method::DELETE, &TENANT.path_of(&found), Some(&json!({"slug": typed}))).await?;
    let rows: u64 = items(&deleted, "tables").iter().filter_map(|one| one["rows"].as_u64()).sum();
    let said = format!("deleted `{slug}`: {rows} rows and {} files; the audit trail has the counts", deleted["files"]);
    Ok(term.changed(&deleted, &said))
}

/// The organisation of this slug, or whose id begins or ends with it.
async fn find(client: &Client, wanted: &str) -> anyhow::Result<Value> {
    let rows = client.rows(TENANT.path).await?;
    if let Some(found) = rows.iter().find(|tenant| text(tenant, "slug") == wanted) {
        return Ok(found.clone());
    }
    let none = format!("there is no organisation `{wanted}`; `steward tenant list` shows them");
    if wanted.len() < 4 {
        bail!(none);
    }
    by_id(rows, wanted, |tenant| text(tenant, "id").to_owned(), "organisations", &none)
}
