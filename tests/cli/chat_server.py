"""chat_server.py PORT_FILE LOG: an OpenAI-compatible server that always says the same program; writes down what it hears."""

import http.server
import json
import pathlib
import sys

PROGRAM = "Performance analysis: one pass is enough.\n```cuda\n//! fuse add_1 gelu_1\n```\n"


class Handler(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        with open(sys.argv[2], "a") as log:
            log.write(json.dumps({"path": self.path, "key": self.headers.get("Authorization"), "body": body}) + "\n")
        choices = [{"index": i, "message": {"role": "assistant", "content": PROGRAM}, "finish_reason": "stop"}
                   for i in range(body.get("n", 1))]
        answer = json.dumps({"choices": choices, "usage": {"prompt_tokens": 1000, "completion_tokens": 50}}).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)

    def log_message(self, *_):
        pass


server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
pathlib.Path(sys.argv[1]).write_text(str(server.server_address[1]))
server.serve_forever()
