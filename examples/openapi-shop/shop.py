"""A small shop: orders that can be read and cancelled, each cancellation once for a key."""

import json
import os
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Lock

ORDERS = {
    "7": {"id": "7", "item": "A teapot", "state": "paid"},
    "8": {"id": "8", "item": "Two cups", "state": "sent"},
}
ANSWERS: dict[str, tuple[int, object]] = {}
LOCK = Lock()


class Shop(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        order = ORDERS.get(self.path.removeprefix("/orders/"))
        if self.is_known():
            self.answer(*((200, order) if order else (404, {"error": "no such order"})))

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers.get("content-length", "0")))
        if not self.is_known():
            return
        key = self.headers.get("idempotency-key", "")
        with LOCK:
            if key not in ANSWERS:
                ANSWERS[key] = self.cancel(json.loads(body))
            status, answer = ANSWERS[key]
        self.answer(status, answer)

    def cancel(self, body: dict[str, str]) -> tuple[int, object]:
        number = self.path.removeprefix("/orders/").removesuffix("/cancellation")
        order = ORDERS.get(number)
        if order is None:
            return 404, {"error": "no such order"}
        if order["state"] != "paid":
            return 422, {"error": f"an order that is {order['state']} can't be cancelled"}
        order.update(state="cancelled", reason=body["reason"])
        return 200, dict(order)

    def is_known(self) -> bool:
        if self.headers.get("x-shop-key") == os.environ["SHOP_KEY"]:
            return True
        self.answer(401, {"error": "the key is missing or wrong"})
        return False

    def answer(self, status: int, value: object) -> None:
        body = json.dumps(value).encode()
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *arguments: object) -> None:
        pass


server = ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Shop)
print(f"listening on http://127.0.0.1:{server.server_port}", flush=True)
server.serve_forever()
