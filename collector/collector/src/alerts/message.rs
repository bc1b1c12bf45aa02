//! Alerts as JSON: for the webhook, and for the page.

use selfprof_store::alerts::{Alert, Posted};
use serde::Serialize;

/// An alert, with a sentence and a link.
#[derive(Debug, Serialize)]
pub struct AlertAnswer {
    #[serde(flatten)]
    pub alert: Alert,
    /// For people; chats show it.
    pub text: String,
    /// To the comparison on the collector's page, from its URL on.
    pub link: String,
    /// Whether it was posted; absent if that is not known, or if nothing is posted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub posted: Option<bool>,
}

impl AlertAnswer {
    /// An alert of a collector whose page is at this URL.
    pub fn of(alert: Alert, page: &str, posted: Option<Posted>) -> Self {
        let posted = match posted {
            Some(Posted::Yes) => Some(true),
            Some(Posted::No) => Some(false),
            Some(Posted::Maybe) | None => None,
        };
        Self { text: text(&alert), link: format!("{page}{}", link(&alert)), alert, posted }
    }
}

/// A text without what terminals or chats would act on.
fn plain(text: &str) -> String {
    text.chars().filter(|c| !c.is_control()).collect()
}

fn text(alert: &Alert) -> String {
    let name = if alert.name.is_empty() { "(anonymous)".into() } else { plain(&alert.name) };
    let file = alert.resource.as_deref().map(|file| format!(" ({})", plain(file))).unwrap_or_default();
    let pages: Vec<String> = alert
        .pages
        .iter()
        .map(|page| {
            let name = if page.page.is_empty() { "(no page)".into() } else { plain(&page.page) };
            let (before, now) = (page.base, page.new);
            format!("on {name} {:+.1} ms per session ({before:.1} to {now:.1} ms)", page.difference)
        })
        .collect();
    let [app, base, new] = [&alert.app, &alert.base, &alert.new].map(|text| plain(text));
    format!("{app}: {name}{file} is slower in release {new} than in {base}: {}", pages.join(", "))
}

/// The parameters of `collector/page/src/query.ts`. With several pages, the comparison is that of all.
fn link(alert: &Alert) -> String {
    let release = |release: &str| format!("release = '{}'", release.replace('\'', "''"));
    let (base, new) = (release(&alert.base), release(&alert.new));
    let mut parameters =
        vec![("view", "compare"), ("app", &alert.app), ("base", &base), ("new", &new), ("from", "-30d")];
    if let [page] = &alert.pages[..] {
        parameters.push(("page", &page.page));
    }
    parameters.push(("search", &alert.name));
    let url = reqwest::Url::parse_with_params("http://page/", parameters).ok();
    url.and_then(|url| url.query().map(|query| format!("/?{query}"))).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use selfprof_store::alerts::AlertPage;

    use super::*;

    #[test]
    fn an_alert_is_a_sentence_with_a_link() {
        let page = |name: &str| AlertPage {
            page: name.into(),
            base: 10.0,
            new: 29.5,
            difference: 19.2,
            difference_interval: None,
            probability: 0.001,
            limit: 0.0015,
            base_sessions: 100,
            new_sessions: 100,
        };
        let alert = Alert {
            id: "1".into(),
            time: 0,
            app: "shop".into(),
            base: "1.3".into(),
            new: "it's\n1.4".into(),
            name: "cartDiscount".into(),
            resource: Some("src/prices.ts".into()),
            pages: vec![page("/cart")],
        };
        let answer = AlertAnswer::of(alert.clone(), "https://profiles.example", Some(Posted::Maybe));
        assert_eq!(
            answer.text,
            "shop: cartDiscount (src/prices.ts) is slower in release it's1.4 than in 1.3: \
             on /cart +19.2 ms per session (10.0 to 29.5 ms)"
        );
        assert!(
            answer
                .link
                .starts_with("https://profiles.example/?view=compare&app=shop&base=release+%3D+%271.3%27")
        );
        assert!(
            answer.link.contains("it%27%27s%0A1.4") && answer.link.contains("page=%2Fcart"),
            "{}",
            answer.link
        );
        assert_eq!(answer.posted, None);
        let several =
            AlertAnswer::of(Alert { pages: vec![page("/"), page("")], ..alert }, "", Some(Posted::No));
        assert!(several.text.contains("on / +19.2") && several.text.contains("on (no page) +19.2"));
        assert!(!several.link.contains("page=") && several.posted == Some(false));
    }
}
