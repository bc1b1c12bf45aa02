//! Tests with the WebDriver client fantoccini.

use fantoccini::wd::WebDriverCompatibleCommand;
use fantoccini::{Client, ClientBuilder, Locator};
use hyper_util::client::legacy::connect::HttpConnector;
use serde_json::{Value, json};
use tokio::runtime::Builder;
use url::{ParseError, Url};

use crate::endpoint::Endpoint;
use crate::page_server::PageServer;

/// `POST /session/{session id}/forcesample`
#[derive(Debug)]
struct ForceSample;

impl WebDriverCompatibleCommand for ForceSample {
    fn endpoint(&self, base: &Url, session: Option<&str>) -> Result<Url, ParseError> {
        base.join(&format!("session/{}/forcesample", session.unwrap_or_default()))
    }

    fn method_and_body(&self, _: &Url) -> (http::Method, Option<String>) {
        (http::Method::POST, Some("{}".to_owned()))
    }
}

/// Runs a test in a new session of a new endpoint.
fn drive(test: impl AsyncFnOnce(&Client)) {
    let endpoint = Endpoint::start();
    let runtime = Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let url = format!("http://{}/", endpoint.address);
        let client = ClientBuilder::new(HttpConnector::new()).connect(&url).await.unwrap();
        test(&client).await;
        client.close().await.unwrap();
    });
}

/// Starts a profiler that takes one sample at its start, and further ones only if they are forced.
const START: &str = "globalThis.profiler = new Profiler({ sampleInterval: 2147483, maxBufferSize: 1000 });";
const STOP: &str = "return profiler.stop().then(({ samples }) => samples.map(({ timestamp }) => timestamp));";

async fn stop(client: &Client) -> Vec<f64> {
    let Value::Array(times) = client.execute(STOP, vec![]).await.unwrap() else { panic!("no array") };
    times.iter().map(|time| time.as_f64().unwrap()).collect()
}

#[test]
fn each_forced_sample_is_recorded() {
    let site =
        PageServer::serve(&[("/", "<script>function work() { return new Promise(setTimeout); }</script>")]);
    drive(async |client| {
        client.goto(&site.url("/")).await.unwrap();
        client.execute(START, vec![]).await.unwrap();
        for _ in 0..3 {
            assert_eq!(client.issue_cmd(ForceSample).await.unwrap(), Value::Null);
        }
        client.execute("return work()", vec![]).await.unwrap();
        for _ in 0..4 {
            client.issue_cmd(ForceSample).await.unwrap();
        }
        let times = stop(client).await;
        assert_eq!(times.len(), 8);
        assert!(times.is_sorted(), "{times:?}");
        // A stopped profiler takes no sample; the next profiler is independent.
        client.issue_cmd(ForceSample).await.unwrap();
        client.execute(START, vec![]).await.unwrap();
        client.issue_cmd(ForceSample).await.unwrap();
        assert_eq!(stop(client).await.len(), 2);
    });
}

#[test]
fn samples_are_forced_in_the_current_frame_only() {
    let other = PageServer::serve(&[("/", "other")]);
    let page = "<iframe src='/inner'></iframe><iframe id='other'></iframe>";
    let site = PageServer::serve(&[("/", page), ("/inner", "inner")]);
    drive(async |client| {
        client.goto(&site.url("/")).await.unwrap();
        let load = "const [url, done] = arguments; const f = document.getElementById('other'); f.onload = () => done(); f.src = url";
        client.execute_async(load, vec![json!(other.url("/"))]).await.unwrap();
        client.execute(START, vec![]).await.unwrap();
        for (index, forced) in [(0, 2), (1, 3)] {
            client.enter_frame(index).await.unwrap();
            client.execute(START, vec![]).await.unwrap();
            for _ in 0..forced {
                client.issue_cmd(ForceSample).await.unwrap();
            }
            client.enter_parent_frame().await.unwrap();
        }
        client.issue_cmd(ForceSample).await.unwrap();
        let mut counts = vec![stop(client).await.len()];
        for index in [0, 1] {
            client.enter_frame(index).await.unwrap();
            counts.push(stop(client).await.len());
            client.enter_parent_frame().await.unwrap();
        }
        assert_eq!(counts, [2, 3, 4]);
    });
}

