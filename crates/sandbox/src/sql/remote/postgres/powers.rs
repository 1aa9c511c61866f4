//! What the role may do beyond the tables of the database.

use sqlx::PgConnection;

/// A role counts with all that it is a member of, whether it inherits or would have to change to it. The server's own
/// roles count unless they only read; its own functions count where they were granted beyond what a new server grants.
const POWERS: &str = "WITH me AS (SELECT oid, rolsuper FROM pg_catalog.pg_roles WHERE rolname IN (current_user, session_user)), \
    ours AS (SELECT r.* FROM pg_catalog.pg_roles r WHERE EXISTS (SELECT 1 FROM me \
      WHERE me.oid = r.oid OR NOT me.rolsuper AND pg_catalog.pg_has_role(me.oid, r.oid, 'MEMBER'))), \
    powers AS (SELECT 1 AS rank, pg_catalog.concat_ws(' and ', CASE WHEN rolsuper THEN 'SUPERUSER' END, \
        CASE WHEN rolreplication THEN 'REPLICATION' END, CASE WHEN rolcreaterole THEN 'CREATEROLE' END) \
        || ' by the role ' || pg_catalog.quote_ident(rolname) AS what \
      FROM ours WHERE rolsuper OR rolreplication OR rolcreaterole \
    UNION ALL SELECT 2, 'the role ' || rolname FROM ours \
      WHERE pg_catalog.left(rolname::text, 3) = 'pg_' AND rolname NOT IN ('pg_monitor', 'pg_read_all_settings', \
        'pg_read_all_stats', 'pg_stat_scan_tables', 'pg_read_all_data', 'pg_database_owner') \
    UNION ALL SELECT 3, 'EXECUTE on ' || p.oid::pg_catalog.regprocedure::text || ' by the role ' \
        || (SELECT pg_catalog.min(pg_catalog.quote_ident(o.rolname)) FROM ours o WHERE NOT o.rolsuper \
          AND pg_catalog.has_function_privilege(o.oid, p.oid, 'EXECUTE')) \
      FROM pg_catalog.pg_init_privs i JOIN pg_catalog.pg_proc p ON p.oid = i.objoid \
      WHERE i.classoid = 'pg_catalog.pg_proc'::pg_catalog.regclass AND p.pronamespace = 'pg_catalog'::pg_catalog.regnamespace \
        AND NOT EXISTS (SELECT 1 FROM pg_catalog.aclexplode(i.initprivs) a \
          WHERE a.privilege_type = 'EXECUTE' AND (a.grantee = 0 OR a.grantee IN (SELECT oid FROM ours)))) \
    SELECT what FROM powers WHERE what IS NOT NULL ORDER BY rank, what LIMIT 4";

/// The rights that are too much, the worst first.
pub(super) async fn of(connection: &mut PgConnection) -> Result<Vec<String>, sqlx::Error> {
    sqlx::query_scalar(POWERS).fetch_all(connection).await
}
