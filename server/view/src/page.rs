//! The frame of a self-contained page: no script, no external resources, a strict content security policy.

use loopkeeper_text::language::Language;
use maud::{DOCTYPE, Markup, PreEscaped, html};

const STYLE: &str = include_str!("report/report.css");
/// Styles of this page only: no script, no image, no request.
const POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'";

pub(crate) fn page(title: &str, body: &Markup) -> String {
    let page = html! {
        (DOCTYPE)
        html lang=(Language::current().tag()) {
            head {
                meta charset="utf-8";
                meta http-equiv="Content-Security-Policy" content=(POLICY);
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                title { (title) " · loopkeeper" }
                style { (PreEscaped(STYLE)) }
            }
            body { main { (body) } }
        }
    };
    page.into_string()
}
