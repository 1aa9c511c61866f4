//! The user's rights beyond the tables: its own, those of its roles, and everybody's. On every server `SHOW GRANTS`
//! shows a user its own rights, while the tables of rights differ and show some users the rights of others.

use sqlx::{AssertSqlSafe, MySqlConnection, Row as _};

use super::table::quoted;

/// Rights on the whole server that allow nothing beyond the tables.
const PLAIN: [&str; 8] = ["USAGE", "SELECT", "INSERT", "UPDATE", "DELETE", "SHOW VIEW", "SHOW DATABASES", "EXECUTE"];

/// Rights that the user should not have. A role counts whether it is enabled or not.
pub(crate) async fn excess_rights(connection: &mut MySqlConnection, mariadb: bool) -> Result<Vec<String>, sqlx::Error> {
    let mut lines = grants(connection, "SHOW GRANTS".to_owned()).await?;
    let roles: Vec<String> = lines.iter().filter_map(|line| roles(line)).collect();
    if mariadb && !roles.is_empty() {
        let now: Option<String> = sqlx::query_scalar("SELECT CURRENT_ROLE()").fetch_one(&mut *connection).await?;
        for role in roles {
            // Only a role's own session may see its rights.
            set_role(connection, &role).await?;
            lines.extend(grants(connection, "SHOW GRANTS".to_owned()).await?);
        }
        let now = now.map_or_else(|| "NONE".to_owned(), |name| quoted(&name));
        set_role(connection, &now).await?;
    } else {
        for roles in roles {
            let sql = format!("SHOW GRANTS FOR CURRENT_USER() USING {roles}");
            lines.extend(grants(connection, sql).await?);
        }
    }
    let mut powers: Vec<String> = lines.iter().flat_map(|line| beyond(line)).collect();
    powers.sort();
    powers.dedup();
    Ok(powers)
}

async fn set_role(connection: &mut MySqlConnection, role: &str) -> Result<(), sqlx::Error> {
    let sql = AssertSqlSafe(format!("SET ROLE {role}"));
    sqlx::raw_sql(sql).execute(connection).await.map(|_| ())
}

async fn grants(connection: &mut MySqlConnection, sql: String) -> Result<Vec<String>, sqlx::Error> {
    let rows = sqlx::raw_sql(AssertSqlSafe(sql)).fetch_all(connection).await?;
    rows.iter().map(|row| row.try_get_unchecked(0)).collect()
}

/// Splits at the first `word` outside of quoted names.
fn split<'l>(line: &'l str, word: &str) -> Option<(&'l str, &'l str)> {
    let outside = |at: &usize| line[..*at].matches('`').count().is_multiple_of(2);
    let at = line.match_indices(word).map(|(at, _)| at).find(outside)?;
    Some((&line[..at], &line[at + word.len()..]))
}

/// The roles that ``GRANT `a`@`%`,`b`@`%` TO `me`@`%` `` gives to a user. `MariaDB` lists the rights of a role's
/// roles, and of PUBLIC's, by themselves.
fn roles(line: &str) -> Option<String> {
    let (roles, to) = split(line.strip_prefix("GRANT ")?, " TO ")?;
    let to_user = split(to, "@").is_some() && split(roles, " ON ").is_none();
    to_user.then(|| roles.to_owned())
}

fn beyond(line: &str) -> Vec<String> {
    let whole = line.strip_prefix("GRANT ").and_then(|line| {
        let (rights, rest) = split(line, " ON ")?;
        Some((rights, rest.strip_prefix("*.* TO ")?))
    });
    let Some((rights, to)) = whole else {
        return Vec::new();
    };
    let grantee = split(to, " ").map_or(to, |(grantee, _)| grantee);
    rights
        .split(',')
        .map(str::trim)
        .chain(split(to, " WITH GRANT OPTION").map(|_| "GRANT OPTION"))
        .filter(|right| !PLAIN.contains(right))
        .map(|right| format!("{right} ON *.*, granted to {grantee}"))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn grants_are_read_as_servers_write_them() {
        for (line, expected) in [
            ("GRANT USAGE ON *.* TO `a`@`%` IDENTIFIED BY PASSWORD '*0'", vec![]),
            ("GRANT SELECT, SHOW VIEW ON *.* TO 'a'@'%'", vec![]),
            ("GRANT ALL PRIVILEGES ON `shop`.* TO `a`@`%`", vec![]),
            ("GRANT PROCESS ON *.* TO PUBLIC", vec!["PROCESS ON *.*, granted to PUBLIC"]),
            (
                "GRANT BACKUP_ADMIN,ROLE_ADMIN ON *.* TO `my a`@`%`",
                vec!["BACKUP_ADMIN ON *.*, granted to `my a`@`%`", "ROLE_ADMIN ON *.*, granted to `my a`@`%`"],
            ),
            ("GRANT SELECT ON *.* TO `a`@`%` WITH GRANT OPTION", vec!["GRANT OPTION ON *.*, granted to `a`@`%`"]),
            ("GRANT SELECT (`x ON *.* TO y`) ON `s`.`t` TO `a`@`%`", vec![]),
        ] {
            assert_eq!(beyond(line), expected, "{line}");
        }
        for (line, expected) in [
            ("GRANT `r` TO `a`@`%`", Some("`r`")),
            ("GRANT `r`@`%`,`in TO`@`%` TO `a`@`%`", Some("`r`@`%`,`in TO`@`%`")),
            ("GRANT `x TO y` TO `a`@`%` WITH ADMIN OPTION", Some("`x TO y`")),
            ("GRANT `inner` TO `r`", None),
            ("GRANT USAGE ON *.* TO `a`@`%`", None),
            ("SET DEFAULT ROLE `r` FOR `a`@`%`", None),
        ] {
            assert_eq!(roles(line).as_deref(), expected, "{line}");
        }
    }
}
