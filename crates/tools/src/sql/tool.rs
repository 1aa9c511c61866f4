use super::file_work::work_on_file;
use super::{databases, show};
use crate::error::ToolsError;
use crate::handler::{Context, ToolHandler};
use serde::Deserialize;
use serde_json::json;
use std::path::Path;
use steward_core::tables::{Ask, Schema};
use steward_core::tool::ToolOutput;
use steward_sandbox::sql::{Guard, Policy};

pub struct SqlTool;

#[derive(Debug, Clone, Deserialize)]
pub struct SqlArgs {
    /// Path of the database, or of CSV, TSV and Parquet files.
    pub database: String,
    pub query: Ask,
}

impl ToolHandler for SqlTool {
    type Args = SqlArgs;
    const NAME: &'static str = "sql";

    async fn run(&self, args: SqlArgs, context: &Context) -> Result<ToolOutput, ToolsError> {
        let context = context.clone();
        let file = Path::new(&context.scope.workspace).join(&args.database);
        work_on_file(file, move || ask(&args, &context).map_err(ToolsError::Refused)).await
    }
}

fn ask(args: &SqlArgs, context: &Context) -> Result<ToolOutput, String> {
    let workspace = &context.scope.workspace;
    let reads = databases::files_of(workspace, &args.database)?;
    let guard = databases::open(workspace, &args.database, Policy::default(), &context.scope.consulted)?;
    let done = match &args.query {
        Ask::Schema { schema } => schema_of(&guard, schema),
        Ask::Sql { sql } => answer(&guard, sql),
    };
    // An error may quote the names of columns, and what stands in them.
    let output = done.unwrap_or_else(|why| ToolOutput { failed: true, ..ToolOutput::text(why) });
    Ok(ToolOutput { reads, ..output })
}

fn answer(guard: &Guard, sql: &str) -> Result<ToolOutput, String> {
    let rows = guard.query(sql).map_err(|error| error.to_string())?;
    Ok(show::output(&rows, None, sql))
}

fn schema_of(guard: &Guard, wanted: &str) -> Result<ToolOutput, String> {
    let schema: Schema = guard.schema().map_err(|error| error.to_string())?;
    let only = (wanted != "*").then_some(wanted);
    let text = show::schema(&schema, only);
    if text.is_empty() {
        let known: Vec<&str> = schema.tables.iter().map(|table| table.name.as_str()).collect();
        return Err(format!("there is no table `{wanted}`; the tables are {}", known.join(", ")));
    }
    let tables: Vec<_> =
        schema.tables.iter().filter(|table| only.is_none_or(|name| table.name.eq_ignore_ascii_case(name))).collect();
    Ok(ToolOutput { content: text, data: Some(json!({"tables": tables})), ..ToolOutput::default() })
}
