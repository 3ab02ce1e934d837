"""Connects to a Unix socket (`@NAME`: an abstract one)."""

import socket
import sys

path = sys.argv[1]
socket.socket(socket.AF_UNIX).connect("\0" + path[1:] if path.startswith("@") else path)
