package io.millrace.server.config;

import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.server.MillraceServer;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;

/** The documentation of the keys is what the code says. */
final class DocumentedKeysTest {
  private static final Path DOCUMENT = Path.of("../docs/configuration.md");

  @Test
  void the_table_of_keys_is_that_of_the_code() throws IOException {
    String table = KeyTable.of(MillraceServer.SECTIONS);
    if (Boolean.getBoolean("millrace.write.docs")) {
      Files.writeString(DOCUMENT, table);
    }
    assertThat(Files.readString(DOCUMENT))
        .as("docs/configuration.md; run this test with -Dmillrace.write.docs=true to write it")
        .isEqualTo(table);
  }
}
