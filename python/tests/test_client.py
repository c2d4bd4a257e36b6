"""The parts of the client against a running server."""

import io
import os
import socket
import tempfile
import threading
import unittest
from dataclasses import dataclass
from datetime import datetime, timezone
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, Callable, Iterator, List, Optional

import millrace
from millrace import Client, JobKind
from millrace.jobs import Payload

from .support import Server, server

HOSTILE = 'Zoë "quoted" \\ \n\t 日本語 😀 </script> \u2028'
BIG = 2**63 - 1


def with_token(folder: Path) -> Server:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "token").write_text("correct-horse-battery\n")
    text = f"server:\n  token-file: {folder / 'token'}\njobs:\n  worker:\n    token: let-me-work\n"
    return Server(folder, "--no-node", configuration=text)


class StoreTest(unittest.TestCase):
    def setUp(self) -> None:
        self.client = Client(server().address)
        self.addCleanup(self.client.close)
        self.store = self.client.store

    def test_a_task_is_claimed_renewed_and_replaced_in_one_transaction(self) -> None:
        self.store.add("pieces", HOSTILE)
        [task] = self.store.claim("pieces", 60)
        self.assertEqual(task.text, HOSTILE)
        renewed = self.store.renew(task, 60)
        self.assertEqual((renewed.token, renewed.origin), (task.token, task.origin))
        with self.assertRaises(millrace.ConflictError) as refused:
            self.store.finish(task)
        self.assertEqual([reason["kind"] for reason in refused.exception.reasons], ["deletes"])
        done = self.store.transaction().delete(renewed).add("done", b"\xff\x00").put("results", "a/b", "1").commit()
        self.assertEqual(self.store.task(done.tasks[0].id).data, b"\xff\x00")
        self.assertEqual(self.store.document("results", "a/b").body, b"1")
        self.assertEqual(self.store.claim("pieces", 60), [])

    def test_only_the_owner_finishes(self) -> None:
        self.store.add("owned", "x")
        [task] = self.store.claim("owned", 60)
        with Client(server().address) as other:
            with self.assertRaisesRegex(millrace.ConflictError, "owned by client"):
                other.store.finish(task)
        self.store.release(task)
        self.assertEqual([one.state for one in self.store.tasks("owned")], ["waiting"])

    def test_a_group_is_listed_page_by_page(self) -> None:
        self.store.add("paged", "1")
        self.store.add("paged", "2")
        self.store.transaction().add("paged", "3", key="anna").commit()
        found: List[str] = []
        page = self.store.tasks("paged", limit=1)
        while page:
            found += [task.text for task in page]
            page = self.store.tasks("paged", limit=1, after=page[-1])
        self.assertEqual(found, ["3", "1", "2"])

    def test_a_held_claim_is_renewed(self) -> None:
        self.store.add("held", "x")
        # So long that a busy machine does not keep a renewal until the lease has ended.
        [task] = self.store.claim("held", 3)
        with self.store.held(task, 3) as held:
            with Client(server().address) as other:
                self.assertEqual(other.store.claim("held", 60, wait=4), [])
            self.store.finish(held.stop())
        self.assertFalse(held.lost.is_set())

    def test_a_repeated_request_gives_the_first_answer(self) -> None:
        fields = {"requestid": "the-same", "adds": [{"group": "repeated", "data": "x"}]}
        first = self.store._send("/store/update", fields)
        again = self.store._send("/store/update", fields)
        self.assertEqual((first.tasks, again.repeated), (again.tasks, True))

    def test_changes_are_streamed(self) -> None:
        stream = self.store.changes(groups=["streamed"])
        self.addCleanup(stream.close)
        self.assertEqual(next(stream)[1], "start")
        self.store.add("streamed", HOSTILE)
        _, name, commit = next(stream)
        self.assertEqual((name, commit["changes"][0]["task"]["data"]), ("commit", HOSTILE))


@dataclass
class Letter:
    to: str
    number: int
    lines: List[str]
    note: Optional[str] = None


