//! Sets up the network of a warden's jobs: a namespace with nothing but a loopback interface, and on it the socket of
//! the proxy.

use std::io;
use std::net::TcpListener;
use std::os::fd::AsFd;

use rustix::net::{AddressFamily, RecvFlags, SendFlags, SocketFlags, SocketType, recv, send, socket_with};
use rustix::thread::UnshareFlags;

use loopkeeper_system::host_proxy::{ADDRESS, listener_channel};
use loopkeeper_system::sandbox::NetworkSetup;

use super::execution_context::enter_namespace;

/// The first interface of every network namespace.
const LOOPBACK: i32 = 1;
/// `RTM_NEWLINK`, `NLM_F_REQUEST | NLM_F_ACK`, `NLMSG_ERROR`, `IFF_UP` of the kernel's routing protocol.
const NEW_LINK: u16 = 16;
const REQUEST: u16 = 1 | 4;
const ACKNOWLEDGED: u16 = 2;
const INTERFACE_UP: u32 = 1;

/// `channel` leads to the keeper.
pub(super) fn prepare(setup: NetworkSetup, channel: impl AsFd) -> io::Result<()> {
    if setup.own_namespace {
        enter_namespace(UnshareFlags::NEWNET, "network")?;
        enable_loopback()
            .map_err(|error| io::Error::other(format!("no loopback interface can be had: {error}")))?;
    }
    if setup.proxy {
        let listener = TcpListener::bind(ADDRESS)
            .map_err(|error| io::Error::other(format!("the proxy cannot listen on {ADDRESS}: {error}")))?;
        listener_channel::send_listener(channel, &listener)?;
    }
    Ok(())
}

/// The kernel then gives it its address.
fn enable_loopback() -> io::Result<()> {
    let socket = socket_with(AddressFamily::NETLINK, SocketType::RAW, SocketFlags::CLOEXEC, None)?;
    send(&socket, &enable_request(), SendFlags::empty())?;
    let mut answer = [0_u8; 256];
    let (read, _) = recv(&socket, &mut answer[..], RecvFlags::empty())?;
    let number = |from: usize| Some(i32::from_ne_bytes(answer.get(from..from + 4)?.try_into().ok()?));
    let kind = answer.get(4..6).and_then(|it| it.try_into().ok()).map(u16::from_ne_bytes);
    match (kind, number(16)) {
        (Some(ACKNOWLEDGED), Some(0)) if read >= 20 => Ok(()),
        (Some(ACKNOWLEDGED), Some(error)) => Err(io::Error::from_raw_os_error(-error)),
        _ => Err(io::ErrorKind::InvalidData.into()),
    }
}

/// `struct nlmsghdr` and `struct ifinfomsg`, in the byte order of the machine.
fn enable_request() -> [u8; 32] {
    let mut message = [0; 32];
    let parts: [(usize, &[u8]); 6] = [
        (0, &32_u32.to_ne_bytes()),
        (4, &NEW_LINK.to_ne_bytes()),
        (6, &REQUEST.to_ne_bytes()),
        (20, &LOOPBACK.to_ne_bytes()),
        (24, &INTERFACE_UP.to_ne_bytes()),
        (28, &INTERFACE_UP.to_ne_bytes()),
    ];
    for (at, bytes) in parts {
        if let Some(part) = message.get_mut(at..at + bytes.len()) {
            part.copy_from_slice(bytes);
        }
    }
    message
}
