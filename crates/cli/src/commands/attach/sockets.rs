//! The TCP sockets of a process, as in `/proc/PID/net/tcp` and `/proc/PID/fd`.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io::Read;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::path::Path;

/// The longest list of sockets that is read.
const MAX_BYTES: u64 = 1 << 26;

/// A socket of the network that a process is in, which may belong to another process.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Socket {
    /// The local address.
    pub address: SocketAddr,
    /// Whether it listens or is connected.
    pub state: State,
    /// Identifies it.
    pub inode: u64,
}

/// The states that matter here.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum State {
    /// It accepts connections.
    Listening,
    /// It is a connection.
    Connected,
}

/// The sockets of the network of a process.
pub fn of_network(process: &Path) -> Vec<Socket> {
    let tables = ["net/tcp", "net/tcp6"].into_iter().filter_map(|name| {
        let mut text = String::new();
        File::open(process.join(name)).ok()?.take(MAX_BYTES).read_to_string(&mut text).ok()?;
        Some(parse(&text))
    });
    tables.flatten().collect()
}

/// The inodes of the sockets that a process has.
pub fn of_process(process: &Path) -> BTreeSet<u64> {
    let descriptors = fs::read_dir(process.join("fd")).into_iter().flatten().flatten();
    descriptors
        .filter_map(|descriptor| {
            let target = fs::read_link(descriptor.path()).ok()?;
            target.to_str()?.strip_prefix("socket:[")?.strip_suffix(']')?.parse().ok()
        })
        .collect()
}

/// The process that has a socket, if this process may see its descriptors. Of several, the one with the smallest id:
/// the others have probably inherited the socket from it.
pub fn owner(inode: u64) -> Option<u32> {
    let processes = fs::read_dir("/proc").into_iter().flatten().flatten();
    let ids = processes.filter_map(|process| process.file_name().to_str()?.parse::<u32>().ok());
    ids.filter(|pid| of_process(Path::new(&format!("/proc/{pid}"))).contains(&inode)).min()
}

fn parse(text: &str) -> Vec<Socket> {
    text.lines().skip(1).filter_map(parse_line).collect()
}

/// A line: `0: 0100007F:240D 00000000:0000 0A 00000000:00000000 00:00000000 00000000 1000 0 12345 ...`.
fn parse_line(line: &str) -> Option<Socket> {
    let mut words = line.split_whitespace().skip(1);
    let (address, port) = words.next()?.split_once(':')?;
    let state = match words.nth(1)? {
        "01" => State::Connected,
        "0A" => State::Listening,
        _ => return None,
    };
    let inode = words.nth(5)?.parse().ok()?;
    let address = parse_address(address)?;
    Some(Socket { address: SocketAddr::new(address, u16::from_str_radix(port, 16).ok()?), state, inode })
}

/// Words of 32 bits in the machine's byte order.
fn parse_address(text: &str) -> Option<IpAddr> {
    let word = |index: usize| {
        let digits = text.get(8 * index..8 * (index + 1))?;
        Some(u32::from_str_radix(digits, 16).ok()?.to_ne_bytes())
    };
    match text.len() {
        8 => Some(Ipv4Addr::from(word(0)?).into()),
        32 => {
            let mut bytes = [0; 16];
            for index in 0..4 {
                bytes[4 * index..4 * (index + 1)].copy_from_slice(&word(index)?);
            }
            Some(Ipv6Addr::from(bytes).to_canonical())
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;

    use super::*;

    #[test]
    fn lines_are_parsed() {
        #[track_caller]
        fn check(line: &str, expected: Option<(&str, State, u64)>) {
            let expected = expected.map(|(address, state, inode)| Socket {
                address: address.parse().unwrap(),
                state,
                inode,
            });
            assert_eq!(parse_line(line), expected);
        }
        let rest =
            "00000000:00000000 00:00000000 00000000  1000        0 12345 1 0000000000000000 100 0 0 10 0";
        let line = |address: &str, state: &str| format!("   0: {address} 00000000:0000 {state} {rest}");
        check(&line("0100007F:240D", "0A"), Some(("127.0.0.1:9229", State::Listening, 12345)));
        check(&line("0100007F:240D", "01"), Some(("127.0.0.1:9229", State::Connected, 12345)));
        check(&line("0100007F:240D", "06"), None);
        let v6 = "00000000000000000000000001000000:240D";
        check(&line(v6, "0A"), Some(("[::1]:9229", State::Listening, 12345)));
        check(
            &line("0000000000000000FFFF00000100007F:0050", "0A"),
            Some(("127.0.0.1:80", State::Listening, 12345)),
        );
        for broken in [
            "",
            "0:",
            "0: 0100007F",
            "0: x:y 0:0 0A",
            "0: 01é0007F:240D 0:0 0A a b c d e 1",
            "0: 0100007:1 a 0A",
        ] {
            check(broken, None);
        }
    }

    #[test]
    fn own_sockets_are_found() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let process = Path::new("/proc/self");
        let found = of_network(process).into_iter().find(|socket| {
            socket.state == State::Listening && socket.address == listener.local_addr().unwrap()
        });
        let inode = found.unwrap().inode;
        assert!(of_process(process).contains(&inode));
        assert_eq!(owner(inode), Some(std::process::id()));
        drop(listener);
        assert_eq!(owner(inode), None);
    }
}
