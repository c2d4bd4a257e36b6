"""A client of servers that share a store finds the one that leads it."""

import json
import threading
import unittest
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Dict, List, Optional, Tuple

from millrace.client import Client
from millrace.errors import ConnectionFailedError

NOBODY = "http://127.0.0.1:1"


class Fake:
    """A leader, or a standby that names another server or nobody."""

    def __init__(
        self, *, leads: bool, named: Optional[str] = None, reads: Optional[str] = None, shard: Optional[str] = None
    ) -> None:
        self.leads = leads
        self.shard = shard
        """The shard whose leader it names; None if that leads the whole store."""
        self.named = named
        self.reads = reads
        """The position of its answers to reads; None if it directs them to the one that it names."""
        self.asked: List[Tuple[str, Optional[str]]] = []
        self.seen: List[Tuple[str, Optional[str]]] = []
        fake = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self) -> None:
                fake.asked.append((self.path, self.headers.get("Millrace-Position")))
                content = b'["g"]'
                if fake.reads is None:
                    self.send_response(307 if fake.named else 503)
                    if fake.named:
                        self.send_header("Location", fake.named + self.path)
                else:
                    self.send_response(200)
                    self.send_header("Millrace-Position", fake.reads)
                self.send_header("Content-Length", str(len(content)))
                self.end_headers()
                self.wfile.write(content)

            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers.get("Content-Length", "0")))
                fake.seen.append((body.decode(), self.headers.get("Authorization")))
                headers: Dict[str, str] = {}
                answer: Dict[str, Any] = {"tasks": [], "position": "a-1", "time": 5}
                status = 200
                if not fake.leads:
                    status, answer = (307 if fake.named else 503), {"error": "a standby"}
                    if fake.named:
                        headers["Location"] = fake.named + self.path
                    if fake.shard:
                        headers["Millrace-Shard"] = fake.shard
                content = json.dumps(answer).encode()
                self.send_response(status)
                for name, value in {**headers, "Content-Length": str(len(content))}.items():
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(content)

            def log_message(self, *arguments: Any) -> None:
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.address = f"http://127.0.0.1:{self.server.server_address[1]}"
        threading.Thread(target=self.server.serve_forever, args=(0.01,), daemon=True).start()

    def close(self) -> None:
        self.server.shutdown()
        self.server.server_close()


class FollowTest(unittest.TestCase):
    def fake(
        self, *, leads: bool, named: Optional[str] = None, reads: Optional[str] = None, shard: Optional[str] = None
    ) -> Fake:
        made = Fake(leads=leads, named=named, reads=reads, shard=shard)
        self.addCleanup(made.close)
        return made

    def client(self, *addresses: str, retry_for: float = 20, stale: Optional[float] = None) -> Client:
        client = Client(", ".join(addresses), token="secret", retry_for=retry_for, stale=stale)
        self.addCleanup(client.close)
        return client

    def test_a_standby_directs_to_the_leader_with_body_and_credentials(self) -> None:
        leader = self.fake(leads=True)
        standby = self.fake(leads=False, named=leader.address)
        client = self.client(standby.address)
        client.store.add("g", "one")
        client.store.add("g", "two")
        self.assertEqual(1, len(standby.seen))
        self.assertEqual(2, len(leader.seen))
        self.assertEqual("Bearer secret", leader.seen[0][1])

    def test_the_leader_of_a_shard_is_asked_for_that_request_alone(self) -> None:
        leader = self.fake(leads=True)
        standby = self.fake(leads=False, named=leader.address + "/shards/3", shard="3/8")
        client = self.client(standby.address)
        client.store.add("g", "one")
        client.store.add("g", "two")
        self.assertEqual(2, len(standby.seen))
        self.assertEqual(2, len(leader.seen))

    def test_the_next_address_is_asked_after_one_that_does_not_answer(self) -> None:
        leader = self.fake(leads=True)
        standby = self.fake(leads=False, named=NOBODY)
        waiting = self.fake(leads=False)
        self.client(NOBODY, standby.address, waiting.address, leader.address).store.add("g", "one")
        self.assertEqual(1, len(leader.seen))

    def test_a_server_that_was_only_named_cannot_send_credentials_further(self) -> None:
        stranger = self.fake(leads=True)
        named = self.fake(leads=False, named=stranger.address)
        standby = self.fake(leads=False, named=named.address)
        with self.assertRaises(ConnectionFailedError):
            self.client(standby.address, retry_for=0).store.add("g", "one")
        self.assertEqual([], stranger.seen)

    def test_reads_that_may_be_stale_go_to_all_servers_and_name_the_latest_position(self) -> None:
        leader = self.fake(leads=True, reads="a-9")
        standby = self.fake(leads=False, named=leader.address, reads="a-7")
        client = self.client(leader.address, standby.address, stale=1.5)
        for _ in range(4):
            self.assertEqual(["g"], client.store.groups())
        self.assertEqual([("/store/groups?stale=1500ms", None), ("/store/groups?stale=1500ms", "a-9")], standby.asked)
        self.assertEqual(["a-7", "a-9"], [position for _, position in leader.asked])
        self.assertEqual([], standby.seen)

    def test_a_commit_goes_to_the_leader_and_its_position_with_the_next_read(self) -> None:
        leader = self.fake(leads=True, reads="a-1")
        standby = self.fake(leads=False, named=leader.address, reads="a-1")
        client = self.client(standby.address, leader.address, stale=60)
        client.store.add("g", "one")
        client.store.groups()
        self.assertEqual([("/store/groups?stale=60000ms", "a-1")], leader.asked)

    def test_a_read_after_an_answer_without_a_position_has_what_it_showed(self) -> None:
        leader = self.fake(leads=True, reads="a-9")
        standby = self.fake(leads=False, named=leader.address, reads="a-7")
        client = self.client(leader.address, standby.address, stale=1.5)
        client.jobs.cancel("one")
        client.store.groups()
        self.assertEqual([("/store/groups?stale=0ms", None)], leader.asked)
        for _ in range(2):
            client.store.groups()
        self.assertEqual([("/store/groups?stale=1500ms", "a-9")], standby.asked)

    def test_a_standby_that_cannot_answer_directs_a_read_to_the_leader(self) -> None:
        leader = self.fake(leads=True, reads="a-9")
        standby = self.fake(leads=False, named=leader.address)
        client = self.client(standby.address, stale=0)
        self.assertEqual(["g"], client.store.groups())
        self.assertEqual(["/store/groups?stale=0ms"], [path for path, _ in leader.asked])

    def test_every_read_goes_to_the_leader_unless_it_may_be_stale(self) -> None:
        leader = self.fake(leads=True, reads="a-9")
        standby = self.fake(leads=False, named=leader.address, reads="a-7")
        client = self.client(leader.address, standby.address)
        for _ in range(3):
            client.store.groups()
        self.assertEqual([("/store/groups", None)] * 3, leader.asked)
        self.assertEqual([], standby.asked)

    def test_an_age_that_servers_would_refuse_is_refused(self) -> None:
        for wrong in (-1, 60.5):
            with self.assertRaisesRegex(ValueError, "stale is from 0 to 60 seconds"):
                Client("http://127.0.0.1:1", stale=wrong)


if __name__ == "__main__":
    unittest.main()
