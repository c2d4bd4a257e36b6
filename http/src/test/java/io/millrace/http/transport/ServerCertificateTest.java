package io.millrace.http.transport;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.millrace.http.message.HttpException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.time.InstantSource;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Certificates and keys in files, right and wrong. */
final class ServerCertificateTest {
  @TempDir private Path folder;
  private Certificates certificates;

  @BeforeEach
  void open() {
    certificates = new Certificates(folder);
  }

  private static ServerCertificate read(Path certificate, Path key, @Nullable Path password) {
    return ServerCertificate.read(
        new ServerCertificate.Source(certificate, key, password), InstantSource.system());
  }

  @ParameterizedTest
  @ValueSource(strings = {"EC", "RSA", "Ed25519"})
  void keys_of_every_kind_are_read_plain_and_encrypted(String algorithm) throws Exception {
    Path certificate = certificates.make("server", algorithm);
    assertThat(read(certificate, certificates.key("server"), null).expires())
        .isAfter(Instant.now());
    Path key = certificates.key("server", "pass word");
    Path password = Files.writeString(folder.resolve("password"), "pass word\n");
    assertThat(read(certificate, key, password).engine().getUseClientMode()).isFalse();
    Files.writeString(password, "another");
    assertThatThrownBy(() -> read(certificate, key, password))
        .isInstanceOf(HttpException.class)
        .hasMessageContainingAll("cannot read the key", "password");
    assertThatThrownBy(() -> read(certificate, key, null))
        .hasMessageContaining("server.tls.key-password-file");
  }

  @Test
  void a_key_that_does_not_fit_is_refused_with_the_reason() throws Exception {
    Path certificate = certificates.make("server");
    Path key = certificates.key("server");
    certificates.make("other");
    Path other = certificates.key("other");
    assertThatThrownBy(() -> read(certificate, other, null))
        .hasMessageContaining("is not that of the certificate");
    certificates.make("rsa", "RSA");
    Path rsa = certificates.key("rsa");
    assertThatThrownBy(() -> read(certificate, rsa, null)).hasMessageContaining("an EC key");
    assertThatThrownBy(() -> read(key, key, null)).hasMessageContaining("certificate");
    assertThatThrownBy(() -> read(certificate, certificate, null))
        .hasMessageContaining("no private key");
    assertThatThrownBy(() -> read(folder.resolve("none.pem"), key, null))
        .hasMessageContaining("none.pem");
    Path old =
        Files.writeString(
            folder.resolve("old.key"),
            "-----BEGIN RSA PRIVATE KEY-----\nAAAA\n-----END RSA PRIVATE KEY-----\n");
    assertThatThrownBy(() -> read(certificate, old, null)).hasMessageContaining("openssl pkcs8");
    Path broken =
        Files.writeString(
            folder.resolve("broken.key"),
            "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n");
    assertThatThrownBy(() -> read(certificate, broken, null)).isInstanceOf(HttpException.class);
  }
}
