//! Names of zones in Outlook and Exchange: `data/windows-zones.txt`.

/// The IANA name of a zone's Windows name.
pub(super) fn of_windows(name: &str) -> Option<&'static str> {
    include_str!("../../data/windows-zones.txt")
        .lines()
        .filter_map(|line| line.split_once(" = "))
        .find(|(windows, _)| windows.eq_ignore_ascii_case(name))
        .map(|(_, iana)| iana)
}

#[cfg(test)]
mod tests {
    use jiff::tz::TimeZone;

    #[test]
    fn every_row_names_a_zone() {
        let rows = include_str!("../../data/windows-zones.txt").lines();
        let rows: Vec<&str> = rows.filter(|line| !line.is_empty() && !line.starts_with('#')).collect();
        assert!(rows.len() > 100);
        for row in rows {
            let (windows, iana) = row.split_once(" = ").unwrap();
            assert!(TimeZone::get(iana).is_ok(), "{row}");
            assert_eq!(super::of_windows(windows), Some(iana), "{row}");
        }
    }
}
