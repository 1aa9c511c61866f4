//! The page at the end of a login.

use axum::response::Html;

/// A page of a heading and a sentence. What servers say stands in it as text only.
pub(super) fn page(title: &str, text: &str) -> Html<String> {
    let (title, text) = (escaped(title), escaped(text));
    Html(format!(
        "<!doctype html>\n<html lang=\"en\">\n<head><meta charset=\"utf-8\"><title>{title} · Steward</title></head>\n\
         <body><main><h1>{title}</h1><p>{text}</p></main></body>\n</html>\n"
    ))
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;").replace('\'', "&#39;")
}

#[cfg(test)]
mod tests {
    use super::page;

    #[test]
    fn what_servers_say_is_text() {
        let html = page("x", "<script>alert('1')</script> & \"more\"").0;
        assert!(html.contains("&lt;script&gt;alert(&#39;1&#39;)&lt;/script&gt; &amp; &quot;more&quot;"));
        assert!(!html.contains("<script"));
    }
}