class JobsTest(unittest.TestCase):
    def setUp(self) -> None:
        self.client = Client(server().address)
        self.addCleanup(self.client.close)

    def test_bytes_text_files_and_streams_are_payloads(self) -> None:
        jobs = self.client.jobs
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder, "payload")
            file.write_bytes(b"of a file")
            read, write = os.pipe()
            os.write(write, b"of a pipe")
            os.close(write)
            with open(read, "rb") as pipe:
                payloads: List[Payload] = [b"\x00\xff", HOSTILE, file, io.BytesIO(b"s"), pipe]
                made = [jobs.submit(one, type="busy") for one in payloads]
        self.assertEqual(
            [jobs.payload(job.id) for job in made], [b"\x00\xff", HOSTILE.encode(), b"of a file", b"s", b"of a pipe"]
        )
        self.assertLessEqual({job.id for job in made}, {job["id"] for job in jobs.list(type="busy", status="pending")})

    def test_a_job_is_cancelled_retried_and_deleted(self) -> None:
        jobs = self.client.jobs
        job = jobs.submit(b"x", type="busy", key="to cancel/é", description=HOSTILE.replace("\n", " ")[:60])
        with self.assertRaises(millrace.WaitTimeoutError) as late:
            job.wait(0.1)
        assert late.exception.why is not None
        self.assertEqual((late.exception.why["kind"], late.exception.why["id"]), ("job", "to cancel/é"))
        self.assertIn(late.exception.why["reasons"][0]["message"], str(late.exception))
        self.assertEqual(job.cancel()["status"], "failed")
        with self.assertRaises(millrace.JobFailedError):
            job.result(1)
        self.assertEqual(jobs.retry("to cancel/é")["status"], "pending")
        jobs.delete("to cancel/é")
        with self.assertRaises(millrace.NotFoundError):
            jobs.get(job.id)

    def test_unique_jobs_and_names(self) -> None:
        jobs = self.client.jobs
        first = jobs.submit(b"x", type="busy", unique="u-1")
        self.assertEqual((jobs.submit(b"y", type="busy", unique="u-1").id), first.id)
        jobs.submit(b"x", type="busy", key="taken")
        with self.assertRaisesRegex(millrace.BadRequestError, "taken"):
            jobs.submit(b"x", type="busy", key="taken")
        with self.assertRaisesRegex(millrace.BadRequestError, "nosuch"):
            jobs.submit(b"x", type="nosuch")
        with self.assertRaisesRegex(TypeError, "not dict; a JobKind"):
            jobs.submit({"to": "x"}, type="busy")  # type: ignore[arg-type]

    def test_messages_say_what_was_wrong(self) -> None:
        with self.assertRaisesRegex(millrace.BadRequestError, r"Unknown plugin \(plugin: nosuch\) \(hint: "):
            self.client.queues.create("wrong", "nosuch")
        encrypted = server().address.replace("http:", "https:")
        with Client(encrypted, retry_for=0) as client:
            with self.assertRaisesRegex(millrace.ConnectionFailedError, "does not speak TLS"):
                client.health()

    def test_kinds_read_what_they_write(self) -> None:
        kind: JobKind[Letter, int] = JobKind("letter", Letter, int)
        letter = Letter(HOSTILE, BIG, ["a", "b"])
        self.assertEqual(kind.read_payload(kind.write(letter)), letter)
        self.assertEqual(kind.read_payload(b'{"to": "x", "unknown": 1}'), Letter("x", 0, []))
        with self.assertRaisesRegex(ValueError, "number"):
            kind.read_payload(b'{"to": "x", "number": "1"}')
        with self.assertRaises(ValueError):
            kind.write(float("nan"))
        with self.assertRaises(ValueError):
            JobKind("no name", dict)


