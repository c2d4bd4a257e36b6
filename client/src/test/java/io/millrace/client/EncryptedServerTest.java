package io.millrace.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.millrace.store.Owner;
import io.millrace.store.TaskStore;
import io.millrace.store.Transaction;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLContext;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Over https a server must prove that it is the one that was asked for. */
final class EncryptedServerTest {
  private static final String PASSWORD = "only for this test";
  private static final Transaction COMMAND =
      Transaction.by(Owner.client(1)).add("group", "data").build();

  @TempDir private static Path folder;
  private ScriptedServer server;

  @BeforeAll
  static void makeKey() throws IOException, InterruptedException {
    keytool(
        "-genkeypair -alias server -keyalg EC -dname CN=test -ext san=ip:127.0.0.1 -validity 2");
    keytool("-exportcert -alias server -rfc -file " + folder.resolve("server.pem"));
    keytool(
        "-genkeypair -alias other -keyalg EC -dname CN=other -ext san=ip:127.0.0.1 -validity 2");
    keytool("-exportcert -alias other -rfc -file " + folder.resolve("other.pem"));
  }

  private static void keytool(String arguments) throws IOException, InterruptedException {
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "keytool").toString());
    command.addAll(List.of("-J-XX:+UseSerialGC", "-J-XX:TieredStopAtLevel=1"));
    command.addAll(List.of(arguments.split(" ")));
    command.addAll(List.of("-storetype", "PKCS12", "-keystore", keys().toString()));
    command.addAll(List.of("-storepass", PASSWORD));
    Process process =
        new ProcessBuilder(command)
            .redirectErrorStream(true)
            .redirectOutput(folder.resolve("keytool.log").toFile())
            .start();
    assertThat(process.waitFor()).as(Files.readString(folder.resolve("keytool.log"))).isZero();
  }

  private static Path keys() {
    return folder.resolve("keys.p12");
  }

  @BeforeEach
  void start() throws IOException, GeneralSecurityException {
    KeyStore keys = KeyStore.getInstance("PKCS12");
    try (InputStream file = Files.newInputStream(keys())) {
      keys.load(file, PASSWORD.toCharArray());
    }
    keys.deleteEntry("other");
    KeyManagerFactory managers =
        KeyManagerFactory.getInstance(KeyManagerFactory.getDefaultAlgorithm());
    managers.init(keys, PASSWORD.toCharArray());
    SSLContext context = SSLContext.getInstance("TLS");
    context.init(managers.getKeyManagers(), null, null);
    server =
        new ScriptedServer(
            context
                .getServerSocketFactory()
                .createServerSocket(0, 50, InetAddress.getLoopbackAddress()),
            (_, out) -> ScriptedServer.done(out, ""));
  }

  @AfterEach
  void stop() throws IOException {
    server.close();
  }

  private ClientOptions at(String host) {
    URI address = URI.create("https://" + host + ":" + server.address().getPort());
    // Who is refused is refused at once, however long it might be tried.
    return ClientOptions.at(address).withRetryFor(Duration.ofDays(1));
  }

  private static ClientOptions trusting(ClientOptions options, String file) {
    return options.withCertificates(folder.resolve(file));
  }

  private static void refused(ClientOptions options, String message) {
    try (TaskStore store = HttpTaskStore.open(options)) {
      assertThatThrownBy(() -> store.commit(COMMAND))
          .isInstanceOfSatisfying(
              UnreachableException.class, e -> assertThat(e.isUntrusted()).isTrue())
          .hasMessageContaining(message);
    }
  }

  @Test
  void a_server_with_a_certificate_that_is_trusted_is_spoken_to() {
    try (TaskStore store = HttpTaskStore.open(trusting(at("127.0.0.1"), "server.pem"))) {
      store.commit(COMMAND).done();
      store.commit(COMMAND).done();
    }
    assertThat(server.connections()).isEqualTo(1);
  }

  @Test
  void streams_use_an_encrypted_connection_again() throws IOException {
    try (JsonCalls calls = JsonCalls.open(trusting(at("127.0.0.1"), "server.pem"))) {
      for (int i = 0; i < 5; i++) {
        try (InputStream in = calls.stream("/x", Duration.ofSeconds(30))) {
          assertThat(in.readAllBytes()).isNotEmpty();
        }
      }
    }
    assertThat(server.connections()).isEqualTo(1);
  }

  @Test
  void an_unknown_certificate_is_refused_with_its_reason() {
    refused(at("127.0.0.1"), "the certificate of 127.0.0.1:" + server.address().getPort());
    refused(trusting(at("127.0.0.1"), "other.pem"), "is not trusted");
    assertThat(server.requests()).isZero();
  }

  @Test
  void a_certificate_of_another_host_is_refused() {
    refused(trusting(at("localhost"), "server.pem"), "is not trusted");
    assertThat(server.requests()).isZero();
  }

  @Test
  void a_file_without_certificates_is_refused() throws IOException {
    Path empty = Files.createFile(folder.resolve("empty.pem"));
    assertThatThrownBy(() -> HttpTaskStore.open(at("127.0.0.1").withCertificates(empty)))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("empty.pem");
    assertThatThrownBy(() -> HttpTaskStore.open(trusting(at("127.0.0.1"), "missing.pem")))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("missing.pem");
  }
}
