use super::rows::{CREDENTIAL, Resource, items, joined, object, text, texts};
use crate::client::Client;
use crate::options::Word;
use crate::term::{Exit, Term};
use clap::{Args, Subcommand, ValueEnum};
use serde_json::{Value, json};

/// Databases that agents may ask through domains: add, check, remove.
#[derive(Debug, Clone, Subcommand)]
#[command(
    after_help = "Examples:\n  steward datasource add shop sqlite:shop.db\n  steward datasource add erp postgres://db.example.org/erp --credential erp-reader\n  steward datasource check shop"
)]
pub enum DatasourceAction {
    /// List them.
    List,
    /// Add a database.
    Add(DatasourceAdd),
    /// Open it anew and show its tables.
    Check {
        /// Its name.
        name: String,
    },
    /// Let people confirm changes of its rows, or only read it.
    Set {
        /// Its name.
        name: String,
        /// How much of the rows models see.
        #[arg(long)]
        visibility: Option<Visibility>,
        /// Whether people may confirm changes of its rows.
        #[arg(long)]
        writable: Option<bool>,
        /// Whether PostgreSQL runs queries as its role that is called like the e-mail address of who asks.
        #[arg(long)]
        as_asking_user: Option<bool>,
        /// Whether strangers may have written its texts: an agent that has read them asks before it acts.
        #[arg(long)]
        untrusted: Option<bool>,
    },
    /// Take it away; the database stays as it is.
    Remove {
        /// Its name.
        name: String,
        /// Don't ask.
        #[arg(long, short)]
        yes: bool,
    },
}

/// A database to add.
#[derive(Debug, Clone, Args)]
pub struct DatasourceAdd {
    /// What domains call it: letters, digits and `_`.
    name: String,
    /// `sqlite:PATH` or `folder:PATH` (of CSV, JSON or Parquet files) in the workspace, `postgres://HOST/NAME`, `mysql://HOST/NAME` or `mariadb://HOST/NAME`.
    #[arg(value_name = "DATABASE")]
    address: String,
    /// The credential with its user and password.
    #[arg(long, value_name = "NAME")]
    credential: Option<String>,
    /// How much of the rows models see.
    #[arg(long, default_value = "full")]
    visibility: Visibility,
    /// Let people confirm changes of its rows.
    #[arg(long)]
    writable: bool,
    /// Have PostgreSQL run queries as its role that is called like the e-mail address of who asks.
    #[arg(long)]
    as_asking_user: bool,
    /// The house alone writes its texts: an agent that has read them isn't held back.
    #[arg(long)]
    trusted: bool,
}

/// How much of the rows models see.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Visibility {
    /// All rows of an answer.
    Full,
    /// The first five, and how many there are.
    Sample,
    /// Keys only.
    Ids,
    /// How many rows there are.
    Counts,
}

pub(super) const DATASOURCE: Resource =
    Resource { path: "/api/datasources", what: "datasource", list: "steward datasource" };

pub async fn run(client: &Client, action: Option<DatasourceAction>, term: Term) -> anyhow::Result<Exit> {
    match action.unwrap_or(DatasourceAction::List) {
        DatasourceAction::List => list(client, term).await,
        DatasourceAction::Add(add) => add_one(client, add, term).await,
        DatasourceAction::Check { name } => {
            let found = DATASOURCE.find(client, &name).await?;
            let schema: Value = client.act(&format!("{}/check", DATASOURCE.path_of(&found))).await?;
            Ok(term.shown(&schema, || {
                for what in texts(&schema, "left_out") {
                    println!("left out: {what}");
                }
                for table in items(&schema, "tables") {
                    let rows = table["rows"].as_u64().map_or_else(String::new, |rows| format!("{rows} rows"));
                    println!("{:<32} {rows:>14}  {}", text(table, "name"), term.dim(&joined(table, "domains")));
                }
            }))
        }
        DatasourceAction::Set { name, visibility, writable, as_asking_user, untrusted } => {
            let found = DATASOURCE.find(client, &name).await?;
            let mut fields = found.as_object().cloned().unwrap_or_default();
            fields.retain(|field, _| !["id", "changed_at"].contains(&field.as_str()));
            fields.extend(object([
                ("visibility", visibility.map(|visibility| visibility.word().into())),
                ("writable", writable.map(Value::from)),
                ("as_asking_user", as_asking_user.map(Value::from)),
                ("untrusted", untrusted.map(Value::from)),
            ]));
            let now: Value = client.put(&DATASOURCE.path_of(&found), &Value::Object(fields)).await?;
            Ok(term.changed(&now, &format!("changed `{name}`")))
        }
        DatasourceAction::Remove { name, yes } => {
            let found = DATASOURCE.find(client, &name).await?;
            let what = format!("the datasource `{name}`");
            if !term.removal_confirmed(yes, &what, "")? {
                return Ok(Exit::Refused);
            }
            client.delete(&DATASOURCE.path_of(&found)).await?;
            let said = format!("removed {what}; the database stays as it is, its domains can't be asked any more");
            Ok(term.changed(&found, &said))
        }
    }
}

async fn list(client: &Client, term: Term) -> anyhow::Result<Exit> {
    let rows = client.rows(DATASOURCE.path).await?;
    let empty = "There are no datasources. Add one with: steward datasource add NAME sqlite:PATH";
    Ok(term.listed(&rows, empty, |one| {
        let writes = if one["writable"] == true { "changes are confirmed" } else { "only read" };
        let whose = if one["as_asking_user"] == true { "; as who asks" } else { "" };
        let told = format!("{writes}; models see {}{whose}", text(one, "visibility"));
        println!("{:<20} {:<50} {}", text(one, "name"), text(one, "database"), term.dim(&told));
    }))
}

/// What of a folder is no table, a line each.
fn left_out(schema: &Value) -> String {
    let mut said = String::new();
    for what in texts(schema, "left_out") {
        said.push_str("\nleft out: ");
        said.push_str(what);
    }
    said
}

async fn add_one(client: &Client, add: DatasourceAdd, term: Term) -> anyhow::Result<Exit> {
    let mut body = json!({
        "name": add.name,
        "database": add.address,
        "visibility": add.visibility.word(),
        "writable": add.writable,
        "as_asking_user": add.as_asking_user,
        "untrusted": !add.trusted,
    });
    if let Some(wanted) = &add.credential {
        body["credential"] = CREDENTIAL.find(client, wanted).await?["id"].take();
    }
    let made: Value = client.post(DATASOURCE.path, &body).await?;
    let schema: Result<Value, _> = client.act(&format!("{}/check", DATASOURCE.path_of(&made))).await;
    let said = match &schema {
        Ok(schema) => {
            let tables = items(schema, "tables").len();
            let added = format!(
                "added `{}` with {tables} tables; describe them with: steward domain init {} --save",
                add.name, add.name
            );
            added + &left_out(schema)
        }
        Err(error) => format!("added `{}`, but it can't be opened: {error:#}", add.name),
    };
    Ok(term.changed(&made, &said))
}
