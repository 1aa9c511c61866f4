use crate::args::{DatasourceAction, DatasourceAdd, DatasourceArgs};
use crate::client::Client;
use crate::commands::documents::confirmed;
use crate::commands::picked::{pick, text};
use crate::exit::Exit;
use crate::term::Term;
use http::Method;
use serde_json::{Value, json};

pub async fn run(client: &Client, args: DatasourceArgs, term: Term) -> anyhow::Result<Exit> {
    let as_json = args.json;
    match args.action.unwrap_or(DatasourceAction::List) {
        DatasourceAction::List => list(client, as_json, term).await,
        DatasourceAction::Add(add) => add_one(client, add, as_json, term).await,
        DatasourceAction::Check { name } => {
            let found = find(client, &name).await?;
            let schema: Value = client.act(&format!("{}/check", place(&found))).await?;
            if as_json {
                println!("{schema}");
                return Ok(Exit::Done);
            }
            for table in schema["tables"].as_array().into_iter().flatten() {
                let rows = table["rows"].as_u64().map_or_else(String::new, |rows| format!("{rows} rows"));
                let domains: Vec<&str> =
                    table["domains"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
                println!("{:<32} {rows:>14}  {}", text(table, "name"), term.dim(&domains.join(", ")));
            }
            Ok(Exit::Done)
        }
        DatasourceAction::Set { name, visibility, writable, as_asking_user } => {
            let mut changed = find(client, &name).await?;
            let path = place(&changed);
            if let Some(visibility) = visibility {
                changed["visibility"] = visibility.word().into();
            }
            if let Some(writable) = writable {
                changed["writable"] = writable.into();
            }
            if let Some(asking) = as_asking_user {
                changed["as_asking_user"] = asking.into();
            }
            if let Some(fields) = changed.as_object_mut() {
                fields.remove("id");
                fields.remove("changed_at");
            }
            let now: Value = client.request(Method::PUT, &path, Some(&changed)).await?;
            Ok(term.changed(&now, as_json, &format!("changed `{name}`")))
        }
        DatasourceAction::Remove { name, yes } => {
            let found = find(client, &name).await?;
            let what =
                format!("the datasource `{name}`; the database stays as it is, its domains can't be asked any more");
            if !confirmed(&format!("the datasource `{name}`"), yes, term)? {
                return Ok(Exit::Refused);
            }
            client.delete(&place(&found)).await?;
            Ok(term.changed(&found, as_json, &format!("removed {what}")))
        }
    }
}

pub(super) async fn find(client: &Client, wanted: &str) -> anyhow::Result<Value> {
    let all = client.rows("/api/datasources").await?;
    pick(all, wanted, "datasource", "steward datasource")
}

pub(super) fn place(datasource: &Value) -> String {
    format!("/api/datasources/{}", text(datasource, "id"))
}

async fn list(client: &Client, as_json: bool, term: Term) -> anyhow::Result<Exit> {
    let rows = client.rows("/api/datasources").await?;
    let empty = "There are no datasources. Add one with: steward datasource add NAME sqlite:PATH";
    if term.listed(&rows, as_json, empty) {
        return Ok(Exit::Done);
    }
    for one in &rows {
        let writes = if one["writable"] == true { "changes are confirmed" } else { "only read" };
        let whose = if one["as_asking_user"] == true { "; as who asks" } else { "" };
        let told = format!("{writes}; models see {}{whose}", text(one, "visibility"));
        println!("{:<20} {:<50} {}", text(one, "name"), text(one, "database"), term.dim(&told));
    }
    Ok(Exit::Done)
}

async fn add_one(client: &Client, add: DatasourceAdd, as_json: bool, term: Term) -> anyhow::Result<Exit> {
    let mut body = json!({
        "name": add.name,
        "database": add.database,
        "visibility": add.visibility.word(),
        "writable": add.writable,
        "as_asking_user": add.as_asking_user,
    });
    if let Some(wanted) = &add.credential {
        let all = client.rows("/api/credentials").await?;
        let credential = pick(all, wanted, "credential", "steward credential list")?;
        body["credential"] = credential["id"].clone();
    }
    let made: Value = client.post("/api/datasources", &body).await?;
    let schema: Result<Value, _> = client.act(&format!("{}/check", place(&made))).await;
    let said = match &schema {
        Ok(schema) => format!(
            "added `{}` with {} tables; describe them with: steward domain init {} --save",
            add.name,
            schema["tables"].as_array().map_or(0, Vec::len),
            add.name
        ),
        Err(error) => format!("added `{}`, but it can't be opened: {error:#}", add.name),
    };
    Ok(term.changed(&made, as_json, &said))
}
