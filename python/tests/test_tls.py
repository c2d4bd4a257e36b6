"""Clients and workers of a server whose certificate an authority of its own has signed."""

import os
import unittest
from pathlib import Path
from typing import Any
from unittest import mock

import millrace
from millrace import Client, Worker

from .support import Server, close_all, server

NOBODY = "https://127.0.0.1:1"


def tearDownModule() -> None:
    close_all()


def encrypted(folder: Path) -> Server:
    made = Path(os.environ["MILLRACE_TEST_CERTIFICATES"])
    certificate, key = made / "server.pem", made / "server.key"
    return Server(folder, "--set", f"server.tls.certificate={certificate}", "--set", f"server.tls.key={key}", "--no-node")


class PrivateAuthorityTest(unittest.TestCase):
    def setUp(self) -> None:
        self.authority = Path(os.environ["MILLRACE_TEST_CERTIFICATES"]) / "authority.pem"
        self.address = server("encrypted", encrypted).address
        self.assertTrue(self.address.startswith("https://"))

    def work(self, address: str, **options: Any) -> None:
        worker = Worker(address, **options)

        @worker.job("echo")
        def echo(payload: bytes, job: Any) -> bytes:
            return payload

        certificates = options.get("certificates")
        with Client(address, certificates=certificates) as client, worker:
            self.assertEqual(b"hello", client.jobs.submit(b"hello", type="echo").result(timeout=30))

    def test_the_authority_is_given_as_a_file(self) -> None:
        self.work(self.address, certificates=self.authority)
        self.work(self.address, certificates=self.authority, polling=True)

    def test_the_environment_names_the_file(self) -> None:
        with mock.patch.dict(os.environ, MILLRACE_CERTIFICATES=str(self.authority), MILLRACE_SERVER=self.address):
            with Client() as client:
                self.assertEqual("ok", client.health()["status"])
            self.work(self.address)

    def test_the_next_of_several_servers_is_asked(self) -> None:
        self.work(f"{NOBODY},{self.address}", certificates=self.authority)

    def test_an_unknown_authority_is_not_trusted(self) -> None:
        with Client(self.address) as client, self.assertRaisesRegex(millrace.MillraceError, "is not trusted"):
            client.health()
        for polling in (False, True):
            worker = Worker(self.address, polling=polling)
            worker.job("echo")(lambda payload, job: payload)
            with self.assertRaisesRegex(millrace.WorkerRefusedError, "not trusted"):
                worker.run()

    def test_a_file_without_certificates_is_named(self) -> None:
        for file in (self.authority.with_name("missing.pem"), self.authority.with_name("server.key")):
            for make in (Client, Worker):
                with self.assertRaisesRegex(ValueError, str(file)):
                    make(self.address, certificates=file)
