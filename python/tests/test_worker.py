"""Workers against a running server, which is killed in the middle."""

import hashlib
import os
import signal
import socket
import subprocess
import sys
import threading
import unittest
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Dict, Iterator, List

import millrace
from millrace import Client, JobContext, JobFailure, JobKind, Worker

from .support import Server, eventually, server

SIZE = 20_000_000


@dataclass
class Letter:
    to: str
    number: int


LETTER: "JobKind[Letter, Letter]" = JobKind("letter", Letter, Letter)


class WorkerTest(unittest.TestCase):
    polling = False

    def setUp(self) -> None:
        self.client = Client(server().address)
        self.addCleanup(self.client.close)

    def worker(self, **options: Any) -> Worker:
        return Worker(server().address, polling=self.polling, heartbeat=0.5, **options)

    def running(self, worker: Worker) -> None:
        worker.start()
        self.addCleanup(worker.stop, 0)
        self.assertTrue(worker.wait_ready(20))

    def test_typed_values_are_exact(self) -> None:
        worker = self.worker()

        @worker.job(LETTER)
        def answer(letter: Letter, job: JobContext) -> Letter:
            return Letter(letter.to[::-1], letter.number - 1)

        self.running(worker)
        letter = Letter("Zoë 日本語 😀 \" \\ \u2028", 2**63 - 1)
        made = self.client.jobs.call(LETTER, letter, 20)
        self.assertEqual(made, Letter(letter.to[::-1], 2**63 - 2))
        wrong = self.client.jobs.submit(b"[1]", type="letter", attempts=1)
        with self.assertRaisesRegex(millrace.JobFailedError, "the payload is no Letter"):
            wrong.result(20)

    def test_twenty_megabytes_are_streamed(self) -> None:
        worker = self.worker()
        block = os.urandom(1 << 20)
        payload = (block * 20)[:SIZE]

        @worker.job("big", stream=True)
        def copy(source: Any, job: JobContext) -> Iterator[bytes]:
            while True:
                piece = source.read(1 << 20)
                if not piece:
                    return
                yield piece

        self.running(worker)
        job = self.client.jobs.submit(payload, type="big")
        digest = hashlib.sha256()
        for piece in self.client.jobs.stream_result(job.id, 30):
            digest.update(piece)
        self.assertEqual(digest.digest(), hashlib.sha256(payload).digest())

    def test_several_jobs_run_at_once_with_progress_failures_and_snoozes(self) -> None:
        worker = self.worker(concurrency=3)
        together = threading.Barrier(3)
        snoozed = threading.Event()

        @worker.job("flaky")
        def work(payload: bytes, job: JobContext) -> Dict[str, int]:
            if payload == b"meet":
                job.progress(50, "half")
                together.wait(20)
            elif payload == b"fail":
                raise JobFailure("no such scene", code="bad-input", logs="the logs")
            elif payload == b"raise":
                raise KeyError("scene")
            elif payload == b"later" and not snoozed.is_set():
                snoozed.set()
                raise JobFailure("not now", snooze=0.2)
            elif payload == b"again" and job.token and not job.key.startswith("seen"):
                raise JobFailure("again", retry_after=0.1)
            return {"token": job.token}

        self.running(worker)
        jobs = self.client.jobs
        for job in [jobs.submit(b"meet", type="flaky") for _ in range(3)]:
            self.assertIn(b"token", job.result(20))
        failed = jobs.submit(b"fail", type="flaky", attempts=3, retry_except="bad-input")
        with self.assertRaisesRegex(millrace.JobFailedError, "no such scene") as error:
            failed.result(20)
        self.assertEqual((error.exception.logs, len(jobs.failures(failed.id))), ("the logs", 1))
        with self.assertRaisesRegex(millrace.JobFailedError, "KeyError: 'scene'") as error:
            jobs.submit(b"raise", type="flaky", attempts=1).result(20)
        self.assertIn("Traceback", error.exception.logs or "")
        later = jobs.submit(b"later", type="flaky")
        self.assertIn(b"token", later.result(20))
        self.assertEqual(jobs.get(later.id)["snoozed"], 1)

    def test_a_cancelled_job_is_taken_from_its_handler(self) -> None:
        worker = self.worker(concurrency=2)
        started, told = threading.Event(), threading.Event()

        @worker.job("slow")
        def work(payload: bytes, job: JobContext) -> None:
            started.set()
            if job.wait_cancelled(20):
                told.set()

        self.running(worker)
        job = self.client.jobs.submit(b"x", type="slow")
        self.assertTrue(started.wait(20))
        job.cancel()
        self.assertTrue(told.wait(20))

    def test_a_silent_handler_is_not_stuck(self) -> None:
        worker = self.worker()

        @worker.job("echo")
        def work(payload: bytes, job: JobContext) -> bytes:
            job.wait_cancelled(3)
            return payload

        self.running(worker)
        job = self.client.jobs.submit(b"x", type="echo")
        self.assertEqual(job.result(20), b"x")
        self.assertEqual(self.client.jobs.failures(job.id), [])

    def test_a_stopped_worker_gives_its_job_back(self) -> None:
        worker = self.worker()
        started = threading.Event()

        @worker.job("closing")
        def work(payload: bytes, job: JobContext) -> None:
            started.set()
            job.wait_cancelled(20)

        self.running(worker)
        job = self.client.jobs.submit(b"x", type="closing")
        self.assertTrue(started.wait(20))
        worker.stop(0.1)
        eventually(lambda: bool(self.client.jobs.get(job.id)["status"] == "pending"))
        state = self.client.jobs.get(job.id)
        self.assertEqual((state["failures"], state["returns"]), (0, 0))
        job.cancel()


