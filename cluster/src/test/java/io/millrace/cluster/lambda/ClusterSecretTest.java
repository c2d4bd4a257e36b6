package io.millrace.cluster.lambda;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class ClusterSecretTest {
  @TempDir private Path folder = Path.of("");

  @Test
  void a_secret_file_is_read_without_its_trailing_line_ends() throws IOException {
    Path file = folder.resolve("secret");
    for (String end : new String[] {"", "\n", "\r\n", "\n\n\r\n"}) {
      Files.writeString(file, " 14 bytes\nhere" + end);
      assertThatThrownBy(() -> ClusterSecret.read(file))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessage("secret file " + file + ": a cluster's secret has 16 to 1024 bytes, not 14");
      Files.writeString(file, "a secret of 20 bytes" + end);
      byte[] envelope = codec(ClusterSecret.read(file)).sealResult(TestCodecs.HERE, "x");
      assertThat(codec(TestCodecs.SECRET).openResult(TestCodecs.HERE, envelope)).isEqualTo("x");
    }
  }

  private static LambdaCodec codec(ClusterSecret secret) {
    return new LambdaCodec(secret, TrustedClasses.packages("io.millrace"));
  }

  @Test
  void a_secret_file_that_is_too_long_is_not_read_to_its_end() throws IOException {
    Path file = folder.resolve("secret");
    Files.writeString(file, "s".repeat(100_000));
    assertThatThrownBy(() -> ClusterSecret.read(file))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageStartingWith("secret file " + file)
        .hasMessageContaining("16 to 1024 bytes");
    Files.writeString(file, "s".repeat(1_024));
    assertThat(ClusterSecret.read(file)).hasToString("a cluster's secret");
  }

  @Test
  void an_error_about_a_missing_or_unreadable_secret_file_names_it() {
    assertThatThrownBy(() -> ClusterSecret.read(folder.resolve("none")))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage("there is no secret file " + folder.resolve("none"));
    assertThatThrownBy(() -> ClusterSecret.read(folder))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageStartingWith("cannot read the secret file " + folder);
  }

  @Test
  void a_secret_has_16_to_1024_bytes_and_is_copied() {
    for (int length : new int[] {0, 15, 1_025}) {
      assertThatThrownBy(() -> ClusterSecret.of(new byte[length]))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessage("a cluster's secret has 16 to 1024 bytes, not " + length);
    }
    byte[] bytes = "a secret of 20 bytes".getBytes(StandardCharsets.UTF_8);
    ClusterSecret secret = ClusterSecret.of(bytes);
    bytes[0] = 'b';
    byte[] envelope = codec(secret).sealResult(TestCodecs.HERE, "x");
    assertThat(codec(TestCodecs.SECRET).openResult(TestCodecs.HERE, envelope)).isEqualTo("x");
  }

  @Test
  void a_signature_is_valid_for_its_text_secret_and_purpose_only() {
    String signature = TestCodecs.SECRET.sign("a", "text");
    assertThat(signature).matches("[0-9a-f]{64}");
    assertThat(TestCodecs.SECRET.isSigned("a", "text", signature)).isTrue();
    assertThat(TestCodecs.SECRET.isSigned("b", "text", signature)).isFalse();
    assertThat(TestCodecs.SECRET.isSigned("a", "texts", signature)).isFalse();
    assertThat(TestCodecs.SECRET.isSigned("a", "text", "")).isFalse();
    assertThat(TestCodecs.secret("another one of 20 b.").isSigned("a", "text", signature))
        .isFalse();
  }
}
