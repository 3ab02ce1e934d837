//! A port of this machine that is kept for one server.

use std::net::{Ipv4Addr, SocketAddrV4};
use std::os::fd::OwnedFd;

use rustix::net::{AddressFamily, SocketType, bind, getsockname, socket, sockopt};

/// As long as it lives nobody gets this port who did not ask for it by number, and nobody answers there: its socket
/// has the port and does not listen. A server that reuses addresses (Python's does) can take it nevertheless.
pub(crate) struct Port {
    pub(crate) number: u16,
    _socket: OwnedFd,
}

impl Port {
    pub(crate) fn keep() -> Self {
        let socket = socket(AddressFamily::INET, SocketType::STREAM, None).unwrap();
        sockopt::set_socket_reuseaddr(&socket, true).unwrap();
        bind(&socket, &SocketAddrV4::new(Ipv4Addr::LOCALHOST, 0)).unwrap();
        let address = SocketAddrV4::try_from(getsockname(&socket).unwrap()).unwrap();
        Self { number: address.port(), _socket: socket }
    }
}
