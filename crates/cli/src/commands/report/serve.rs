//! `selfprof report --serve`: serves the report on a loopback port, rendered again for each request.

use std::convert::Infallible;
use std::io;
use std::net::{Ipv4Addr, TcpListener as StdTcpListener};
use std::process::ExitCode;
use std::rc::Rc;
use std::time::Duration;

use http_body_util::Full;
use hyper::body::Bytes;
use hyper::header::{CACHE_CONTROL, CONTENT_TYPE, HOST, HeaderMap, HeaderValue};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Method, Request, Response, StatusCode};
use hyper_util::rt::TokioIo;
use tokio::net::TcpListener;
use tokio::runtime::Builder;
use tokio::task::{LocalSet, spawn_local};

use crate::failure::Failure;
use crate::terminal::messages::say;

/// Serves until the process is killed.
pub fn serve(
    port: u16,
    render: impl Fn() -> Result<Vec<u8>, Failure> + 'static,
) -> Result<ExitCode, Failure> {
    // Report problems of the files before the first request.
    render()?;
    let listener = StdTcpListener::bind((Ipv4Addr::LOCALHOST, port)).map_err(|error| {
        Failure::job(format!("cannot listen on port {port}"))
            .because(&error)
            .hint("`--port 0` picks a free port")
    })?;
    let served = listener.local_addr().and_then(|address| {
        say(format_args!("report: http://{address}/ (stop with Ctrl-C)"));
        listener.set_nonblocking(true)?;
        let runtime = Builder::new_current_thread().enable_all().build()?;
        let accept =
            async { accept(TcpListener::from_std(listener)?, address.port(), Rc::new(render)).await };
        LocalSet::new().block_on(&runtime, accept)
    });
    served.map_err(|error| Failure::job("cannot serve the report").because(&error))?;
    Ok(ExitCode::SUCCESS)
}

async fn accept(
    listener: TcpListener,
    port: u16,
    render: Rc<impl Fn() -> Result<Vec<u8>, Failure> + 'static>,
) -> io::Result<()> {
    loop {
        let Ok((stream, _)) = listener.accept().await else {
            // The browser has disconnected, or too many files are open. Neither is a reason to stop.
            tokio::time::sleep(Duration::from_millis(50)).await;
            continue;
        };
        let render = Rc::clone(&render);
        spawn_local(async move {
            let service = service_fn(|request: Request<_>| {
                let response =
                    respond(request.method(), request.uri().path(), request.headers(), port, &*render);
                async { Ok::<_, Infallible>(response) }
            });
            // A broken connection affects only its browser.
            let _ = http1::Builder::new().serve_connection(TokioIo::new(stream), service).await;
        });
    }
}

fn respond(
    method: &Method,
    path: &str,
    headers: &HeaderMap,
    port: u16,
    render: impl Fn() -> Result<Vec<u8>, Failure>,
) -> Response<Full<Bytes>> {
    // The Host header prevents DNS rebinding: a foreign page must not read the traces by a name that resolves to
    // 127.0.0.1.
    let hosts: Vec<_> = headers.get_all(HOST).iter().collect();
    let is_own =
        |host: &HeaderValue| ["127.0.0.1", "localhost"].iter().any(|name| *host == format!("{name}:{port}"));
    if !matches!(hosts[..], [host] if is_own(host)) {
        return refusal(StatusCode::MISDIRECTED_REQUEST, "this server only answers requests for 127.0.0.1");
    }
    if !matches!(*method, Method::GET | Method::HEAD) {
        return refusal(StatusCode::METHOD_NOT_ALLOWED, "this server only supports GET and HEAD");
    }
    if path != "/" {
        return refusal(StatusCode::NOT_FOUND, "the report is at /");
    }
    match render() {
        Ok(html) => {
            let mut response = Response::new(Full::new(Bytes::from(html)));
            let headers = response.headers_mut();
            headers.insert(CONTENT_TYPE, HeaderValue::from_static("text/html; charset=utf-8"));
            headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
            response
        }
        Err(failure) => {
            failure.report();
            refusal(
                StatusCode::INTERNAL_SERVER_ERROR,
                "the report cannot be rendered; see the terminal for the reason",
            )
        }
    }
}

fn refusal(status: StatusCode, text: &str) -> Response<Full<Bytes>> {
    let mut response = Response::new(Full::new(Bytes::from(format!("{text}\n"))));
    *response.status_mut() = status;
    response
}
