"""As much of a PostgreSQL server as asks for a password and answers one query; prints its port."""

import socket
import struct
import sys

password = sys.argv[1].encode()


def message(kind, body):
    return kind + struct.pack("!I", len(body) + 4) + body


def exactly(connection, count):
    data = b""
    while len(data) < count:
        part = connection.recv(count - len(data))
        if not part:
            raise ConnectionError
        data += part
    return data


def packet(connection, has_kind=True):
    kind = exactly(connection, 1) if has_kind else b""
    (length,) = struct.unpack("!I", exactly(connection, 4))
    return kind, exactly(connection, length - 4)


def serve(connection):
    _, start = packet(connection, has_kind=False)
    if start[:4] == struct.pack("!I", 80877103):
        connection.sendall(b"N")
        packet(connection, has_kind=False)
    connection.sendall(message(b"R", struct.pack("!I", 3)))
    if packet(connection) != (b"p", password + b"\0"):
        connection.sendall(message(b"E", b"SFATAL\0C28P01\0Mwrong password\0\0"))
        return
    ready = message(b"Z", b"I")
    connection.sendall(message(b"R", struct.pack("!I", 0)) + ready)
    packet(connection)
    columns = struct.pack("!H", 1) + b"answer\0" + struct.pack("!IHIhih", 0, 0, 25, -1, -1, 0)
    row = struct.pack("!HI", 1, 2) + b"42"
    connection.sendall(message(b"T", columns) + message(b"D", row) + message(b"C", b"SELECT 1\0") + ready)
    packet(connection)


listener = socket.create_server(("127.0.0.1", 0))
print(listener.getsockname()[1], flush=True)
while True:
    with listener.accept()[0] as connection:
        try:
            serve(connection)
        except ConnectionError:
            pass
