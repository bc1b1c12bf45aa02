//! The HTTP server.

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
use crate::trust::{Trust, is_of_page};

/// The maximum size of a request's body: a script with its arguments.
const MAX_BODY: usize = 64 << 20;

/// The log shows at most this many characters of a body.
const MAX_LOGGED: usize = 1_000;

/// Called with one line for each request and each response.
pub type Log = Arc<dyn Fn(&str) + Send + Sync>;

/// A listening server.
pub struct Server {
    listener: StdTcpListener,
    shared: Arc<Shared>,
    stop: Arc<Notify>,
}

/// Stops a server, from any thread.
#[derive(Clone)]
pub struct Stopper(Arc<Notify>);

impl Stopper {
    /// Makes the server end its sessions and return from [`Server::run`].
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
    /// Listens on an address; port 0 picks a free one.
    ///
    /// # Errors
    ///
    /// If it cannot listen on the address.
    pub fn bind(address: SocketAddr, host: Arc<dyn PageHost>, trust: Trust) -> io::Result<Self> {
        let listener = StdTcpListener::bind(address)?;
        listener.set_nonblocking(true)?;
        let address = listener.local_addr()?;
        let sessions = Sessions::new(host);
        let shared = Shared { address, trust, router: Router::new(), sessions, log: None };
        Ok(Self { listener, shared: Arc::new(shared), stop: Arc::default() })
    }

    /// A handle that stops the server.
    pub fn stopper(&self) -> Stopper {
        Stopper(Arc::clone(&self.stop))
    }

    /// Logs requests and responses.
    pub fn with_log(mut self, log: Log) -> Self {
        if let Some(shared) = Arc::get_mut(&mut self.shared) {
            shared.log = Some(log);
        }
        self
    }

    /// The address that it listens on.
    pub fn address(&self) -> SocketAddr {
        self.shared.address
    }

    /// Serves until it is stopped, then ends all sessions.
    ///
    /// # Errors
    ///
    /// If the system is out of resources.
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
        // Pending commands have failed by now, or no longer matter.
        runtime.shutdown_background();
        served
    }
}

async fn accept(listener: &TcpListener, shared: &Arc<Shared>) {
    loop {
        let Ok((stream, _)) = listener.accept().await else {
            // The client has disconnected, or too many files are open. Neither is a reason to stop.
            tokio::time::sleep(std::time::Duration::from_millis(50)).await;
            continue;
        };
        // Responses are short, and clients wait for each one.
        let _ = stream.set_nodelay(true);
        let shared = Arc::clone(shared);
        tokio::spawn(async move {
            let service = service_fn(|request| respond(Arc::clone(&shared), request));
            // A broken connection affects only its client.
            let _ = http1::Builder::new().serve_connection(TokioIo::new(stream), service).await;
        });
    }
}

async fn respond(
    shared: Arc<Shared>,
    request: Request<Incoming>,
) -> Result<Response<Full<Bytes>>, Infallible> {
    let name = format!("{} {}", request.method(), request.uri().path());
    let rejection = shared.trust.rejects(shared.address, request.method(), request.headers());
    // Pages can make any number of connections, and leave them open: this process has few files.
    let is_last = rejection.is_some() || is_of_page(request.headers());
    let (status, body) = match rejection {
        Some(reason) => {
            let error = WebDriverError::new(ErrorStatus::UnknownError, reason);
            (StatusCode::FORBIDDEN, serde_json::to_string(&error))
        }
        None => match handle(&shared, request).await {
            Ok(response) => (StatusCode::OK, serde_json::to_string(&response)),
            Err(error) => (error.http_status(), serde_json::to_string(&error)),
        },
    };
    // Cannot fail: all keys are strings.
    let body = body.unwrap_or_default();
    shared.log(format_args!("<- {name} {} {}", status.as_u16(), shortened(&body)));
    let mut response = Response::new(Full::new(Bytes::from(body)));
    *response.status_mut() = status;
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, header::HeaderValue::from_static("application/json; charset=utf-8"));
    headers.insert(header::CACHE_CONTROL, header::HeaderValue::from_static("no-cache"));
    if is_last {
        headers.insert(header::CONNECTION, header::HeaderValue::from_static("close"));
    }
    Ok(response)
}

async fn handle(shared: &Shared, request: Request<Incoming>) -> WebDriverResult<WebDriverResponse> {
    let (head, body) = request.into_parts();
    let body = Limited::new(body, MAX_BODY).collect().await;
    let body = body.map_err(|error| {
        WebDriverError::new(
            ErrorStatus::InvalidArgument,
            format!("cannot read the body of the request: {error}"),
        )
    })?;
    let body = String::from_utf8(body.to_bytes().into()).map_err(|_| {
        WebDriverError::new(ErrorStatus::InvalidArgument, "the body of the request is not UTF-8")
    })?;
    shared.log(format_args!("-> {} {} {}", head.method, head.uri.path(), shortened(&body)));
    let message = shared.router.message(&head.method, head.uri.path(), &body)?;
    shared.sessions.handle(message).await
}

impl Shared {
    fn log(&self, line: std::fmt::Arguments<'_>) {
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