class OtherPartsTest(unittest.TestCase):
    def setUp(self) -> None:
        self.client = Client(server().address)
        self.addCleanup(self.client.close)

    def test_queue_tasks_run_with_output_and_again(self) -> None:
        queues = self.client.queues
        queues.create("python/é", "shell", threads=2)
        ids = queues.submit("python/é", {"command": "printf '%s' \"$0\" | cat; echo " + "Zoë"}, {"command": "exit 3"})
        self.assertEqual(queues.wait(ids, 20), {ids[0]: 1, ids[1]: 2})
        self.assertIn("Zoë", queues.output(ids[0]).decode())
        self.assertIn("Zoë", b"".join(queues.follow(ids[0])).decode())
        queues.requeue(ids[0])
        self.assertEqual(queues.wait(ids[:1], 20)[ids[0]], 1)
        held = queues.submit("python/é", {"command": "true", "mixed": True}, delay=3600)
        self.assertEqual(queues.task(held[0])["params"], {"command": "true", "mixed": True})
        with self.assertRaisesRegex(millrace.WaitTimeoutError, f"1 tasks have not ended in 0 s; task {held[0]} is .*: "):
            queues.wait([*ids, *held], 0)
        self.assertEqual(queues.cancel(held[0], "not needed")["status"], -5)
        self.assertEqual(queues.count({"queue": queues.get("python/é")["id"]}), 3)
        with self.assertRaises(millrace.BadRequestError):
            queues.submit("nosuch", {"command": "true"})

    def test_a_graph_is_followed(self) -> None:
        graph = self.client.graphs.build()
        first = graph.command("echo", HOSTILE, name="first")
        second = graph.shell("echo second", parents=[first])
        broken = graph.shell("exit 4", parents=[first])
        blocked = graph.shell("true", parents=[broken])
        ids = graph.run()
        seen = dict(self.client.graphs.follow(ids))
        self.assertEqual(
            seen, {first.id: "finished", second.id: "finished", broken.id: "failed", blocked.id: "blocked"}
        )
        self.assertEqual(self.client.graphs.wait(ids, 20), seen)
        self.assertEqual(self.client.graphs.output(ids[0]).strip("\n"), HOSTILE.strip("\n"))
        self.client.graphs.put(ids[0], "note", {"big": BIG})
        self.assertEqual(self.client.graphs.data(ids[0], "note"), {"big": BIG})
        self.assertLessEqual(set(ids), {node["id"] for node in self.client.graphs.list()})

    def test_a_graph_waits_for_its_time(self) -> None:
        graph = self.client.graphs.build()
        graph.shell("true")
        at = datetime(2130, 1, 31, 8, tzinfo=timezone.utc)
        [id] = graph.run(at=at)
        self.assertEqual(self.client.graphs.get(id)["notBefore"], round(at.timestamp() * 1000))
        with self.assertRaisesRegex(millrace.WaitTimeoutError, f"node {id} is .*: "):
            self.client.graphs.wait([id], 0)
        self.client.graphs.put(id, "at", None)
        self.assertEqual(self.client.graphs.wait([id], 20), {id: "finished"})
        [id] = graph.run(delay=0.01)
        self.assertEqual(self.client.graphs.wait([id], 20), {id: "finished"})

    def test_a_graph_with_a_unique_key_is_there_once(self) -> None:
        def add(**unique: str) -> List[str]:
            graph = self.client.graphs.build()
            graph.node("wait for", {"time": "2999-01-01T00:00:00Z"})
            return graph.run(**unique)

        first = add(unique="python &")
        self.assertEqual(add(unique="python &"), first)
        self.assertNotEqual(add(), first)
        node = {"metadata": {"type": "group"}}
        [there] = self.client.graphs.add([node], unique="python &", unique_scope="queued")
        self.assertEqual((there["id"], there["duplicate"]), (first[0], True))

    def test_schedules_are_listed_paused_and_run(self) -> None:
        schedules = self.client.schedules
        self.client.queues.create("scheduled", "shell", threads=1)
        target = {"queue": "scheduled", "params": {"command": "true"}}
        schedules.create("python-1", times=[{"cron": "30 2 * * *"}], zone="Europe/Berlin", target=target)
        self.assertEqual([one["name"] for one in schedules.list("python")], ["python-1"])
        self.assertEqual(len(schedules.next("python-1", 3)), 3)
        self.assertEqual(schedules.pause("python-1", "a note")["paused"]["note"], "a note")
        self.assertIsNone(schedules.resume("python-1")["paused"])
        self.assertEqual(schedules.run("python-1")["cause"], "manual")
        schedules.delete("python-1")
        with self.assertRaisesRegex(millrace.BadRequestError, "cron"):
            schedules.create("wrong", times=[{"cron": "x"}], zone="UTC", target=target)

    def test_health_and_cluster(self) -> None:
        self.assertTrue(self.client.health())
        self.client.cluster.locks()
        self.client.cluster.members()


class CredentialsTest(unittest.TestCase):
    def test_a_wrong_key_is_refused_with_the_message_of_the_server(self) -> None:
        guarded = server("guarded", with_token)
        for token in (None, "wrong"):
            with Client(guarded.address, token=token) as client:
                with self.assertRaises(millrace.AuthenticationError) as refused:
                    client.store.groups()
                self.assertTrue(str(refused.exception))
        with Client(guarded.address, token_file=guarded.folder / "token") as client:
            client.store.groups()

    def test_a_worker_with_a_wrong_token_ends(self) -> None:
        guarded = server("guarded", with_token)
        for polling in (False, True):
            worker = millrace.Worker(guarded.address, worker_token="wrong", polling=polling)
            worker.job()(lambda payload, job: None)
            with self.assertRaises(millrace.WorkerRefusedError):
                worker.run()
        admitted = millrace.Worker(guarded.address, worker_token="let-me-work")
        admitted.job()(lambda payload, job: payload)
        with admitted:
            self.assertTrue(admitted.wait_ready(10))

    def test_what_cannot_be_an_address_or_secret_is_refused(self) -> None:
        for address in ("ftp://x", "127.0.0.1:80", "http://u:p@x"):
            with self.assertRaises(ValueError):
                Client(address)
        with self.assertRaises(ValueError):
            Client(token="line\nbreak")

    def test_a_server_that_cannot_be_reached(self) -> None:
        with Client("http://127.0.0.1:1", retry_for=0.2) as client:
            with self.assertRaises(millrace.ConnectionFailedError):
                client.health()


