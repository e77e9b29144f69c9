//! HTML whose text is escaped, whatever it holds.

use crate::text::printable;

/// The most characters of a value.
const MOST: usize = 60;

/// HTML in the making. Markup is of the program itself; all that is of data is escaped.
#[derive(Debug, Default)]
pub(super) struct Html(String);

impl Html {
    /// Appends markup, in which texts replace `{}` in turn, also in an attribute with quotes. Control characters are printed as
    /// escapes.
    pub(super) fn put(&mut self, markup: &'static str, texts: &[&str]) {
        let mut texts = texts.iter();
        for (at, markup) in markup.split("{}").enumerate() {
            if at > 0 {
                self.text(texts.next().copied().unwrap_or_default());
            }
            self.0.push_str(markup);
        }
    }

    fn text(&mut self, text: &str) {
        for c in printable(text).chars() {
            match c {
                '&' => self.0.push_str("&amp;"),
                '<' => self.0.push_str("&lt;"),
                '>' => self.0.push_str("&gt;"),
                '"' => self.0.push_str("&quot;"),
                '\'' => self.0.push_str("&#39;"),
                c => self.0.push(c),
            }
        }
    }

    /// Appends HTML.
    pub(super) fn add(&mut self, html: &Html) {
        self.0.push_str(&html.0);
    }

    /// The number of bytes.
    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    pub(super) fn into_string(self) -> String {
        self.0
    }
}

/// Text of data, cut if it is long.
pub(super) fn cut(text: &str) -> String {
    match text.char_indices().nth(MOST) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn shown(markup: &'static str, texts: &[&str]) -> String {
        let mut html = Html::default();
        html.put(markup, texts);
        assert_eq!(html.len(), html.0.len());
        html.into_string()
    }

    #[test]
    fn markup_in_text_stays_text() {
        let expected = "<b>&lt;script&gt;alert(&#39;&amp;&#39;)&lt;/script&gt;</b>{";
        assert_eq!(shown("<b>{}</b>{", &["<script>alert('&')</script>"]), expected);
        // Texts are no markup in which others are put, and a missing one is empty.
        assert_eq!(shown("{}|{}|{}", &["{}", "x"]), "{}|x|");
        assert_eq!(shown("{}", &["\" onload=x \u{0}\u{202e}\r\n"]), "&quot; onload=x \\u{0}\\u{202e}\\r\\n");
        assert_eq!(
            [cut(&"<".repeat(MOST)), cut(&"é".repeat(MOST + 1))],
            ["<".repeat(MOST), "é".repeat(MOST) + "…"]
        );
    }

    proptest! {
        #[test]
        fn text_is_read_back(text in "(<script>|</|[<>&\"'=`\\\\\u{0}-\u{1f}a é]|\\PC){0,40}") {
            let html = shown("{}", &[&text]);
            prop_assert!(!html.contains(['<', '>', '"', '\'']));
            prop_assert!(!html.contains(char::is_control));
            let entities = [("&lt;", "<"), ("&gt;", ">"), ("&quot;", "\""), ("&#39;", "'"), ("&amp;", "&")];
            let read = entities.iter().fold(html, |html, (entity, c)| html.replace(entity, c));
            prop_assert_eq!(read, printable(&text));
        }
    }
}