class PollingWorkerTest(WorkerTest):
    polling = True


PROGRAM = """
import sys
from millrace import Worker

worker = Worker(sys.argv[1])

@worker.job("polled")
def work(payload, job):
    print("working", flush=True)
    job.wait_cancelled(0.5)
    return payload.upper()

worker.run()
print("ended", flush=True)
"""


class ProcessTest(unittest.TestCase):
    def test_sigterm_lets_the_job_finish(self) -> None:
        with Client(server().address) as client:
            job = client.jobs.submit("zoë", type="polled")
            program = subprocess.Popen(
                [sys.executable, "-c", PROGRAM, server().address], stdout=subprocess.PIPE, encoding="utf-8"
            )
            try:
                assert program.stdout is not None
                self.assertEqual(program.stdout.readline(), "working\n")
                program.send_signal(signal.SIGTERM)
                self.assertEqual(program.stdout.readline(), "ended\n")
                self.assertEqual(program.wait(20), 0)
            finally:
                program.kill()
                program.wait()
                if program.stdout is not None:
                    program.stdout.close()
            self.assertEqual(job.result(1), "zoë".encode().upper())


class KillTest(unittest.TestCase):
    def test_a_killed_server_loses_nothing_and_its_worker_comes_back(self) -> None:
        own = Server(Path(os.environ["MILLRACE_TEST_FOLDER"]) / "killed", "--no-node")
        self.addCleanup(own.close)
        for polling, type in ((False, "echo"), (True, "slow")):
            worker = Worker(own.address, concurrency=4, polling=polling, heartbeat=0.5)
            begun = threading.Semaphore(0)

            @worker.job(type)
            def work(payload: bytes, job: JobContext) -> bytes:
                begun.release()
                job.wait_cancelled(0.02)
                return payload + b"!"

            with Client(own.address) as client, worker:
                self.assertTrue(worker.wait_ready(20))
                jobs = [client.jobs.submit(f"job {n}", type=type) for n in range(60)]
                for _ in range(20):
                    self.assertTrue(begun.acquire(timeout=20))
                own.kill()
                own.start()
                results: List[bytes] = [job.result(30) for job in jobs]
                self.assertEqual(results, [f"job {n}!".encode() for n in range(60)])
                self.assertEqual(sum(1 for _ in client.jobs.list(type=type)), 60)


class ClosedByServerTest(unittest.TestCase):
    def test_a_worker_connects_again_after_a_close(self) -> None:
        """A server that closes the first connections with 1011 as soon as they have registered."""
        with socket.create_server(("127.0.0.1", 0)) as listener:
            port = listener.getsockname()[1]
            closes: List[bytes] = []

            def serve() -> None:
                import base64

                for _ in range(3):
                    connection, _ = listener.accept()
                    with connection, connection.makefile("rb") as source:
                        head = b""
                        while not head.endswith(b"\r\n\r\n"):
                            head += source.readline()
                        key = next(line for line in head.split(b"\r\n") if line.startswith(b"Sec-WebSocket-Key"))
                        digest = hashlib.sha1(key.split(b": ")[1] + b"258EAFA5-E914-47DA-95CA-C5AB0DC85B11").digest()
                        connection.sendall(
                            b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
                            b"Sec-WebSocket-Accept: " + base64.b64encode(digest) + b"\r\n\r\n"
                        )
                        source.read(2)
                        reason = "broken ü".encode()
                        connection.sendall(bytes([0x88, len(reason) + 2]) + (1011).to_bytes(2, "big") + reason)
                        closes.append(source.read())

            thread = threading.Thread(target=serve, daemon=True)
            thread.start()
            worker = Worker(f"http://127.0.0.1:{port}")
            worker.job()(lambda payload, job: payload)
            with self.assertLogs("millrace.worker", "WARNING") as logs, worker:
                thread.join(20)
                self.assertFalse(thread.is_alive())
        self.assertIn("1011 broken ü", logs.output[0])
        # Each close was confirmed with a masked close frame of the same code.
        self.assertTrue(all(b"\x88\x82" in close for close in closes))