class WhyTest(unittest.TestCase):
    """A server that knows no reason, or keeps it to itself."""

    def timed_out(self, handle: Callable[[BaseHTTPRequestHandler], None]) -> millrace.WaitTimeoutError:
        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                if self.path.startswith("/why/"):
                    handle(self)
                else:
                    self.send_response(200)
                    self.end_headers()
                    self.wfile.write(b'{"status": "pending"}')

            def log_message(self, format: str, *args: Any) -> None:
                pass

        with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as stub:
            stub.daemon_threads = True
            threading.Thread(target=stub.serve_forever, daemon=True).start()
            self.addCleanup(stub.shutdown)
            with Client(f"http://127.0.0.1:{stub.server_port}") as client:
                with self.assertRaises(millrace.WaitTimeoutError) as late:
                    client.jobs.wait("j", 0)
            stub.shutdown()
        return late.exception

    def test_a_wait_fails_in_the_same_way_if_nobody_says_why(self) -> None:
        def refuse(request: BaseHTTPRequestHandler) -> None:
            request.send_error(403)

        def garble(request: BaseHTTPRequestHandler) -> None:
            request.send_response(200)
            request.end_headers()
            request.wfile.write(b"[1")

        def cut(request: BaseHTTPRequestHandler) -> None:
            request.connection.close()

        for handle in (refuse, garble, cut):
            error = self.timed_out(handle)
            self.assertEqual((str(error), error.why), ("job j has not ended in 0 s", None))

    def test_a_silent_server_does_not_keep_the_caller(self) -> None:
        asked = threading.Event()
        answered = threading.Event()
        self.addCleanup(answered.set)

        def hold(request: BaseHTTPRequestHandler) -> None:
            asked.set()
            answered.wait()

        error = self.timed_out(hold)
        self.assertTrue(asked.is_set())
        self.assertEqual((str(error), error.why), ("job j has not ended in 0 s", None))


class LostAnswersTest(unittest.TestCase):
    """A proxy that lets the first request through and drops its answer."""

    def setUp(self) -> None:
        self.dropped = 0
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.addCleanup(self.listener.close)
        threading.Thread(target=self._serve, daemon=True).start()

    def _serve(self) -> None:
        for connection in self._connections():
            with connection, socket.create_connection(("127.0.0.1", server().port)) as target:
                threading.Thread(target=_copy, args=(connection, target), daemon=True).start()
                if self.dropped == 0:
                    target.recv(65536)
                    self.dropped = 1
                    connection.shutdown(socket.SHUT_RDWR)
                else:
                    _copy(target, connection)

    def _connections(self) -> Iterator[socket.socket]:
        while True:
            try:
                yield self.listener.accept()[0]
            except OSError:
                return

    def client(self) -> Client:
        client = Client(f"http://127.0.0.1:{self.listener.getsockname()[1]}")
        self.addCleanup(client.close)
        return client

    def test_a_transaction_is_applied_once(self) -> None:
        [task] = self.client().store.add("lost", "once")
        self.assertEqual(self.dropped, 1)
        with Client(server().address) as direct:
            self.assertEqual(direct.store.tasks("lost"), [task])

    def test_a_submission_makes_one_job(self) -> None:
        job = self.client().jobs.submit(b"once", type="busy", description="a lost answer")
        self.assertEqual(self.dropped, 1)
        with Client(server().address) as direct:
            found = [one["id"] for one in direct.jobs.list(type="busy") if one["display"] == "a lost answer"]
        self.assertEqual(found, [job.id])

    def test_what_cannot_be_repeated_says_so(self) -> None:
        with self.assertRaises(millrace.OutcomeUnknownError):
            self.client().graphs.add([{"metadata": {"type": "command"}, "data": {"command": "true"}}])

    def test_a_graph_with_a_unique_key_is_added_once(self) -> None:
        node = {"metadata": {"type": "wait for"}, "data": {"time": "2999-01-01T00:00:00Z"}}
        [added] = self.client().graphs.add([node], unique="a lost answer")
        self.assertEqual((self.dropped, added["duplicate"]), (1, True))


def _copy(source: socket.socket, target: socket.socket) -> None:
    try:
        while True:
            data = source.recv(65536)
            if not data:
                return
            target.sendall(data)
    except OSError:
        return
