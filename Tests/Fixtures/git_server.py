"""A git server on loopback, which lets in whoever knows the password in a file; prints its port."""

import base64
import http.server
import os
import subprocess
import sys

repositories, password_file = sys.argv[1:]


class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.answer(b"")

    def do_POST(self):
        self.answer(self.rfile.read(int(self.headers.get("content-length", 0))))

    def is_allowed(self):
        scheme, _, value = self.headers.get("authorization", "").partition(" ")
        with open(password_file) as file:
            password = file.read()
        if scheme != "Basic":
            return False
        return base64.b64decode(value).decode().partition(":")[2] == password

    def answer(self, body):
        if not self.is_allowed():
            self.send_response(401)
            self.send_header("www-authenticate", 'Basic realm="git"')
            self.send_header("content-length", "0")
            self.end_headers()
            return
        path, _, query = self.path.partition("?")
        environment = {
            "GIT_PROJECT_ROOT": repositories,
            "GIT_HTTP_EXPORT_ALL": "1",
            "PATH_INFO": path,
            "QUERY_STRING": query,
            "REQUEST_METHOD": self.command,
            "CONTENT_TYPE": self.headers.get("content-type", ""),
            "CONTENT_LENGTH": str(len(body)),
            "HTTP_CONTENT_ENCODING": self.headers.get("content-encoding", ""),
            "REMOTE_USER": "pusher",
            "PATH": os.environ["PATH"],
        }
        result = subprocess.run(["git", "http-backend"], input=body, env=environment, stdout=subprocess.PIPE)
        head, _, content = result.stdout.partition(b"\r\n\r\n")
        fields = [line.partition(": ")[::2] for line in head.decode().split("\r\n")]
        self.send_response(int(dict(fields).get("Status", "200").split()[0]))
        for name, value in fields:
            if name != "Status":
                self.send_header(name, value)
        self.send_header("content-length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *arguments):
        pass


server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
print(server.server_port, flush=True)
server.serve_forever()
