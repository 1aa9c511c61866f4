//! Users with too much power on real servers are refused, and told what is too much; those who only read are not.

use crate::mariadb_support;

use mariadb_support::MariaDb;
use sqlx::{Connection as _, Executor as _, MySqlConnection, PgConnection};
use steward_sandbox::sql::SqlError;
use steward_sandbox::sql::remote::{Remote, RemoteOptions};
use steward_testkit::postgres::TestPostgres;

async fn refused(url: &str, told: &str) {
    let answer = Remote::connect(url, RemoteOptions::default()).await;
    let Err(SqlError::Connect { reason }) = answer else {
        panic!("{url} is accepted: {answer:?}");
    };
    assert!(reason.contains(told), "{url}: {reason}");
}

async fn accepted(url: &str) {
    let mut remote = Remote::connect(url, RemoteOptions::default()).await.unwrap_or_else(|e| panic!("{url}: {e}"));
    remote.run("SELECT 1", &[]).await.unwrap();
    remote.close().await;
}

const POSTGRES: &str = "CREATE ROLE p_super SUPERUSER; CREATE ROLE p_between; GRANT p_super TO p_between; \
    CREATE ROLE p_indirect LOGIN NOINHERIT; GRANT p_between TO p_indirect; \
    CREATE ROLE p_maker LOGIN CREATEROLE; CREATE ROLE p_copier LOGIN REPLICATION; \
    CREATE ROLE p_subscriber LOGIN; GRANT pg_create_subscription TO p_subscriber; \
    CREATE ROLE p_checkpoint LOGIN; GRANT pg_checkpoint TO p_checkpoint; \
    CREATE ROLE p_programs LOGIN; GRANT pg_execute_server_program TO p_programs; \
    CREATE ROLE p_files LOGIN; GRANT EXECUTE ON FUNCTION pg_catalog.pg_read_file(text) TO p_files; \
    CREATE ROLE p_library; GRANT EXECUTE ON FUNCTION pg_catalog.lo_import(text) TO p_library; \
    CREATE ROLE p_importer LOGIN NOINHERIT; GRANT p_library TO p_importer; \
    CREATE ROLE p_plain LOGIN; CREATE ROLE p_analysts; GRANT pg_monitor, pg_read_all_data TO p_analysts; \
    CREATE ROLE p_analyst LOGIN; GRANT p_analysts TO p_analyst; CREATE ROLE p_owner LOGIN";

#[tokio::test(flavor = "multi_thread")]
async fn postgres() {
    let server = TestPostgres::shared().await.unwrap();
    let url = server.fresh_database().await.unwrap();
    let mut admin = PgConnection::connect(&url).await.unwrap();
    admin.execute(POSTGRES).await.unwrap();
    let owns = "DO $$ BEGIN EXECUTE format('ALTER DATABASE %I OWNER TO p_owner', current_database()); END $$";
    admin.execute(owns).await.unwrap();
    let as_user = |name: &str| TestPostgres::as_user(&url, name);
    refused(&url, "SUPERUSER").await;
    for (name, told) in [
        ("p_indirect", "SUPERUSER by the role p_super"),
        ("p_maker", "CREATEROLE by the role p_maker"),
        ("p_copier", "REPLICATION by the role p_copier"),
        ("p_subscriber", "the role pg_create_subscription"),
        ("p_checkpoint", "the role pg_checkpoint"),
        ("p_programs", "the role pg_execute_server_program"),
        ("p_files", "EXECUTE on pg_read_file(text) by the role p_files"),
        ("p_importer", "EXECUTE on lo_import(text) by the role p_library"),
    ] {
        refused(&as_user(name), told).await;
    }
    for name in ["p_plain", "p_analyst", "p_owner"] {
        accepted(&as_user(name)).await;
    }
    let all = "GRANT EXECUTE ON FUNCTION pg_catalog.pg_ls_dir(text) TO PUBLIC";
    admin.execute(all).await.unwrap();
    refused(&as_user("p_plain"), "EXECUTE on pg_ls_dir(text)").await;
}

const MARIADB: &str = "CREATE DATABASE shop; CREATE TABLE shop.t(id int); \
    CREATE ROLE filer; GRANT FILE ON *.* TO filer; CREATE ROLE `the outer`; GRANT filer TO `the outer`; GRANT SELECT ON shop.* TO `the outer`; \
    CREATE USER by_default@'127.0.0.1'; GRANT `the outer` TO by_default@'127.0.0.1'; \
    SET DEFAULT ROLE `the outer` FOR by_default@'127.0.0.1'; \
    CREATE USER by_choice@'127.0.0.1'; GRANT `the outer` TO by_choice@'127.0.0.1'; GRANT SELECT ON shop.* TO by_choice@'127.0.0.1'; \
    CREATE USER own@'127.0.0.1'; GRANT SELECT, SUPER, PROCESS ON *.* TO own@'127.0.0.1'; \
    CREATE USER giver@'127.0.0.1'; GRANT SELECT ON *.* TO giver@'127.0.0.1' WITH GRANT OPTION; \
    CREATE USER plain@'127.0.0.1'; GRANT SELECT ON shop.* TO plain@'127.0.0.1'; \
    CREATE USER reads_all@'127.0.0.1'; GRANT SELECT ON *.* TO reads_all@'127.0.0.1'; \
    CREATE USER reads_mysql@'127.0.0.1'; GRANT SELECT ON mysql.* TO reads_mysql@'127.0.0.1'; \
    GRANT SELECT ON shop.* TO reads_mysql@'127.0.0.1'; \
    CREATE ROLE readers; GRANT SELECT ON shop.* TO readers; \
    CREATE USER by_role@'127.0.0.1'; GRANT readers TO by_role@'127.0.0.1'; SET DEFAULT ROLE readers FOR by_role@'127.0.0.1'";

#[tokio::test(flavor = "multi_thread")]
async fn mariadb() {
    let server = MariaDb::start().await;
    let mut admin = MySqlConnection::connect(&server.url("root", "mysql")).await.unwrap();
    sqlx::raw_sql(MARIADB).execute(&mut admin).await.unwrap();
    for (name, told) in [
        ("by_default", "FILE ON *.*, granted to `filer`"),
        ("by_choice", "FILE ON *.*, granted to `filer`"),
        ("own", "PROCESS ON *.*, granted to `own`"),
        ("own", "SUPER ON *.*"),
        ("giver", "GRANT OPTION ON *.*"),
    ] {
        refused(&server.url(name, "shop"), told).await;
    }
    // The rights of a role that is enabled stay.
    let mut by_role = Remote::connect(&server.url("by_role", "shop"), RemoteOptions::default()).await.unwrap();
    by_role.run("SELECT id FROM t", &[]).await.unwrap();
    let plain = ["plain", "reads_all", "reads_mysql", "by_role"];
    for name in plain {
        accepted(&server.url(name, "shop")).await;
    }
    for database in ["mysql", "information_schema", "INFORMATION_SCHEMA", "performance_schema", "sys"] {
        refused(&server.url("reads_all", database), "a database of the server's own").await;
    }
    // What everybody has, and what a role has that everybody has.
    for (sql, told) in [
        ("GRANT filer TO PUBLIC", "FILE ON *.*, granted to `filer`"),
        ("GRANT PROCESS ON *.* TO PUBLIC", "PROCESS ON *.*, granted to PUBLIC"),
    ] {
        sqlx::raw_sql(sql).execute(&mut admin).await.unwrap();
        for name in plain {
            refused(&server.url(name, "shop"), told).await;
        }
    }
}
