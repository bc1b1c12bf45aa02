//! Requests to a collector.

use std::env;
use std::error::Error;
use std::time::Duration;

use http_body_util::{BodyExt, Empty, Limited};
use hyper::body::Bytes;
use hyper::client::conn::http1;
use hyper::header::{AUTHORIZATION, CONNECTION, HOST};
use hyper::{Request, StatusCode};
use hyper_util::rt::TokioIo;
use tokio::net::TcpStream;
use tokio::runtime::Builder;

use super::address::Address;
use crate::failure::Failure;

/// Collectors answer in seconds.
const TIMEOUT: Duration = Duration::from_secs(120);

/// The longest answer, in bytes.
const MAX_ANSWER: usize = 512 << 20;

/// The environment variable with the token.
const TOKEN: &str = "SELFPROF_COLLECTOR_TOKEN";

/// The answer to a path of the collector.
pub fn get(address: &Address, path: &str) -> Result<Vec<u8>, Failure> {
    // `report --serve` asks while it answers a request, in a runtime of its own.
    let answer = std::thread::scope(|scope| {
        let asked = scope.spawn(|| {
            let runtime = Builder::new_current_thread().enable_all().build()?;
            runtime.block_on(async {
                tokio::time::timeout(TIMEOUT, ask(address, path))
                    .await
                    .unwrap_or_else(|_| Err("no answer within two minutes".into()))
            })
        });
        asked.join().unwrap_or_else(|_| Err("the request ended early".into()))
    });
    let authority = &address.authority;
    let (status, body) = answer.map_err(|error| {
        Failure::job(format!("cannot ask the collector at {authority}"))
            .because(error.as_ref())
            .hint("`selfprof-collector serve` starts one")
    })?;
    if status.is_success() {
        return Ok(body);
    }
    let json: serde_json::Value = serde_json::from_slice(&body).unwrap_or_default();
    let reason = json["error"].as_str().map_or_else(|| status.to_string(), str::to_owned);
    let failure = Failure::job(format!("the collector at {authority} does not answer this: {reason}"));
    Err(match status {
        StatusCode::UNAUTHORIZED => {
            failure.hint(format!("set {TOKEN} to a token of the collector's settings"))
        }
        StatusCode::NOT_FOUND => failure
            .hint(format!("is {authority} a collector? Its URL is what `selfprof-collector serve` prints")),
        _ => failure,
    })
}

type BoxError = Box<dyn Error + Send + Sync>;

async fn ask(address: &Address, path: &str) -> Result<(StatusCode, Vec<u8>), BoxError> {
    let authority = &address.authority;
    let has_port =
        authority.rsplit_once(':').is_some_and(|(_, port)| port.bytes().all(|byte| byte.is_ascii_digit()));
    let stream = match has_port {
        true => TcpStream::connect(authority).await?,
        false => TcpStream::connect(format!("{authority}:80")).await?,
    };
    let (mut sender, connection) = http1::handshake(TokioIo::new(stream)).await?;
    let mut request =
        Request::get(format!("{}{path}", address.prefix)).header(HOST, authority).header(CONNECTION, "close");
    if let Some(token) = env::var(TOKEN).ok().filter(|token| !token.is_empty()) {
        request = request.header(AUTHORIZATION, format!("Bearer {token}"));
    }
    let request = request.body(Empty::<Bytes>::new())?;
    let answered = async {
        let response = sender.send_request(request).await?;
        let status = response.status();
        let body = Limited::new(response.into_body(), MAX_ANSWER).collect().await?;
        Ok::<_, BoxError>((status, body.to_bytes().to_vec()))
    };
    let (answer, _) = tokio::join!(answered, connection);
    answer
}
