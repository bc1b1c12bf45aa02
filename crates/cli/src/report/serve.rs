//! `selfprof report --serve`: the report on a loopback port, made anew each time it is loaded.

use std::net::Ipv4Addr;
use std::process::ExitCode;

use tiny_http::{Header, Method, Request, Response, Server};

use crate::failure::Failure;
use crate::talk::{say, warn};

/// Serves until the process is ended.
pub fn serve(port: u16, make: impl Fn() -> Result<Vec<u8>, Failure>) -> Result<ExitCode, Failure> {
    // What is wrong with the files is better known before a browser asks.
    make()?;
    let server = Server::http((Ipv4Addr::LOCALHOST, port)).map_err(|error| {
        Failure::job(format!("cannot listen on port {port}: {error}")).hint("`--port 0` takes a free one")
    })?;
    let Some(address) = server.server_addr().to_ip() else {
        return Err(Failure::job("the server has no address"));
    };
    say(format_args!("report: http://{address}/ (Ctrl-C ends it)"));
    for request in server.incoming_requests() {
        if let Err(error) = answer(request, address.port(), &make) {
            warn(format_args!("a browser went away: {error}"));
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn answer(request: Request, port: u16, make: impl Fn() -> Result<Vec<u8>, Failure>) -> std::io::Result<()> {
    let refuse = |code: u16, text: &str| Response::from_string(format!("{text}\n")).with_status_code(code);
    // A page elsewhere that has its name resolved to this machine must not read the traces.
    let host = request.headers().iter().find(|header| header.field.equiv("Host"));
    let is_ours = host.is_some_and(|host| {
        let host = host.value.as_str();
        ["127.0.0.1", "localhost"].iter().any(|name| host == format!("{name}:{port}"))
    });
    if !is_ours {
        return request.respond(refuse(421, "this server is for 127.0.0.1 alone"));
    }
    if !matches!(request.method(), Method::Get | Method::Head) {
        return request.respond(refuse(405, "this server only shows a report"));
    }
    if request.url() != "/" {
        return request.respond(refuse(404, "the report is at /"));
    }
    match make() {
        Ok(html) => {
            let headers = [("Content-Type", "text/html; charset=utf-8"), ("Cache-Control", "no-store")];
            let headers =
                headers.into_iter().filter_map(|(name, value)| Header::from_bytes(name, value).ok());
            let response = headers.fold(Response::from_data(html), Response::with_header);
            request.respond(response)
        }
        Err(failure) => {
            failure.report();
            request.respond(refuse(500, "the report could not be made; the terminal says why"))
        }
    }
}
