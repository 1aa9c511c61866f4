use serde_json::{Value, json};

/// Rows returned if a query has no limit.
pub const DEFAULT_LIMIT: u32 = 100;
pub const MOST_ROWS: u32 = 1000;

pub fn parameters() -> Value {
    let name = json!({"type": "string", "minLength": 1, "maxLength": 128});
    let aggregate = json!({"enum": ["count", "sum", "avg", "min", "max"]});
    let object = |properties: Value, required: &[&str]| json!({"type": "object", "properties": properties, "required": required, "additionalProperties": false});
    let query = object(
        json!({
            "from": name,
            "select": {"type": "array", "maxItems": 30, "items": object(json!({"column": name, "table": name, "aggregate": aggregate}), &[])},
            "join": {"type": "array", "maxItems": 8, "items": name},
            "where": {"type": "array", "maxItems": 12, "items": object(json!({
                "column": name, "table": name,
                "op": {"enum": ["eq", "ne", "gt", "gte", "lt", "lte", "contains", "starts", "in", "is_null"]},
                "value": {"type": ["string", "number", "boolean", "array"], "items": {"type": ["string", "number"]}, "maxItems": 50},
            }), &["column", "op"])},
            "group_by": {"type": "array", "maxItems": 4, "items": object(json!({"column": name, "table": name}), &["column"])},
            "order_by": object(json!({"column": name, "table": name, "aggregate": aggregate, "desc": {"type": "boolean"}}), &[]),
            "distinct": {"type": "boolean"},
            "limit": {"type": "integer", "minimum": 1, "maximum": MOST_ROWS},
        }),
        &["from"],
    );
    object(
        json!({
            "database": {"type": "string", "minLength": 1, "description": "Path of a SQLite, CSV or TSV file in the workspace. Several CSV or TSV files, separated by commas, or a folder of them, are tables of one database"},
            "query": {"description": "A structured query; or {\"schema\": TABLE} for its columns, {\"schema\": \"*\"} for all tables; or {\"sql\": \"SELECT …\"}", "anyOf": [
                query,
                object(json!({"schema": name}), &["schema"]),
                object(json!({"sql": {"type": "string", "minLength": 1, "maxLength": 10000}}), &["sql"]),
            ]},
        }),
        &["database", "query"],
    )
}
