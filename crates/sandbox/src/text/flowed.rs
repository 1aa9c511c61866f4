//! Texts whose lines the reading program joins (`format=flowed`, RFC 3676).

/// Joins each line that ends with a space with the next one of the same quotation depth. With `without_space` (`delsp`)
/// that space is no part of the text.
pub(super) fn join_lines(text: &str, without_space: bool) -> String {
    let mut joined = String::with_capacity(text.len());
    // How deeply the line is quoted that goes on in the next one.
    let mut open = None;
    for (at, line) in text.lines().enumerate() {
        let depth = line.bytes().take_while(|byte| *byte == b'>').count();
        let quoted = &line[depth..];
        let content = quoted.strip_prefix(' ').unwrap_or(quoted);
        let is_signature = content == "-- ";
        let is_part = open == Some(depth) && !content.is_empty() && !is_signature;
        if !is_part {
            if at > 0 {
                joined.push('\n');
            }
            joined.push_str(&line[..depth]);
            joined.push_str(if depth > 0 { " " } else { "" });
        }
        let goes_on = content.ends_with(' ') && !is_signature;
        let content = if goes_on && without_space { &content[..content.len() - 1] } else { content };
        joined.push_str(content);
        open = goes_on.then_some(depth);
    }
    joined
}

#[cfg(test)]
mod tests {
    use super::join_lines;

    #[test]
    fn lines_that_end_with_a_space_go_on() {
        for (text, delsp, expected) in [
            ("The room is Sau \r\nerkraut 4\r\n31.", true, "The room is Sauerkraut 4\n31."),
            ("one \ntwo\n\nthree", false, "one two\n\nthree"),
            ("> quoted \n> more\nmine \n> theirs", false, "> quoted more\nmine \n> theirs"),
            (">> a \n> b", false, ">> a \n> b"),
            ("end \n\nnext", false, "end \n\nnext"),
            ("bye \n-- \nAnn", false, "bye \n-- \nAnn"),
            (" >not quoted \n From here", false, ">not quoted From here"),
            ("会議は \n来週", true, "会議は来週"),
        ] {
            assert_eq!(join_lines(text, delsp), expected, "{text:?}");
        }
    }
}
