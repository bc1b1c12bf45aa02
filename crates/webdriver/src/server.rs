//! HTTP: connections, requests and answers.

use std::convert::Infallible;
use std::io;
use std::net::{SocketAddr, TcpListener as StdTcpListener};
use std::sync::Arc;

use http_body_util::{BodyExt, Full, Limited};
use hyper::body::{Bytes, Incoming};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Request, Response, StatusCode, header};
use hyper_util::rt::TokioIo;
use tokio::net::TcpListener;
use tokio::runtime::Builder;
use tokio::sync::Notify;
use webdriver::error::{ErrorStatus, WebDriverError, WebDriverResult};
use webdriver::response::WebDriverResponse;

use crate::pages::PageHost;
use crate::router::Router;
use crate::sessions::Sessions;
use crate::trust::Trust;

/// How long the body of a request may be: a script with its arguments.
const MAX_BODY: usize = 64 << 20;

/// How much of a body a log shows.
const MAX_LOGGED: usize = 1_000;

/// Is told of each request and each answer, a line each.
pub type Log = Arc<dyn Fn(&str) + Send + Sync>;

/// A server that listens.
pub struct Server {
    listener: StdTcpListener,
    shared: Arc<Shared>,
    stop: Arc<Notify>,
}

/// Stops a server, from any thread.
#[derive(Clone)]
pub struct Stopper(Arc<Notify>);

impl Stopper {
    /// Has the server end its sessions and return, at once or as soon as it runs.
    pub fn stop(&self) {
        self.0.notify_one();
    }
}

struct Shared {
    address: SocketAddr,
    trust: Trust,
    router: Router,
    sessions: Sessions,
    log: Option<Log>,
}

impl Server {
    /// Listens on an address; port 0 takes any that is free.
    ///
    /// # Errors
    ///
    /// When the address cannot be had.
    pub fn bind(address: SocketAddr, host: Arc<dyn PageHost>, trust: Trust) -> io::Result<Self> {
        let listener = StdTcpListener::bind(address)?;
        listener.set_nonblocking(true)?;
        let address = listener.local_addr()?;
        let sessions = Sessions::new(host);
        let shared = Shared { address, trust, router: Router::new(), sessions, log: None };
        Ok(Self { listener, shared: Arc::new(shared), stop: Arc::default() })
    }

    /// What stops it.
    pub fn stopper(&self) -> Stopper {
        Stopper(Arc::clone(&self.stop))
    }

    /// Has requests and answers told.
    pub fn with_log(mut self, log: Log) -> Self {
        if let Some(shared) = Arc::get_mut(&mut self.shared) {
            shared.log = Some(log);
        }
        self
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.shared.address
    }

    /// Serves until it is stopped, then ends all sessions.
    ///
    /// # Errors
    ///
    /// When the system has no resources to serve with.
    pub fn run(self) -> io::Result<()> {
        let runtime = Builder::new_current_thread().enable_all().build()?;
        let Self { listener, shared, stop } = self;
        let served = runtime.block_on(async {
            let listener = TcpListener::from_std(listener)?;
            tokio::select! {
                () = accept(&listener, &shared) => {}
                () = stop.notified() => {}
            }
            Ok(())
        });
        shared.sessions.end_all();
        // Commands under way have failed by now, or do not matter any more.
        runtime.shutdown_background();
        served
    }
}

async fn accept(listener: &TcpListener, shared: &Arc<Shared>) {
    loop {
        let Ok((stream, _)) = listener.accept().await else {
            // Too many files are open, or the peer has gone again. Neither is a reason to stop.
            tokio::time::sleep(std::time::Duration::from_millis(50)).await;
            continue;
        };
        // Answers are short, and clients wait for each.
        let _ = stream.set_nodelay(true);
        let shared = Arc::clone(shared);
        tokio::spawn(async move {
            let service = service_fn(|request| answer(Arc::clone(&shared), request));
            // A connection that breaks is the client's affair.
            let _ = http1::Builder::new().serve_connection(TokioIo::new(stream), service).await;
        });
    }
}

async fn answer(
    shared: Arc<Shared>,
    request: Request<Incoming>,
) -> Result<Response<Full<Bytes>>, Infallible> {
    let name = format!("{} {}", request.method(), request.uri().path());
    let (status, body) = match respond(&shared, request).await {
        Ok(response) => (StatusCode::OK, serde_json::to_string(&response)),
        Err(error) => (error.http_status(), serde_json::to_string(&error)),
    };
    // Maps with keys of text have JSON.
    let body = body.unwrap_or_default();
    shared.say(format_args!("<- {name} {} {}", status.as_u16(), shortened(&body)));
    let mut response = Response::new(Full::new(Bytes::from(body)));
    *response.status_mut() = status;
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, header::HeaderValue::from_static("application/json; charset=utf-8"));
    headers.insert(header::CACHE_CONTROL, header::HeaderValue::from_static("no-cache"));
    Ok(response)
}

async fn respond(shared: &Shared, request: Request<Incoming>) -> WebDriverResult<WebDriverResponse> {
    let (head, body) = request.into_parts();
    if let Some(reason) = shared.trust.refuses(shared.address, &head.method, &head.headers) {
        return Err(WebDriverError::new(ErrorStatus::UnknownError, reason));
    }
    let body = Limited::new(body, MAX_BODY).collect().await;
    let body = body.map_err(|error| {
        WebDriverError::new(
            ErrorStatus::InvalidArgument,
            format!("the request's body cannot be read: {error}"),
        )
    })?;
    let body = String::from_utf8(body.to_bytes().into())
        .map_err(|_| WebDriverError::new(ErrorStatus::InvalidArgument, "the request's body is not UTF-8"))?;
    shared.say(format_args!("-> {} {} {}", head.method, head.uri.path(), shortened(&body)));
    let message = shared.router.message(&head.method, head.uri.path(), &body)?;
    shared.sessions.handle(message).await
}

impl Shared {
    fn say(&self, line: std::fmt::Arguments<'_>) {
        if let Some(log) = &self.log {
            log(&line.to_string());
        }
    }
}

fn shortened(text: &str) -> String {
    match text.char_indices().nth(MAX_LOGGED) {
        Some((end, _)) => format!("{}... ({} bytes)", &text[..end], text.len()),
        None => text.to_owned(),
    }
}
