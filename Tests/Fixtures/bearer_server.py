"""An HTTPS server on loopback, which serves whoever has the bearer token; prints its port."""

import http.server
import ssl
import sys

chain, key, token = sys.argv[1:]


class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        is_allowed = self.headers.get("authorization") == "Bearer " + token
        body = b'{"major":"1","minor":"30"}' if is_allowed else b"{}"
        self.send_response(200 if is_allowed else 401)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *arguments):
        pass


server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
context.load_cert_chain(chain, key)
server.socket = context.wrap_socket(server.socket, server_side=True)
print(server.server_port, flush=True)
server.serve_forever()