#[test]
fn a_minimized_window_is_paused() {
    let site = PageServer::serve(&[("/", "")]);
    drive(async |client| {
        client.goto(&site.url("/")).await.unwrap();
        client.execute(START, vec![]).await.unwrap();
        client.issue_cmd(ForceSample).await.unwrap();
        client.minimize_window().await.unwrap();
        assert_eq!(client.execute("return document.visibilityState", vec![]).await.unwrap(), "hidden");
        client.issue_cmd(ForceSample).await.unwrap();
        client.maximize_window().await.unwrap();
        client.issue_cmd(ForceSample).await.unwrap();
        assert_eq!(stop(client).await.len(), 3);
    });
}

#[test]
fn elements_are_found_typed_into_and_clicked() {
    let form = "<title>Form</title><form><label>Name <input name='who'></label><button>Go</button></form>
        <ul><li>one</li><li>two</li></ul><a href='/next'>onwards</a>
        <script>document.forms[0].onsubmit = (event) => {
          event.preventDefault();
          document.title = document.forms[0].elements.who.value;
        };</script>";
    let site = PageServer::serve(&[("/", form), ("/next", "<title>Next</title>")]);
    drive(async |client| {
        client.goto(&site.url("/")).await.unwrap();
        let field = client.find(Locator::Css("input[name=who]")).await.unwrap();
        field.send_keys("Ada").await.unwrap();
        assert_eq!(field.prop("value").await.unwrap().as_deref(), Some("Ada"));
        assert_eq!(client.active_element().await.unwrap().element_id(), field.element_id());
        client.find(Locator::XPath("//button[text()='Go']")).await.unwrap().click().await.unwrap();
        assert_eq!(client.title().await.unwrap(), "Ada");

        let list = client.find(Locator::Css("ul")).await.unwrap();
        assert_eq!(list.text().await.unwrap(), "one\ntwo");
        assert_eq!(list.find_all(Locator::Css("li")).await.unwrap().len(), 2);
        assert!(client.find(Locator::Id("none")).await.unwrap_err().is_no_such_element());

        client.find(Locator::LinkText("onwards")).await.unwrap().click().await.unwrap();
        assert_eq!(
            (client.title().await.unwrap().as_str(), client.current_url().await.unwrap().path()),
            ("Next", "/next")
        );
        assert!(list.text().await.unwrap_err().is_stale_element_reference());
        client.back().await.unwrap();
        assert_eq!(client.title().await.unwrap(), "Form");
        client.forward().await.unwrap();
        assert_eq!(client.title().await.unwrap(), "Next");
    });
}

#[test]
fn each_window_has_its_own_page() {
    let site = PageServer::serve(&[("/a", "<title>A</title>"), ("/b", "<title>B</title>")]);
    drive(async |client| {
        let first = client.window().await.unwrap();
        client.goto(&site.url("/a")).await.unwrap();
        let second = client.new_window(false).await.unwrap().handle;
        assert_eq!(client.windows().await.unwrap(), [first.clone(), second.clone()]);
        client.switch_to_window(second).await.unwrap();
        client.goto(&site.url("/b")).await.unwrap();
        client.switch_to_window(first.clone()).await.unwrap();
        assert_eq!(client.title().await.unwrap(), "A");
        client.close_window().await.unwrap();
        assert!(client.title().await.is_err());
        assert!(client.switch_to_window(first).await.unwrap_err().is_no_such_window());
        let left = client.windows().await.unwrap();
        client.switch_to_window(left[0].clone()).await.unwrap();
        assert_eq!(client.title().await.unwrap(), "B");
    });
}
