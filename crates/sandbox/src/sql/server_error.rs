//! What the errors of database servers mean.

use sqlx::mysql::MySqlDatabaseError;
use sqlx::postgres::PgDatabaseError;

use super::error::{SqlError, denied, limit, shorten, syntax};

/// A timeout has no time yet: [`super::remote::Remote`] says which one was allowed.
impl From<sqlx::Error> for SqlError {
    fn from(error: sqlx::Error) -> Self {
        let sqlx::Error::Database(server) = &error else { return no_connection(&error) };
        let message = shorten(server.message());
        match server.try_downcast_ref::<MySqlDatabaseError>() {
            Some(server) => of_mysql(server.number(), message),
            None => of_postgres(server.try_downcast_ref(), message),
        }
    }
}

pub(super) fn no_connection(error: &sqlx::Error) -> SqlError {
    SqlError::Connect { reason: error.to_string() }
}

const DENIED: &str = "Ask for something else, or have it allowed in the database.";

/// By the server's error numbers.
fn of_mysql(number: u16, message: String) -> SqlError {
    match number {
        // max_statement_time, max_execution_time, KILL QUERY
        1969 | 3024 | 1317 => SqlError::Timeout { ms: 0 },
        // no right to: a database, a table, a column, a routine, an operation; a read-only transaction
        1044 | 1142 | 1143 | 1227 | 1290 | 1370 | 1792 | 1836 => denied(&message, DENIED),
        // stack, packet, memory, nesting, table or row size
        1037 | 1038 | 1041 | 1104 | 1114 | 1118 | 1153 | 1301 | 1436 | 4041 | 1116 | 1117 => limit(message),
        1020 | 1205 | 1213 => SqlError::Busy,
        1046..=1066 | 1103 | 1109..=1112 | 1146..=1149 | 1222 | 1241..=1248 | 1305 | 1582 | 1690 => syntax(message),
        _ => SqlError::Server(message),
    }
}

/// By the classes of SQLSTATE.
fn of_postgres(server: Option<&PgDatabaseError>, message: String) -> SqlError {
    let code = server.map_or("", PgDatabaseError::code);
    match code {
        "57014" => SqlError::Timeout { ms: 0 },
        "42501" | "25006" => denied(&message, DENIED),
        _ if code.starts_with("54") || code.starts_with("53") => limit(message),
        "22003" | "22012" | "22P02" | "22007" | "22008" => syntax(message),
        _ if code.starts_with("42") || code.starts_with("22") || code.starts_with("0A") => {
            SqlError::Syntax { hint: server.and_then(PgDatabaseError::hint).map(str::to_owned), message }
        }
        // A lock that was not granted in time; another transaction was first.
        "55P03" | "40001" | "40P01" => SqlError::Busy,
        _ => SqlError::Server(message),
    }
}
